// SPDX-License-Identifier: Apache-2.0
// Makes the --emulate file of a module, which simulated devices load. It contains the device
// entries compiled for the host, and the digests of the images to which the entries correspond
// (gufunc/kernel/work_item.hpp).
#ifndef GUFUNC_TOOLS_GUFCC_EMULATION_FILE_H
#define GUFUNC_TOOLS_GUFCC_EMULATION_FILE_H

#include "device_images.h"

namespace gufunc::gufcc {

// Instrumentation that detects out-of-bounds accesses while the device entries of the file run.
enum class Instrumentation { kNone, kAddressSanitizer };

// Compiles the units for the host and links them, with the table gufunc_emulation_v1, to `linked`.
// An instrumented file leaves the symbols of the AddressSanitizer runtime undefined: the program
// that loads the file provides these symbols.
bool make_emulation(const std::vector<DeviceUnit> &units, const std::vector<PlainImage> &images,
                    Instrumentation instrumentation, const std::filesystem::path &work, int workers,
                    Compiler *compiler, const std::filesystem::path &linked);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_EMULATION_FILE_H

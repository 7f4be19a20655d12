// SPDX-License-Identifier: Apache-2.0
// The sidecar of a module for simulated devices: its device entries as code of this machine, and
// which images they stand for (gufunc/kernel/work_item.hpp).
#ifndef GUFUNC_TOOLS_GUFCC_ITEMS_FILE_H
#define GUFUNC_TOOLS_GUFCC_ITEMS_FILE_H

#include "device_images.h"

namespace gufunc::gufcc {

// What finds accesses outside of memory while a sidecar runs.
enum class Instrumentation { kNone, kAddressSanitizer };

// Compiles the units for the host and links them, with the table gufunc_items_v1, to `linked`.
// An instrumented file has its runtime's symbols undefined: the process that opens it has them.
bool make_items(const std::vector<DeviceUnit> &units, const std::vector<PlainImage> &images,
                Instrumentation instrumentation, const std::filesystem::path &work, int workers,
                Compiler *compiler, const std::filesystem::path &linked);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_ITEMS_FILE_H

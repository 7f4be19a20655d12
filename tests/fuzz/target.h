// SPDX-License-Identifier: Apache-2.0
// Common code of the fuzz targets of the C API: a choice of ufuncs, and the checks after every
// call.
#ifndef GUFUNC_TESTS_FUZZ_TARGET_H
#define GUFUNC_TESTS_FUZZ_TARGET_H

#include <gufunc/gufunc.h>

#include "byte_reader.h"

// The entry point for libFuzzer and for replay_main.cc.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace gufunc::fuzz {

// Returns one of the standard ufuncs as a borrowed handle.
guf_ufunc draw_ufunc(ByteReader *bytes);

// Returns an empty error record.
guf_error empty_error();

// Aborts unless the status has a name and a failure has a NUL-terminated message.
void demand_report(guf_status status, const guf_error &error);

// Aborts with `what` unless `holds` is true.
void check(bool holds, const char *what);

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_TARGET_H

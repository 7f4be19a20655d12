// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of the C API share: ufuncs by number and the demands on every call.
#ifndef GUFUNC_TESTS_FUZZ_TARGET_H
#define GUFUNC_TESTS_FUZZ_TARGET_H

#include <gufunc/gufunc.h>

#include "byte_reader.h"

// libFuzzer's entry point; replay_main.cc calls it too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace gufunc::fuzz {

// One of the standard ufuncs; the reference belongs to the target.
guf_ufunc draw_ufunc(ByteReader *bytes);

// A fresh record for a call's error.
guf_error empty_error();

// Aborts unless the status has a name, a failure has a text, and the text ends.
void demand_report(guf_status status, const guf_error &error);

// Aborts with `what` unless `holds`.
void demand(bool holds, const char *what);

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_TARGET_H

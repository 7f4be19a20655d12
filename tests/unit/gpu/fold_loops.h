// SPDX-License-Identifier: Apache-2.0
// Provides the device entries of some loops that methods use, compiled for the host.
#ifndef GUFUNC_TESTS_UNIT_GPU_FOLD_LOOPS_H
#define GUFUNC_TESTS_UNIT_GPU_FOLD_LOOPS_H

#include <gufunc/dtype.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/gpu/host_sink.h"

namespace gufunc::gpu {

using LoopKey = std::pair<std::string, guf_dtype>;
using LoopTable = std::map<LoopKey, std::vector<HostEntry>>;

// Returns the entries of a loop, indexed by Entry. Reports a test failure if the loop does not
// exist.
const std::vector<HostEntry> &fold_loop(const std::string &function, guf_dtype dtype);

// Each of these functions adds a part of the table. fold_entries.cc defines the functions.
void add_sums(LoopTable *table);
void add_extremes(LoopTable *table);
void add_others(LoopTable *table);

}  // namespace gufunc::gpu

#endif  // GUFUNC_TESTS_UNIT_GPU_FOLD_LOOPS_H

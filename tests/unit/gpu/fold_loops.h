// SPDX-License-Identifier: Apache-2.0
// Device entries of some method loops, compiled for the host.
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

// Returns entries indexed by Entry. Reports a test failure if the loop does not exist.
const std::vector<HostEntry> &fold_loop(const std::string &function, guf_dtype dtype);

// Parts of the table, each in its own translation unit.
void add_sums(LoopTable *table);
void add_extremes(LoopTable *table);
void add_others(LoopTable *table);

}  // namespace gufunc::gpu

#endif  // GUFUNC_TESTS_UNIT_GPU_FOLD_LOOPS_H

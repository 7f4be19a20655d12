// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gpu/fold_loops.h"

#include <gtest/gtest.h>

namespace gufunc::gpu {

const std::vector<HostEntry> &fold_loop(const std::string &function, guf_dtype dtype) {
  static const LoopTable table = [] {
    LoopTable all;
    add_sums(&all);
    add_extremes(&all);
    add_others(&all);
    return all;
  }();
  static const std::vector<HostEntry> none;
  const auto found = table.find({function, dtype});
  EXPECT_NE(found, table.end()) << function << " of dtype " << dtype;
  return found == table.end() ? none : found->second;
}

}  // namespace gufunc::gpu

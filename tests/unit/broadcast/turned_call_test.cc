// SPDX-License-Identifier: Apache-2.0
// keepdims= and order='A' look at the call as it was written: optional dimensions count though they
// are missing, and layouts are those of the caller's axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/broadcast/broadcast.h"
#include "tests/unit/call_sample.h"

namespace gufunc {
namespace {

TEST(Turned, KeepdimsCountsMissingDimensions) {
  sample::Call call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                    {{{3}, {}}, {{3}, {}}, sample::missing()});
  call.args.flags = GUF_CALL_KEEPDIMS;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::arrange(call.view(), &loop, &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::HasSubstr("requires output 0 to have 2 core dimensions"));
}

TEST(Turned, OrderAnyAsksForTheCallersAxes) {
  // C-contiguous as given, F-contiguous as turned.
  const int64_t axis = 0;
  sample::Call call("same", "(n)->(n)", "", 1, {{{4, 3}, {24, 8}}, sample::missing()});
  call.args.axis = &axis;
  call.args.order = GUF_ORDER_ANY;
  broadcast::LoopShape loop;
  ASSERT_EQ(broadcast::arrange(call.view(), &loop, &call.error), GUF_OK) << call.error.message;
  const int64_t shape[] = {3, 4};  // the core axis last
  int64_t strides[2] = {};
  call.view().operand[1].layout.dtype = GUF_F64;
  ASSERT_EQ(broadcast::result_strides(call.view(), loop, 1, 2, shape, strides, &call.error),
            GUF_OK);
  EXPECT_EQ(strides[1], 8);
}

}  // namespace
}  // namespace gufunc

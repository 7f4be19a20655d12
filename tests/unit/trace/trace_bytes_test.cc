// SPDX-License-Identifier: Apache-2.0
// Tests the numbers of bytes that launches and methods read and write.
#include <gtest/gtest.h>
#include <gufunc/dtype.h>

#include "core/trace/layer.h"

namespace gufunc::trace {
namespace {

// Makes the block of an f32, f64 -> f64 loop over 5 x 7 items.
guf_launch_block make_block() {
  guf_launch_block block = {};
  block.noperands = 3;
  block.nin = 2;
  block.nloop = 2;
  block.size[0] = 5;
  block.outer_size[0] = 7;
  block.items = 35;
  const guf_dtype dtypes[] = {GUF_F32, GUF_F64, GUF_F64};
  for (int i = 0; i < 3; ++i) {
    block.dtype[i] = dtypes[i];
    block.step[i] = i == 0 ? 4 : 8;
    block.outer_step[0][i] = 5 * block.step[i];
  }
  return block;
}

TEST(TraceBytes, OfALaunch) {
  guf_launch_block block = make_block();
  EXPECT_EQ(bytes_of(block), 35U * (4 + 8 + 8));
  block.operand_flags[2] = GUF_LAUNCH_OPERAND_READ | GUF_LAUNCH_OPERAND_WRITTEN;
  EXPECT_EQ(bytes_of(block), 35U * (4 + 8 + 16));
}

TEST(TraceBytes, BroadcastOperandsCountOnce) {
  guf_launch_block block = make_block();
  block.step[0] = block.outer_step[0][0] = 0;
  block.outer_step[0][1] = 0;
  EXPECT_EQ(bytes_of(block), 4U + 5 * 8 + 35 * 8);
}

TEST(TraceBytes, OfAMaskAndOfOneItem) {
  guf_launch_block block = make_block();
  block.mask = 1;
  block.mask_step[0] = 1;
  EXPECT_EQ(bytes_of(block), 35U * 20 + 5);
  block = make_block();
  block.nloop = 0;
  EXPECT_EQ(bytes_of(block), 20U);
}

TEST(TraceBytes, OfCoreDimensions) {  // the signature (m,n),(n)->(m)
  guf_launch_block block = make_block();
  const int32_t dims[] = {2, 1, 1};
  const uint8_t names[] = {0, 1, 1, 0};
  block.size[1] = 3;
  block.size[2] = 11;
  for (int i = 0; i < 3; ++i) block.core_ndim[i] = dims[i];
  for (int i = 0; i < 4; ++i) block.core_name[i] = names[i];
  EXPECT_EQ(bytes_of(block), 35U * (3 * 11 * 4 + 11 * 8 + 3 * 8));
}

TEST(TraceBytes, OfMethods) {
  guf_method_block block = {};
  block.nkept = 1;
  block.nfold = 1;
  block.kept_size[0] = 10;
  block.kept_input_step[0] = block.kept_output_step[0] = 8;
  block.items = 10;
  block.fold_size[0] = 100;
  block.input_dtype = GUF_F32;
  block.output_dtype = GUF_F64;
  block.nindices = 6;
  block.input = 1;
  const struct {
    int32_t method;
    uint64_t items, bytes;
  } kCases[] = {{GUF_METHOD_REDUCE, 1000, 4000 + 80},
                {GUF_METHOD_ACCUMULATE, 1000, 4000 + 8000},
                {GUF_METHOD_REDUCEAT, 1000, 4000 + 480},
                {GUF_METHOD_AT, 60, 6 * (10 * 4 + 2 * 10 * 8)}};
  for (const auto &expected : kCases) {
    block.method = expected.method;
    EXPECT_EQ(items_of(block), expected.items);
    EXPECT_EQ(bytes_of(block), expected.bytes);
  }
  block.method = GUF_METHOD_REDUCE;
  block.mask = 1;
  EXPECT_EQ(bytes_of(block), 4080U + 1000);
}

}  // namespace
}  // namespace gufunc::trace

// SPDX-License-Identifier: Apache-2.0
// Tests args.order of methods, which is the memory order of an allocated result.
#include <gmock/gmock.h>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;

enum class InputOrder { kC, kF, kTransposed };  // memory order of the axes of the input

class ResultOrder : public testing::Test {
 protected:
  View input(InputOrder layout) const {
    std::vector<int64_t> strides = {96, 32, 8};
    if (layout == InputOrder::kF) strides = {8, 16, 48};
    if (layout == InputOrder::kTransposed) strides = {32, 64, 8};
    return {GUF_F64, data_.data(), {2, 3, 4}, strides, 0};
  }
  static std::vector<int64_t> strides_of(const guf_operand &output) {
    const guf_array_info info = info_of(output);
    std::vector<int64_t> strides(info.strides, info.strides + info.ndim);
    guf_array_release(output.array, nullptr);
    return strides;
  }
  std::vector<int64_t> reduced(InputOrder layout, int32_t order) const {
    Reduce reduce("add", input(layout));
    reduce.axes({1});
    reduce.args.order = order;
    EXPECT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    return strides_of(reduce.output);
  }
  std::vector<int64_t> accumulated(InputOrder layout, int32_t order) const {
    Accumulate accumulate("add", input(layout));
    accumulate.args.order = order;
    EXPECT_EQ(accumulate.run(), GUF_OK) << accumulate.error.message;
    return strides_of(accumulate.output);
  }
  // Reduces five segments of the last axis with reduceat.
  std::vector<int64_t> stretched(InputOrder layout, int32_t order) const {
    const std::vector<int64_t> indices = {0, 2, 1, 3, 0};
    Accumulate reduceat("add", input(layout));
    reduceat.args.axis = -1;
    reduceat.args.order = order;
    EXPECT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
    return strides_of(reduceat.output);
  }

  std::vector<double> data_ = std::vector<double>(24);
};

TEST_F(ResultOrder, IsTheRequestedOrder) {
  for (const InputOrder layout : {InputOrder::kC, InputOrder::kF, InputOrder::kTransposed}) {
    EXPECT_THAT(reduced(layout, GUF_ORDER_C), ElementsAre(32, 8));
    EXPECT_THAT(reduced(layout, GUF_ORDER_F), ElementsAre(8, 16));
    EXPECT_THAT(accumulated(layout, GUF_ORDER_C), ElementsAre(96, 32, 8));
    EXPECT_THAT(accumulated(layout, GUF_ORDER_F), ElementsAre(8, 16, 48));
    EXPECT_THAT(stretched(layout, GUF_ORDER_C), ElementsAre(120, 40, 8));
    EXPECT_THAT(stretched(layout, GUF_ORDER_F), ElementsAre(8, 16, 48));
  }
}

TEST_F(ResultOrder, OfAnyIsFortransForFortransInput) {
  EXPECT_THAT(reduced(InputOrder::kF, GUF_ORDER_ANY), ElementsAre(8, 16));
  EXPECT_THAT(accumulated(InputOrder::kF, GUF_ORDER_ANY), ElementsAre(8, 16, 48));
  EXPECT_THAT(stretched(InputOrder::kF, GUF_ORDER_ANY), ElementsAre(8, 16, 48));
  for (const InputOrder layout : {InputOrder::kC, InputOrder::kTransposed}) {
    EXPECT_THAT(reduced(layout, GUF_ORDER_ANY), ElementsAre(32, 8));
    EXPECT_THAT(accumulated(layout, GUF_ORDER_ANY), ElementsAre(96, 32, 8));
    EXPECT_THAT(stretched(layout, GUF_ORDER_ANY), ElementsAre(120, 40, 8));
  }
}

// NumPy's methods have no order= argument. With GUF_ORDER_KEEP, the strides must equal the strides
// of the results of NumPy's methods.
TEST_F(ResultOrder, OfKeepIsTheInputs) {
  EXPECT_THAT(reduced(InputOrder::kF, GUF_ORDER_KEEP), ElementsAre(8, 16));
  EXPECT_THAT(accumulated(InputOrder::kF, GUF_ORDER_KEEP), ElementsAre(8, 16, 48));
  EXPECT_THAT(accumulated(InputOrder::kTransposed, GUF_ORDER_KEEP), ElementsAre(32, 64, 8));
  EXPECT_THAT(reduced(InputOrder::kTransposed, GUF_ORDER_KEEP), ElementsAre(32, 8));
}

}  // namespace
}  // namespace gufunc

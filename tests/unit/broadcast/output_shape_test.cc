// SPDX-License-Identifier: Apache-2.0
// Tests the error messages for outputs that lack axes or have wrong axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/broadcast/broadcast.h"
#include "tests/unit/call_sample.h"

namespace gufunc {
namespace {

using testing::EndsWith;
using Shape = std::vector<int64_t>;

struct Row {
  const char *name;
  const char *signature;
  std::vector<Shape> operands;  // the last shape is the shape of the output
  int64_t axis;                 // value of the argument axis=, or kNoAxis if the argument is absent
  int32_t found_axis;           // expected axis in the error record
  const char *text;             // expected end of the error message
};

constexpr int64_t kNoAxis = -100;

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"ZeroAxesForOne",
     "",
     {{6}, {6}, {}},
     kNoAxis,
     base::kNone,
     "shape (6,); argument 2: expected 1 dimensions, got 0"},
    {"OneAxisForTwo",
     "",
     {{2, 3}, {2, 3}, {3}},
     kNoAxis,
     base::kNone,
     "shape (2,3); argument 2: expected 2 dimensions, got 1"},
    {"ZeroAxesForMost",
     "",
     {Shape(GUF_MAX_NDIM, 1), {1}, {}},
     kNoAxis,
     base::kNone,
     "; argument 2: expected 64 dimensions, got 0"},
    {"CoreAxisOnly",
     "(n)->(n)",
     {{2, 3}, {3}},
     kNoAxis,
     base::kNone,
     "shape (2,3); argument 1: expected 2 dimensions, got 1"},
    {"WrongExtent",
     "",
     {{2, 3}, {2, 3}, {2, 1}},
     kNoAxis,
     1,
     "shape (2,3); argument 2, axis 1: expected 3, got 1"},
    {"WrongExtentOfPermuted",
     "(n)->(n)",
     {{3, 2}, {3, 1}},
     0,
     1,
     "; argument 1, axis 1: expected 2, got 1"},
};

class OutputShape : public testing::TestWithParam<Row> {};

TEST_P(OutputShape, IsReportedCorrectly) {
  const Row &row = GetParam();
  std::vector<sample::Operand> operands;
  for (const Shape &shape : row.operands) operands.push_back({shape, {}});
  const auto nin = static_cast<int32_t>(operands.size()) - 1;
  sample::Call call("f", row.signature, "", nin, operands);
  ASSERT_EQ(call.status, GUF_OK) << call.error.message;
  if (row.axis != kNoAxis) call.args.axis = &row.axis;
  broadcast::LoopShape loop;
  const guf_status status = broadcast::broadcast_operands(call.view(), &loop, &call.error);
  EXPECT_EQ(status, GUF_E_SHAPE);
  EXPECT_EQ(call.error.argument, nin);
  EXPECT_EQ(call.error.axis, row.found_axis);
  EXPECT_THAT(call.error.message, EndsWith(row.text));
}

INSTANTIATE_TEST_SUITE_P(Outputs, OutputShape, testing::ValuesIn(kRows),
                         [](const auto &param) { return param.param.name; });

}  // namespace
}  // namespace gufunc

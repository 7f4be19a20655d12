// SPDX-License-Identifier: Apache-2.0
// Compares broadcasting with NumPy's results for the same calls (numpy_rows.txt). Tests the error
// messages for outputs that lack axes or have wrong axes.
#include "core/broadcast/broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/call_view_sample.h"

namespace gufunc {
namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<int64_t> numbers(const std::string &text) {
  std::vector<int64_t> values;
  for (const std::string &part : split(text, ',')) values.push_back(std::stoll(part));
  return values;
}

View operand(const std::string &text, guf_dtype dtype = GUF_F64) {
  if (text == "-") return missing_operand();
  const size_t colon = text.find(':');
  return shaped(numbers(text.substr(0, colon)), numbers(text.substr(colon + 1)), dtype);
}

const char *name_of(const std::string &signature) {
  if (signature.empty()) return "add";
  if (signature == "(n?,k),(k,m?)->(n?,m?)") return "matmul";
  if (signature == "(n),(n)->()") return "vecdot";
  if (signature == "(m,n),(n)->(m)") return "matvec";
  if (signature == "(n),(n,m)->(m)") return "vecmat";
  return signature == "(3),(3)->(3)" ? "cross1d" : "innerwt";
}

int32_t order_of(const std::string &letter) {
  return letter == "K"   ? GUF_ORDER_KEEP
         : letter == "C" ? GUF_ORDER_C
         : letter == "F" ? GUF_ORDER_F
                         : GUF_ORDER_ANY;
}

// Runs the library's broadcasting for the call that a row of numpy_rows.txt describes. Returns the
// result in the format of the last field of the row.
std::string answer(const std::vector<std::string> &field) {
  const std::string &signature = field[0];
  std::vector<View> operands;
  for (const std::string &part : split(field[1], ' ')) operands.push_back(operand(part));
  const auto nin = static_cast<int32_t>(operands.size());
  operands.push_back(operand(field[2]));
  CallViewSample call(name_of(signature), signature, "", nin, operands);
  EXPECT_EQ(call.status, GUF_OK) << call.error.message;
  if (field[3] != "-") call.set_where(operand(field[3], GUF_BOOL));
  call.args.order = order_of(field[4]);
  int64_t axis = 0;
  if (field[5] != "-") {
    axis = std::stoll(field[5]);
    call.args.axis = &axis;
  }
  if (field[6] == "1") call.args.flags = GUF_CALL_KEEPDIMS;
  std::vector<std::vector<int64_t>> given;
  std::vector<guf_core_axes> axes;
  if (field[7] != "-") {
    for (const std::string &entry : split(field[7], '/')) given.push_back(numbers(entry));
    for (const auto &entry : given)
      axes.push_back({entry.data(), static_cast<int32_t>(entry.size()), 0});
    call.args.axes = axes.data();
    call.args.naxes = static_cast<int32_t>(axes.size());
  }
  call.view().operand[nin].layout.dtype = GUF_F64;  // normally set by type resolution

  const auto loop = std::make_unique<broadcast::LoopShape>();
  int32_t ndim = 0;
  int64_t shape[GUF_MAX_NDIM];
  int64_t own_shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  if (broadcast::broadcast_operands(call.view(), loop.get(), &call.error) != GUF_OK ||
      broadcast::caller_shape(call.view(), *loop, nin, &ndim, shape, &call.error) != GUF_OK ||
      broadcast::operand_shape(call.view(), *loop, nin, &ndim, own_shape, &call.error) != GUF_OK ||
      broadcast::result_strides(call.view(), *loop, nin, ndim, own_shape, strides, &call.error) !=
          GUF_OK) {
    return std::string("!") + call.error.message;
  }
  int64_t permuted[GUF_MAX_NDIM];
  for (int32_t k = 0; k < ndim; ++k)
    permuted[loop->permuted ? loop->axis_permutation[nin][k] : k] = strides[k];
  std::ostringstream text;
  for (int32_t k = 0; k < ndim; ++k) text << (k > 0 ? "," : "") << shape[k];
  text << ':';
  for (int32_t k = 0; k < ndim; ++k) text << (k > 0 ? "," : "") << permuted[k];
  return text.str();
}

// Compares two results. Ignores strides of axes of extent 1, and strides of arrays without
// elements.
bool same_layout(const std::string &ours, const std::string &numpy) {
  const auto shape = numbers(numpy.substr(0, numpy.find(':')));
  if (shape != numbers(ours.substr(0, ours.find(':')))) return false;
  const auto expected = numbers(numpy.substr(numpy.find(':') + 1));
  const auto found = numbers(ours.substr(ours.find(':') + 1));
  for (size_t k = 0; k < shape.size(); ++k) {
    if (std::count(shape.begin(), shape.end(), 0) != 0) return true;
    if (shape[k] > 1 && expected[k] != found[k]) return false;
  }
  return true;
}

TEST(NumpyRows, ShapesLayoutsAndTextsAreNumPys) {
  std::ifstream file(NUMPY_ROWS);
  ASSERT_TRUE(file.is_open()) << NUMPY_ROWS;
  int rows = 0;
  int refusals = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    ++rows;
    const std::vector<std::string> field = split(line, '|');
    ASSERT_EQ(field.size(), 9U) << line;
    const std::string &numpy = field[8];
    const std::string ours = answer(field);
    if (numpy[0] == '!') {
      ++refusals;
      EXPECT_THAT(ours, testing::StartsWith(numpy)) << line;
    } else if (ours[0] == '!') {
      ADD_FAILURE() << line << "\n  ours: " << ours;
    } else if (field[2] == "-") {
      EXPECT_TRUE(same_layout(ours, numpy)) << line << "\n  ours: " << ours;
    } else {
      EXPECT_EQ(numbers(ours.substr(0, ours.find(':'))), numbers(numpy.substr(0, numpy.find(':'))))
          << line;
    }
  }
  EXPECT_GT(rows, 1000);
  EXPECT_GT(refusals, 150);
}

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
  std::vector<View> operands;
  for (const Shape &shape : row.operands) operands.push_back(shaped(shape));
  const auto nin = static_cast<int32_t>(operands.size()) - 1;
  CallViewSample call("f", row.signature, "", nin, operands);
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

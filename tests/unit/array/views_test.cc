// SPDX-License-Identifier: Apache-2.0
// Compares views with NumPy's views (tests/data/views.txt), and tests the few rules that differ
// from NumPy.
#include "core/array/views.h"

#include <gmock/gmock.h>

#include "tests/support/fresh_error.h"
#include "tests/unit/array/array_sample.h"

namespace gufunc::array {
namespace {

constexpr int64_t kOmitted = std::numeric_limits<int64_t>::min();

int32_t order_of(const std::string &letter) {
  return letter == "C" ? GUF_ORDER_C : letter == "F" ? GUF_ORDER_F : GUF_ORDER_ANY;
}

guf_status slice_of(const Array &array, const std::vector<std::string> &words,
                    base::Ref<Array> *out, guf_error *error) {
  std::vector<int64_t> starts;
  std::vector<int64_t> stops;
  std::vector<int64_t> steps;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> parts = split(words[i], ':');
    starts.push_back(numbers(parts[0])[0]);
    stops.push_back(numbers(parts[1])[0]);
    steps.push_back(numbers(parts[2])[0]);
  }
  return slice(array, static_cast<int32_t>(starts.size()), starts.data(), stops.data(),
               steps.data(), out, error);
}

// Applies the view operation that `text` describes as in views.txt, such as "transpose 1,0".
guf_status apply(const Array &array, const std::string &text, base::Ref<Array> *out,
                 guf_error *error) {
  const std::vector<std::string> words = split(text, ' ');
  const std::string &name = words[0];
  if (name == "slice") return slice_of(array, words, out, error);
  if (name == "ravel") return ravel(array, order_of(words[1]), out, error);
  const std::vector<int64_t> list = words.size() > 1 ? numbers(words[1]) : std::vector<int64_t>();
  const auto count = static_cast<int32_t>(list.size());
  // An empty list is passed as a valid pointer, because NULL means an omitted list.
  static constexpr int64_t kEmpty = 0;
  const int64_t *const given = words.size() == 1 ? nullptr : list.empty() ? &kEmpty : list.data();
  if (name == "transpose") return transpose(array, count, given, out, error);
  if (name == "squeeze") return squeeze(array, count, given, out, error);
  if (name == "broadcast") return broadcast_to(array, count, given, out, error);
  if (name == "expand") return expand_dims(array, count, given, out, error);
  if (name == "window") {
    const std::vector<int64_t> windows = numbers(words[2]);
    return sliding_window(array, count, given, windows.data(), out, error);
  }
  const std::vector<int64_t> shape = numbers(words[2]);
  return reshape(array, static_cast<int32_t>(shape.size()), shape.data(), order_of(words[1]), out,
                 error);
}

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts) text += (text.empty() ? "" : ",") + part;
  return text.empty() ? "-" : text;
}

// Formats an array as make_views.py does.
std::string describe(const Array &array, uint64_t base) {
  std::vector<std::string> shape;
  std::vector<std::string> strides;
  const Layout &layout = array.layout();
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    shape.push_back(std::to_string(layout.shape[axis]));
    const bool counts = layout.shape[axis] > 1 && array.size() > 0;
    strides.push_back(counts ? std::to_string(layout.strides[axis]) : "_");
  }
  const auto offset = static_cast<int64_t>(layout.address - base);
  return join(shape) + " " + join(strides) + " " +
         (array.size() > 0 ? std::to_string(offset) : "_");
}

// Formats an error as make_views.py does. Drops text after a semicolon, which the library may add
// to NumPy's message.
std::string describe(guf_status status, const guf_error &error) {
  const std::string message = error.message;
  if (status == GUF_E_UNSUPPORTED) {
    return "!ValueError Unable to avoid creating a copy while reshaping.";
  }
  const char *const name = status == GUF_E_INDEX                                   ? "IndexError"
                           : status == GUF_E_AXIS && message.rfind("axis", 0) == 0 ? "AxisError"
                                                                                   : "ValueError";
  return std::string("!") + name + " " + message.substr(0, message.find(';'));
}

TEST(Views, AreNumPysForThousandsOfChains) {
  const std::vector<std::string> rows = golden_rows(GUFUNC_TEST_DATA "/views.txt");
  ASSERT_GT(rows.size(), 5000U);
  for (const std::string &row : rows) {
    const std::vector<std::string> parts = split(row, '|');
    const uint64_t address = 1 << 20;
    base::Ref<Array> array = borrow_contiguous(GUF_I64, numbers(parts[0]), address);
    guf_error error = fresh_error();
    guf_status status = GUF_OK;
    for (size_t i = 1; i + 1 < parts.size() && status == GUF_OK; ++i) {
      base::Ref<Array> next;
      status = apply(*array, parts[i], &next, &error);
      if (status == GUF_OK) array = next;
    }
    const std::string found =
        status == GUF_OK ? describe(*array, address) : describe(status, error);
    EXPECT_EQ(found, parts.back()) << row;
  }
  base::collect();
}

struct Case {
  const char *name;
  guf_status expected;
  guf_status (*run)(const Array &array, base::Ref<Array> *out, guf_error *error);
};

// View operations that the library rejects, and for which NumPy reports no error or an error of
// a different kind. The operations are applied to an array of shape (2, 3).
const Case kCases[] = {
    {"NegativeCountOfAxes", GUF_E_INDEX,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       return slice(array, -1, nullptr, nullptr, nullptr, out, error);
     }},
    {"OrderKeepDoesNotReshape", GUF_E_ARG,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       return ravel(array, GUF_ORDER_KEEP, out, error);
     }},
    {"MinusTwoIsNoExtent", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t shape[] = {-2, 3};
       return reshape(array, 2, shape, GUF_ORDER_C, out, error);
     }},
    {"ProductOfNewShapeOverflows", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t shape[] = {int64_t{1} << 40, int64_t{1} << 40, 0};
       return reshape(array, 3, shape, GUF_ORDER_C, out, error);
     }},
    {"ExtentsOfAnEmptyArrayOverflow", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t start = 0, stop = 0, step = 1, shape[] = {0, INT64_MAX};
       base::Ref<Array> empty;
       GUF_TRY(slice(array, 1, &start, &stop, &step, &empty, error));
       return reshape(*empty, 2, shape, GUF_ORDER_C, out, error);
     }},
    {"BroadcastTooLarge", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t shape[] = {int64_t{1} << 62, 2, 3};
       return broadcast_to(array, 3, shape, out, error);
     }},
    {"WindowOfZero", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t axis = 0;
       const int64_t window = 0;
       return sliding_window(array, 1, &axis, &window, out, error);
     }},
    {"TooManyNewAxes", GUF_E_SHAPE,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       const int64_t axes[GUF_MAX_NDIM] = {};
       return expand_dims(array, GUF_MAX_NDIM - 1, axes, out, error);
     }},
    {"SixtyFourAxesAreAllowed", GUF_OK,
     [](const Array &array, base::Ref<Array> *out, guf_error *error) {
       int64_t axes[GUF_MAX_NDIM];
       for (int32_t i = 0; i < GUF_MAX_NDIM; ++i) axes[i] = i;
       return expand_dims(array, GUF_MAX_NDIM - 2, axes, out, error);
     }},
};

TEST(Views, RefuseArgumentsThatNumPyCannotReceive) {
  const base::Ref<Array> array = borrow_contiguous(GUF_F32, {2, 3}, 4096);
  for (const Case &row : kCases) {
    base::Ref<Array> out;
    guf_error error = fresh_error();
    EXPECT_EQ(row.run(*array, &out, &error), row.expected) << row.name << ": " << error.message;
    EXPECT_EQ(static_cast<bool>(out), row.expected == GUF_OK) << row.name;
  }
  base::collect();
}

// Two elements that are 2^62 bytes apart fit into the address space, but twice this distance
// overflows.
TEST(Views, ReshapeStridesWhoseProductsOverflow) {
  constexpr int64_t kFar = int64_t{1} << 62;
  const base::Ref<Array> pair = borrow(GUF_I8, {2}, {kFar}, 4096);
  const int64_t shape[] = {1, 2, 1};
  base::Ref<Array> view;
  guf_error error = fresh_error();
  ASSERT_EQ(reshape(*pair, 3, shape, GUF_ORDER_C, &view, &error), GUF_OK) << error.message;
  EXPECT_EQ(view->layout().strides[1], kFar);
  const base::Ref<Array> square = borrow(GUF_I8, {2, 2}, {1, kFar}, 4096);
  const int64_t four = 4;
  EXPECT_EQ(reshape(*square, 1, &four, GUF_ORDER_C, &view, &error), GUF_E_UNSUPPORTED);
  base::collect();
}

TEST(Views, CarryByteOrderAndReadOnlyAlong) {
  const base::Ref<Array> array = borrow(GUF_I16, {4}, {2}, 4096, GUF_ARRAY_SWAPPED);
  const int64_t shape[] = {3, 4};
  base::Ref<Array> wide;
  ASSERT_EQ(broadcast_to(*array, 2, shape, &wide, nullptr), GUF_OK);
  EXPECT_TRUE(wide->flags() & GUF_ARRAY_SWAPPED);
  EXPECT_TRUE(wide->flags() & GUF_ARRAY_READ_ONLY);
  base::Ref<Array> transposed;
  ASSERT_EQ(transpose(*wide, 0, nullptr, &transposed, nullptr), GUF_OK);
  EXPECT_TRUE(transposed->flags() & GUF_ARRAY_READ_ONLY);
  EXPECT_FALSE(transposed->flags() & GUF_ARRAY_OWNS_DATA);
  base::collect();
}

// The C API rejects an array with more than GUF_MAX_NDIM axes. The core must also reject the array,
// because its views would not fit into Dimensions.
TEST(Views, RefuseMoreAxesThanAnArrayHas) {
  const std::vector<int64_t> shape(2 * GUF_MAX_NDIM, 1), strides(shape.size(), 0);
  const base::Ref<Array> array = borrow(GUF_I8, shape, strides, 4096);
  guf_error error = fresh_error();
  base::Ref<Array> view;
  EXPECT_EQ(transpose(*array, 0, nullptr, &view, &error), GUF_E_INTERNAL);
  EXPECT_STREQ(error.message, "expected a view of at most 64 axes, got more");
  EXPECT_EQ(slice(*array, 0, nullptr, nullptr, nullptr, &view, nullptr), GUF_E_INTERNAL);
  EXPECT_FALSE(view);
  base::collect();
}

// Compares each result with the result of Python's slice.indices.
TEST(Views, SliceIndicesAreExactNearTheLimits) {
  const int64_t kMax = std::numeric_limits<int64_t>::max();
  int64_t start = 0;
  int64_t length = 0;
  slice_indices(10, kMax, kOmitted, -1, &start, &length);
  EXPECT_EQ(start, 9);
  EXPECT_EQ(length, 10);
  slice_indices(10, -kMax, kMax, kMax, &start, &length);
  EXPECT_EQ(start, 0);
  EXPECT_EQ(length, 1);
  slice_indices(10, kOmitted, kOmitted, kOmitted, &start, &length);
  EXPECT_EQ(start, 9);
  EXPECT_EQ(length, 1);
}

// A broadcast array of small elements can have so many elements that a copy with a wider dtype is
// too large.
TEST(Views, StridesOfACopyThatIsTooLargeAreRefused) {
  const int64_t shape[] = {int64_t{1} << 31, 1 << 30, 2};
  const int64_t none[] = {0, 0, 0};
  const Layout layout = {GUF_U8, 3, shape, none, 64};
  int64_t strides[3];
  for (const int32_t order : {GUF_ORDER_KEEP, GUF_ORDER_C, GUF_ORDER_F}) {
    EXPECT_EQ(strides_like(layout, order, GUF_U8, strides, nullptr), GUF_OK);
    EXPECT_EQ(strides_like(layout, order, GUF_C128, strides, nullptr), GUF_E_SHAPE);
  }
}

TEST(Views, StridesWithoutElementsAreBounded) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  const int64_t shape[] = {0, 1, 3, 2, 2};
  const int64_t given[] = {kLowest, kLowest, kOmitted + 1, -8, 24};
  int64_t strides[5];
  bound_strides({GUF_F64, 5, shape, given, 0}, strides);
  EXPECT_THAT(strides, testing::ElementsAre(0, 0, 0, -8, 24));
}

}  // namespace
}  // namespace gufunc::array

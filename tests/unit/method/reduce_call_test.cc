// SPDX-License-Identifier: Apache-2.0
// Tests reduce: axes, initial values, masks, outputs, and many dimensions. Compares the dtype in
// which a reduction runs with NumPy 2.4.6.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>
#include <random>

#include "tests/unit/method/method_fixture.h"

namespace {
std::atomic<long> allocations{0};
}

[[gnu::noinline]] void *operator new(std::size_t size) {
  ++allocations;
  void *const place = std::malloc(size == 0 ? 1 : size);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}
[[gnu::noinline]] void operator delete(void *place) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void *place, std::size_t) noexcept {
  std::free(place);
}

namespace gufunc {
namespace {

using testing::ElementsAre;

std::vector<double> counting(size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(ReduceCall, FoldsTheFirstAxisWhereNoneIsNamed) {
  const std::vector<double> data = counting(6);
  Reduce reduce("add", matrix(GUF_F64, data, 2, 3));
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(elements_of<double>(reduce.output), ElementsAre(3, 5, 7));
}

TEST(ReduceCall, TakesAxesInAnyOrder) {
  const std::vector<double> data = counting(24);
  for (const std::vector<int64_t> &axes : {std::vector<int64_t>{0, 2}, {2, 0}, {-1, 0}, {-3, -1}}) {
    Reduce reduce("maximum", {GUF_F64, data.data(), {2, 3, 4}, {}, 0});
    reduce.axes(axes);
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_THAT(elements_of<double>(reduce.output), ElementsAre(15, 19, 23));
  }
}

TEST(ReduceCall, KeepsDimensionsOnRequest) {
  const std::vector<double> data = counting(24);
  Reduce reduce("add", {GUF_F64, data.data(), {2, 3, 4}, {}, 0});
  reduce.axes({1});
  reduce.args.flags = GUF_CALL_KEEPDIMS;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  const guf_array_info info = info_of(reduce.output);
  ASSERT_EQ(info.ndim, 3);
  EXPECT_EQ(info.shape[0], 2);
  EXPECT_EQ(info.shape[1], 1);
  EXPECT_EQ(info.shape[2], 4);
}

TEST(ReduceCall, NoAxesFoldNothingAndStartFromTheIdentity) {
  const std::vector<int8_t> data = {-3, 4};
  Reduce reduce("add", view(GUF_I8, data));
  reduce.axes({});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(elements_of<int64_t>(reduce.output), ElementsAre(-3, 4));
}

TEST(ReduceCall, ZeroDimensionsHaveAxisZeroAndMinusOne) {
  const double value = 2.5;
  for (const int64_t axis : {0, -1}) {
    Reduce reduce("subtract", {GUF_F64, &value, {}, {}, 0});
    reduce.axes({axis});
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_THAT(elements_of<double>(reduce.output), ElementsAre(2.5));
  }
  Reduce all("add", {GUF_F64, &value, {}, {}, 0});
  all.args.naxis = GUF_ALL_AXES;
  EXPECT_EQ(all.run(), GUF_OK) << all.error.message;
}

TEST(ReduceCall, StartsFromTheIdentityUnlessNoneIsGiven) {
  const std::vector<double> data = {-0.0, -0.0};
  Reduce plain("add", view(GUF_F64, data));
  ASSERT_EQ(plain.run(), GUF_OK);
  EXPECT_FALSE(std::signbit(elements_of<double>(plain.output)[0]));
  Reduce none("add", view(GUF_F64, data));
  none.args.initial = none.none();
  ASSERT_EQ(none.run(), GUF_OK);
  EXPECT_TRUE(std::signbit(elements_of<double>(none.output)[0]));
  Reduce given("add", view(GUF_F64, data));
  given.args.initial = given.weak_float(-0.0);
  ASSERT_EQ(given.run(), GUF_OK);
  EXPECT_TRUE(std::signbit(elements_of<double>(given.output)[0]));
}

TEST(ReduceCall, InitialIsTheLeftOperand) {
  const std::vector<int32_t> data = {1, 2, 3};
  Reduce reduce("subtract", view(GUF_I32, data));
  reduce.args.initial = reduce.weak_int(10);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(elements_of<int32_t>(reduce.output), ElementsAre(4));
}

TEST(ReduceCall, EmptyReturnsTheIdentityOfTheType) {
  struct Row {
    const char *name;
    guf_dtype dtype;
    int64_t expected;
  };
  const uint64_t nothing = 0;
  for (const Row &row : {Row{"add", GUF_I64, 0}, Row{"multiply", GUF_I64, 1},
                         Row{"bitwise_and", GUF_I64, -1}, Row{"bitwise_and", GUF_U64, -1}}) {
    Reduce reduce(row.name, {row.dtype, &nothing, {0}, {}, 0});
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(elements_of<int64_t>(reduce.output)[0], row.expected) << row.name;
  }
}

TEST(ReduceCall, MaskBroadcastsAndNeedsAStart) {
  const std::vector<double> data = counting(6);
  const std::vector<uint8_t> mask = {1, 0, 1};
  Reduce reduce("add", matrix(GUF_F64, data, 2, 3));
  reduce.axes({1});
  reduce.args.where = reduce.tensor(view(GUF_BOOL, mask));
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(elements_of<double>(reduce.output), ElementsAre(2, 8));
  Reduce maximum("maximum", matrix(GUF_F64, data, 2, 3));
  maximum.args.where = maximum.tensor(view(GUF_BOOL, mask));
  maximum.args.initial = maximum.weak_int(-7);
  ASSERT_EQ(maximum.run(), GUF_OK) << maximum.error.message;
  EXPECT_THAT(elements_of<double>(maximum.output), ElementsAre(3, -7, 5));
}

TEST(ReduceCall, GivenOutputsAreCastTo) {
  const std::vector<double> data = {0.5, 0.75, 1.0};
  int64_t result = 0;
  Reduce reduce("add", view(GUF_F64, data));
  reduce.into({GUF_I64, &result, {}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(result, 2);
}

TEST(ReduceCall, InputsThatOverlapTheOutputAreReadFirst) {
  std::vector<double> data = counting(6);
  Reduce reduce("add", matrix(GUF_F64, data, 3, 2));
  reduce.axes({1});
  reduce.into({GUF_F64, data.data() + 1, {3}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(data, ElementsAre(0, 1, 5, 9, 4, 5));
}

// The call has more rows than the backend reduces at a time, and its first results overwrite the
// last rows.
TEST(ReduceCall, ManyInputsThatOverlapTheOutputAreReadFirst) {
  constexpr size_t kRows = 6000;
  std::vector<double> data = counting(2 * kRows), expected = data;
  for (size_t row = 0; row < kRows; ++row) expected[kRows + row] = static_cast<double>(4 * row + 1);
  Reduce reduce("add", matrix(GUF_F64, data, kRows, 2));
  reduce.axes({1});
  reduce.into({GUF_F64, &data[kRows], {kRows}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(data, expected);
}

// Results of the first rows overwrite the mask of later rows.
TEST(ReduceCall, MasksThatOverlapTheOutputAreReadFirst) {
  constexpr size_t kRows = 6000, kColumns = 3;
  std::mt19937 random(3);
  std::vector<uint8_t> data(kRows * kColumns), mask(data.size());
  for (uint8_t &value : data) value = random() % 2;
  for (uint8_t &value : mask) value = random() % 2;
  const std::vector<uint8_t> was = mask;
  for (const uint32_t threads : {1U, 0U}) {
    for (const bool backwards : {false, true}) {
      const size_t first = backwards ? kRows - 1 : data.size() - kRows;
      const int64_t step = backwards ? -1 : 1;
      std::vector<uint8_t> expected = was;
      for (size_t row = 0; row < kRows; ++row) {
        uint8_t all = 1;
        for (size_t k = row * kColumns; k < (row + 1) * kColumns; ++k)
          all &= was[k] == 0 || data[k] != 0;
        expected[backwards ? first - row : first + row] = all;
      }
      mask = was;
      Reduce reduce("logical_and", matrix(GUF_BOOL, data, kRows, kColumns));
      reduce.axes({1});
      reduce.args.options.threads = threads;
      reduce.args.where = reduce.tensor(matrix(GUF_BOOL, mask, kRows, kColumns));
      reduce.into({GUF_BOOL, mask.data() + first, {kRows}, {step}, 0});
      ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
      EXPECT_EQ(mask, expected) << threads << " threads, backwards " << backwards;
    }
  }
}

TEST(ReduceCall, AllocatedOutputsHaveTheLayoutOfInputs) {
  const std::vector<double> data = counting(24);
  Reduce reduce("add", {GUF_F64, data.data(), {2, 3, 4}, {8, 16, 48}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  const guf_array_info info = info_of(reduce.output);
  EXPECT_EQ(info.strides[0], 8);
  EXPECT_EQ(info.strides[1], 24);
}

// Makes a view with `ndim` dimensions of extent 2 and strides 8, 24, 72 and so on. Neither its kept
// nor its reduced dimensions can be coalesced.
View spread(const std::vector<int64_t> &data, int32_t ndim) {
  View made = {GUF_I64, data.data(), {}, {}, 0};
  int64_t stride = 8;
  for (int32_t k = 0; k < ndim; ++k) {
    made.shape.insert(made.shape.begin(), 2);
    made.strides.insert(made.strides.begin(), stride);
    stride *= 3;
  }
  return made;
}

TEST(ReduceCall, WalksMoreDimensionsThanABlockHolds) {
  constexpr int32_t kNdim = 10;
  std::vector<int64_t> data(59049);
  std::iota(data.begin(), data.end(), 0);
  for (const char *name : {"add", "subtract"}) {
    Reduce reduce(name, spread(data, kNdim));
    reduce.axes({kNdim - 1});
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    const std::vector<int64_t> found = elements_of<int64_t>(reduce.output);
    ASSERT_EQ(found.size(), 512u);
    for (size_t n = 0; n < found.size(); ++n) {
      int64_t place = 0;
      for (int64_t k = 0, unit = 3; k < kNdim - 1; ++k, unit *= 3) place += (n >> k & 1U) * unit;
      EXPECT_EQ(found[n], name[0] == 'a' ? 2 * place + 1 : -1);
    }
  }
}

TEST(ReduceCall, FoldsMoreDimensionsThanABlockHolds) {
  constexpr int32_t kNdim = 11;
  std::vector<int64_t> data(177147);
  std::iota(data.begin(), data.end(), 0);
  std::vector<double> doubles(data.begin(), data.end());
  View input = spread(data, kNdim);
  // The last axis is not reduced. The elements are sums of powers of 3, so the sums can be computed
  // independently.
  std::vector<int64_t> axes(kNdim - 1);
  std::iota(axes.begin(), axes.end(), 0);
  int64_t sum = 0;
  for (int64_t n = 0; n < 1024; ++n) {
    for (int64_t k = 0, unit = 3; k < kNdim - 1; ++k, unit *= 3) sum += (n >> k & 1) * unit;
  }
  Reduce integers("add", input);
  integers.axes(axes);
  ASSERT_EQ(integers.run(), GUF_OK) << integers.error.message;
  EXPECT_THAT(elements_of<int64_t>(integers.output), ElementsAre(sum, sum + 1024));
  input.dtype = GUF_F64;
  input.data = doubles.data();
  Reduce reals("add", input);
  reals.axes(axes);
  ASSERT_EQ(reals.run(), GUF_OK) << reals.error.message;
  EXPECT_THAT(elements_of<double>(reals.output),
              ElementsAre(static_cast<double>(sum), static_cast<double>(sum + 1024)));
  const std::vector<uint8_t> mask = {1, 0};
  Reduce masked("add", input);
  masked.axes(axes);
  masked.args.where = masked.tensor(view(GUF_BOOL, mask));
  ASSERT_EQ(masked.run(), GUF_OK) << masked.error.message;
  EXPECT_THAT(elements_of<double>(masked.output), ElementsAre(static_cast<double>(sum), 0));
}

// The array is one broadcast element. The call returns immediately, because its first base blocks
// determine the result.
TEST(ReduceCall, AnyNumberOfElements) {
  const bool truth = true;
  for (const int64_t less : {0, 1, 3, 200}) {
    for (const uint32_t threads : {0U, 1U}) {
      Reduce reduce("logical_or", {GUF_BOOL, &truth, {INT64_MAX - less}, {0}, 0});
      reduce.args.options.threads = threads;
      ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
      EXPECT_THAT(elements_of<uint8_t>(reduce.output), ElementsAre(1));
    }
  }
}

TEST(ReduceCall, AllocatesNothingIntoAGivenOutput) {
  const std::vector<double> data = counting(1000);
  double result = 0;
  Reduce reduce("add", view(GUF_F64, data));
  reduce.into({GUF_F64, &result, {}, {}, 0});
  reduce.args.options.threads = 1;
  // Looks up the kernel once, before the measured call.
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  const long before = allocations.load();
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(result, 499500);
}

TEST(ReduceCall, WorksOnAStream) {
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, nullptr), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, nullptr), GUF_OK);
  const std::vector<double> data = counting(100);
  Reduce reduce("add", view(GUF_F64, data));
  reduce.args.options.stream = stream;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, nullptr), GUF_OK);
  EXPECT_THAT(elements_of<double>(reduce.output), ElementsAre(4950));
  EXPECT_EQ(guf_stream_release(stream, nullptr), GUF_OK);
}

struct Row {
  const char *ufunc;
  guf_dtype input;
  guf_dtype dtype;   // dtype= argument, or 0
  guf_dtype result;  // 0 means that the call fails
  const char *text;  // error message
};

const char kNoLoop[] = "No loop matching the specified signature and casting was found for ufunc ";

const Row kRows[] = {
    {"add", GUF_BOOL, 0, GUF_I64, ""},
    {"add", GUF_I8, 0, GUF_I64, ""},
    {"add", GUF_U8, 0, GUF_U64, ""},
    {"multiply", GUF_I16, 0, GUF_I64, ""},
    {"multiply", GUF_U32, 0, GUF_U64, ""},
    {"add", GUF_I64, 0, GUF_I64, ""},
    {"add", GUF_U64, 0, GUF_U64, ""},
    {"add", GUF_F16, 0, GUF_F16, ""},
    {"add", GUF_F32, 0, GUF_F32, ""},
    {"add", GUF_C64, 0, GUF_C64, ""},
    {"add", GUF_I8, GUF_I8, GUF_I8, ""},
    {"add", GUF_F64, GUF_I32, GUF_I32, ""},
    {"add", GUF_I64, GUF_F32, GUF_F32, ""},
    {"add", GUF_BOOL, GUF_BOOL, GUF_BOOL, ""},
    {"maximum", GUF_I8, 0, GUF_I8, ""},
    {"subtract", GUF_U8, 0, GUF_U8, ""},
    {"divide", GUF_I8, 0, GUF_F64, ""},
    {"bitwise_or", GUF_I16, 0, GUF_I16, ""},
    {"logical_and", GUF_F64, 0, GUF_BOOL, ""},
    {"logical_or", GUF_I32, 0, GUF_BOOL, ""},
    {"logical_and", GUF_I32, GUF_BOOL, GUF_BOOL, ""},
    {"equal", GUF_BOOL, 0, GUF_BOOL, ""},
    {"less", GUF_I64, GUF_BOOL, GUF_BOOL, ""},
    {"equal", GUF_I64, 0, 0, kNoLoop},
    {"equal", GUF_F64, GUF_F64, 0, kNoLoop},
    {"logical_and", GUF_I32, GUF_I32, 0, kNoLoop},
    {"divide", GUF_I64, GUF_I64, 0, kNoLoop},
    {"subtract", GUF_BOOL, 0, 0, "numpy boolean subtract, the `-` operator, is not supported"},
    {"subtract", GUF_I32, GUF_BOOL, 0, "numpy boolean subtract, the `-` operator"},
    {"bitwise_and", GUF_F64, 0, 0, "ufunc 'bitwise_and' not supported for the input types"},
};

TEST(ReduceTypes, AreNumPys) {
  const std::vector<uint64_t> bytes(8, 0);
  for (const Row &row : kRows) {
    Reduce reduce(row.ufunc, {row.input, bytes.data(), {2}, {}, 0});
    reduce.args.dtype = row.dtype;
    const guf_status status = reduce.run();
    if (row.result == 0) {
      EXPECT_EQ(status, GUF_E_NO_LOOP) << row.ufunc;
      EXPECT_EQ(std::string(reduce.error.message).rfind(row.text, 0), 0u) << reduce.error.message;
    } else {
      ASSERT_EQ(status, GUF_OK) << row.ufunc << ": " << reduce.error.message;
      EXPECT_EQ(info_of(reduce.output).dtype, row.result) << row.ufunc;
    }
  }
}

TEST(ReduceTypes, AnOutputTakesPartAndWidensNothing) {
  const std::vector<int8_t> data = {100, 100};
  int8_t narrow = 0;
  Reduce same("add", view(GUF_I8, data));
  same.into({GUF_I8, &narrow, {}, {}, 0});
  ASSERT_EQ(same.run(), GUF_OK);
  EXPECT_EQ(narrow, -56);
  float real = 0;
  Reduce wide("add", view(GUF_I8, data));
  wide.into({GUF_F32, &real, {}, {}, 0});
  ASSERT_EQ(wide.run(), GUF_OK);
  EXPECT_EQ(real, 200.0F);
}

// Like NumPy, reduce uses the dtype of a bool output as the dtype of the first operand, and the
// error message contains this dtype.
TEST(ReduceTypes, ComparisonsReportTheEffectOfABoolOutput) {
  const std::vector<int16_t> data = {1, 2};
  bool truth = false;
  Reduce reduce("equal", view(GUF_I16, data));
  reduce.into({GUF_BOOL, &truth, {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "ufunc 'equal' did not contain a loop with signature matching types (<class "
               "'numpy.dtypes.BoolDType'>, <class 'numpy.dtypes.Int16DType'>) -> None");
  int16_t number = 0;
  reduce.into({GUF_I16, &number, {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_TRUE(
      std::string(reduce.error.message).starts_with(kNoLoop + std::string("equal; loops: ")))
      << reduce.error.message;
}

TEST(ReduceTypes, DifferencesOfDatesAreNoDates) {
  const std::vector<int64_t> data = {1, 2};
  guf_dtype dates = 0;
  ASSERT_EQ(guf_dtype_parse("M8[25s]", &dates, nullptr), GUF_OK);
  Reduce reduce("subtract", view(dates, data));
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "the resolved dtypes are not compatible with subtract.reduce. Resolved "
               "(dtype('<M8[25s]'), dtype('<M8[25s]'), dtype('<m8[25s]'))");
}

TEST(ReduceTypes, InitialValuesGoThroughPythonsInt) {
  struct Initial {
    double value;
    guf_status status;
    const char *text;
  };
  const std::vector<int16_t> data = {0};
  for (const Initial &row :
       {Initial{300.7, GUF_OK, ""}, Initial{-1.5, GUF_OK, ""},
        Initial{70000, GUF_E_OVERFLOW, "Python integer 70000 out of bounds for int16"},
        Initial{1e30, GUF_E_OVERFLOW, "Python int too large to convert to C long"},
        Initial{HUGE_VAL, GUF_E_OVERFLOW, "cannot convert float infinity to integer"},
        Initial{NAN, GUF_E_VALUE, "cannot convert float NaN to integer"}}) {
    Reduce reduce("maximum", view(GUF_I16, data));
    reduce.args.initial = reduce.weak_float(row.value);
    EXPECT_EQ(reduce.run(), row.status) << row.value;
    EXPECT_STREQ(reduce.error.message, row.text);
  }
  const std::vector<uint32_t> unsigned_data = {0};
  Reduce reduce("maximum", view(GUF_U32, unsigned_data));
  reduce.args.initial = reduce.weak_float(1e19);
  EXPECT_EQ(reduce.run(), GUF_E_OVERFLOW);
  EXPECT_STREQ(reduce.error.message,
               "Python integer 10000000000000000000 out of bounds for uint32");
}

guf_dtype dtype_of(const char *name) {
  guf_dtype dtype = 0;
  EXPECT_EQ(guf_dtype_parse(name, &dtype, nullptr), GUF_OK) << name;
  return dtype;
}

// If same_kind does not allow the cast of a scalar initial value to the unit of the reduction, the
// call fails. An initial value that is an array of one element is cast without this check.
TEST(ReduceTypes, InitialDatetimesLoseNothing) {
  struct Initial {
    const char *type, *scalar;
    int64_t sum;  // -1 means that the call fails
    const char *text;
  };
  const std::vector<int64_t> data = {1, 2};
  for (const Initial &row :
       {Initial{"m8[s]", "m8[ms]", 6, ""}, Initial{"m8[s]", "m8", 3003, ""},
        Initial{"m8[3M]", "m8[s]", -1,
                "Cannot cast NumPy timedelta64 scalar from metadata [s] to [3M] according to the "
                "rule 'same_kind'"},
        Initial{"m8", "m8[7D]", -1,
                "Cannot cast NumPy timedelta64 scalar from metadata [7D] to  according to the rule "
                "'same_kind'"}}) {
    Reduce reduce("add", view(dtype_of(row.type), data));
    reduce.args.initial = reduce.keep(scalar_of(dtype_of(row.scalar), 3000));
    EXPECT_EQ(reduce.run(), row.sum < 0 ? GUF_E_CASTING : GUF_OK) << row.scalar;
    EXPECT_STREQ(reduce.error.message, row.text);
    if (row.sum < 0) continue;
    EXPECT_EQ(elements_of<int64_t>(reduce.output)[0], row.sum) << row.scalar;
  }
}

// The error for a subtraction of bools does not apply to datetime types, even with dtype=bool.
TEST(ReduceTypes, SubtractsDatetimesWhereBoolIsNamed) {
  const std::vector<int64_t> data = {1, 5, 15};
  Reduce reduce("subtract", view(dtype_of("m8[s]"), data));
  reduce.args.dtype = GUF_BOOL;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<int64_t>(reduce.output)[0], -19);
}

}  // namespace

}  // namespace gufunc

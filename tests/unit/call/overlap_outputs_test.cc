// SPDX-License-Identifier: Apache-2.0
// Tests overlapping outputs of calls and plans, with and without a mask. Outputs are written in
// order, and each output overwrites the elements that it shares with earlier outputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/unit/call/every_strategy.h"

namespace gufunc {
namespace {

using testing::ElementsAre;

// Computes (q, r) with q = 10 x, r = x + 1.
void two_outputs(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t k = 0; k < dims[0]; ++k) {
    const double x = *reinterpret_cast<double *>(args[0] + k * steps[0]);
    *reinterpret_cast<double *>(args[1] + k * steps[1]) = 10 * x;
    *reinterpret_cast<double *>(args[2] + k * steps[2]) = x + 1;
  }
}

guf_ufunc ten_times_and_next() {
  static const guf_ufunc ufunc =
      make_ufunc("two_outputs", nullptr, 1, 2, {}, two_outputs, {GUF_F64, GUF_F64, GUF_F64});
  return ufunc;
}

const std::vector<double> kThree = {1, 2, 3};

// Makes the call write both results for the elements of kThree to y. The second result begins one
// element after the first result.
Call &overlapping(Call &call, std::vector<double> &y) {
  return call.in(view(GUF_F64, kThree))
      .out({GUF_F64, y.data(), {3}, {}, 0})
      .out({GUF_F64, y.data() + 1, {3}, {}, 0});
}

TEST(OverlapOutputs, OutputsThatOverlapOneAnotherAreWrittenBackInOrder) {
  std::vector<double> y(5);
  Call call(ten_times_and_next());
  EveryStrategy().expect_each(overlapping(call, y), {kThree.data(), y.data(), y.data() + 1}, y,
                              {10, 2, 3, 4, 0});  // the last output is complete
}

// Where the mask is false, an output keeps the values that the previous output wrote.
TEST(OverlapOutputs, MaskedOutputsAreWrittenOneAfterTheOther) {
  const std::vector<uint8_t> mask = {1, 0, 1};
  std::vector<double> y = {5, 6, 7, 8};
  Call call(ten_times_and_next());
  EveryStrategy().expect_each(overlapping(call, y).where(view(GUF_BOOL, mask)),
                              {kThree.data(), y.data(), y.data() + 1, mask.data()}, y,
                              {10, 2, 30, 4});
}

// At launch, the mask of a plan may be in memory that an earlier output overwrites.
TEST(OverlapOutputs, PlanReadsItsMaskBeforeItsOutputsAreWritten) {
  const std::vector<uint8_t> mask = {0, 1, 1};
  std::vector<double> y = {5, 6, 7, 8};
  Call call(ten_times_and_next());
  overlapping(call, y).where(view(GUF_BOOL, mask));
  std::memcpy(&y[1], mask.data(), mask.size());
  run_plan(call, {kThree.data(), y.data(), y.data() + 1, &y[1]});
  EXPECT_THAT(y, ElementsAre(5, 20, 3, 4));
}

// Exchanges x and y.
void swap_rows(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    for (int64_t k = 0; k < dims[1]; ++k) {
      std::swap(*reinterpret_cast<double *>(args[0] + item * steps[0] + k * steps[2]),
                *reinterpret_cast<double *>(args[1] + item * steps[1] + k * steps[3]));
    }
  }
}

// The mask has no core axes, so each of its elements selects a whole row.
TEST(OverlapOutputs, MaskedInoutOperandsAreWrittenOneAfterTheOther) {
  const guf_ufunc swap = make_ufunc("swap_rows", "(n),(n)", 0, 0, {GUF_ROLE_INOUT, GUF_ROLE_INOUT},
                                    swap_rows, {GUF_F64, GUF_F64});
  std::vector<double> a = {1, 10, 2, 20, 3, 30};
  const std::vector<uint8_t> mask = {1, 0};
  Call call(swap);
  call.in({GUF_F64, &a[2], {2, 2}, {}, 0})
      .in({GUF_F64, a.data(), {2, 2}, {}, 0})
      .where(view(GUF_BOOL, mask));
  EveryStrategy().expect_each(call, {&a[2], a.data(), mask.data()}, a, {2, 20, 1, 10, 3, 30});
}

// Returns the bytes of an element whose value is a small number, optionally byte-swapped. A complex
// element also has an imaginary part.
template <class T>
std::vector<uint8_t> element_bytes(T value, size_t parts, bool swapped) {
  std::vector<uint8_t> bytes;
  for (size_t part = 0; part < parts; ++part) {
    const auto *const from = reinterpret_cast<const uint8_t *>(&value);
    std::vector<uint8_t> one(from, from + sizeof value);
    if (swapped) std::reverse(one.begin(), one.end());
    bytes.insert(bytes.end(), one.begin(), one.end());
    value = 0;
  }
  return bytes;
}

std::vector<uint8_t> number_bytes(guf_dtype type, double value, bool swapped) {
  switch (type) {
    case GUF_U8:
      return element_bytes(static_cast<uint8_t>(value), 1, swapped);
    case GUF_I16:
      return element_bytes(static_cast<int16_t>(value), 1, swapped);
    case GUF_I64:
      return element_bytes(static_cast<int64_t>(value), 1, swapped);
    case GUF_F32:
      return element_bytes(static_cast<float>(value), 1, swapped);
    case GUF_C64:
      return element_bytes(static_cast<float>(value), 2, swapped);
    case GUF_C128:
      return element_bytes(value, 2, swapped);
    default:
      return element_bytes(value, 1, swapped);
  }
}

// Compares the results for many dtypes, byte orders, shapes and masks with the results of a loop
// that writes element by element, and the last output last.
TEST(OverlapOutputs, MaskedOutputsOfEveryTypeAreWrittenOneAfterTheOther) {
  const EveryStrategy every_strategy;
  std::mt19937 engine(11);
  const guf_dtype types[] = {GUF_U8, GUF_I16, GUF_I64, GUF_F32, GUF_F64, GUF_C64, GUF_C128};
  for (int round = 0; round < 3000; ++round) {
    const guf_dtype type = types[engine() % 7];
    const bool swapped = engine() % 3 == 0;
    const auto order = swapped ? static_cast<uint32_t>(GUF_TENSOR_SWAPPED) : 0U;
    const auto size = static_cast<int64_t>(number_bytes(type, 0, false).size());
    const std::vector<int64_t> shape = {1 + static_cast<int64_t>(engine() % 4),
                                        1 + static_cast<int64_t>(engine() % 40)};
    const int64_t row = shape[1] + static_cast<int64_t>(engine() % 3);
    std::vector<double> x(static_cast<size_t>(shape[0] * shape[1]));
    for (double &value : x) value = static_cast<double>(engine() % 12);
    std::vector<uint8_t> mask(engine() % 2 == 0 ? x.size() : static_cast<size_t>(shape[1]));
    for (uint8_t &bit : mask) bit = engine() % 2;
    const int64_t places[] = {0, static_cast<int64_t>(engine() % static_cast<uint64_t>(2 * row))};
    std::vector<uint8_t> buffer(static_cast<size_t>((shape[0] + 3) * row * size), 7);
    std::vector<uint8_t> expected = buffer;
    for (int output = 0; output < 2; ++output) {
      for (size_t k = 0; k < x.size(); ++k) {
        if (mask[k % mask.size()] == 0) continue;
        const auto at = static_cast<int64_t>(k);
        const int64_t place = places[output] + at / shape[1] * row + at % shape[1];
        const auto bytes = number_bytes(type, output == 0 ? 10 * x[k] : x[k] + 1, swapped);
        std::copy(bytes.begin(), bytes.end(), expected.begin() + place * size);
      }
    }
    Call call(ten_times_and_next());
    call.args.casting = GUF_CASTING_UNSAFE;
    call.in({GUF_F64, x.data(), shape, {}, 0});
    std::vector<const void *> at = {x.data()};
    for (const int64_t place : places) {
      at.push_back(buffer.data() + place * size);
      call.out({type, at.back(), shape, {row * size, size}, order});
    }
    const bool whole = mask.size() == x.size();
    call.where({GUF_BOOL, mask.data(), whole ? shape : std::vector<int64_t>{shape[1]}, {}, 0});
    at.push_back(mask.data());
    ASSERT_NO_FATAL_FAILURE(every_strategy.expect_each(call, at, buffer, expected))
        << "round " << round;
  }
}

}  // namespace
}  // namespace gufunc

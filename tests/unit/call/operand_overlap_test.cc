// SPDX-License-Identifier: Apache-2.0
// Tests overlapping operands: the results of calls and plans are as if the inputs had been copied
// first. Overlapping outputs, with and without a mask, are written in order, and each output
// overwrites the elements that it shares with earlier outputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

// Makes a plan of the call and launches it once. `places` are the addresses of the operands and of
// the mask.
inline void run_plan(Call &call, const std::vector<const void *> &places) {
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  uint64_t nbytes = 0;
  uint64_t alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan, &nbytes, &alignment, &call.error), GUF_OK);
  std::vector<char> buffer(nbytes + alignment);
  const uint64_t workspace =
      (reinterpret_cast<uint64_t>(buffer.data()) + alignment - 1) / alignment * alignment;
  std::vector<uint64_t> addresses;
  for (const void *place : places) addresses.push_back(reinterpret_cast<uint64_t>(place));
  EXPECT_EQ(guf_plan_launch(plan, nullptr, static_cast<int32_t>(addresses.size()), addresses.data(),
                            nbytes == 0 ? 0 : workspace, &call.error),
            GUF_OK)
      << call.error.message;
  guf_plan_release(plan, nullptr);
}

// Runs the same call directly, as a plan, and on a stream.
class EveryStrategy {
 public:
  EveryStrategy() {
    guf_device cpu = nullptr;
    EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu, nullptr), GUF_OK);
    EXPECT_EQ(guf_stream_create(cpu, 0, &stream_, nullptr), GUF_OK);
  }
  ~EveryStrategy() {
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(guf_stream_release(stream_, nullptr), GUF_OK);
  }
  EveryStrategy(const EveryStrategy &) = delete;
  EveryStrategy &operator=(const EveryStrategy &) = delete;

  // Runs the call directly, as a plan and on a stream. Each run starts with the content that the
  // buffer has on entry to this function, and must leave `expected` in the buffer. The caller must
  // not use the call afterwards, because its arguments still refer to the stream.
  template <class T>
  void expect_each(Call &call, const std::vector<const void *> &places, std::vector<T> &buffer,
                   const std::vector<T> &expected) const {
    const std::vector<T> was = buffer;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    ASSERT_EQ(buffer, expected);
    buffer = was;
    ASSERT_NO_FATAL_FAILURE(run_plan(call, places));
    ASSERT_EQ(buffer, expected) << "as a plan";
    buffer = was;
    call.args.options.stream = stream_;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    ASSERT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, nullptr), GUF_OK);
    ASSERT_EQ(buffer, expected) << "on a stream";
  }

 private:
  guf_stream stream_ = nullptr;
};

using testing::ElementsAre;

// Computes y[k] = sum over j of (j + k) x[j], for k in descending order. If x and y overlap, the
// loop reads elements that an earlier step of the same item has written, so the loop is not safe in
// place.
void sum_up(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    for (int64_t k = dims[1] - 1; k >= 0; --k) {
      int32_t total = 0;
      for (int64_t j = 0; j < dims[1]; ++j) {
        total += *reinterpret_cast<int32_t *>(args[0] + item * steps[0] + j * steps[2]) *
                 static_cast<int32_t>(j + k);
      }
      *reinterpret_cast<int32_t *>(args[1] + item * steps[1] + k * steps[3]) = total;
    }
  }
}

guf_ufunc mixing() {
  static const guf_ufunc ufunc =
      make_ufunc("mixing", "(n)->(n)", 0, 0, {}, sum_up, {GUF_I32, GUF_I32});
  return ufunc;
}

// Makes a random view of a buffer. No two elements of the view overlap.
template <class T>
View view_of_shape(std::mt19937 *engine, guf_dtype dtype, const std::vector<T> &buffer,
                   const std::vector<int64_t> &shape) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>((*engine)() % static_cast<uint64_t>(n));
  };
  View made = {dtype, nullptr, shape, {}, 0};
  int64_t unit = 1 + below(3);
  int64_t low = 0;
  int64_t high = 0;
  for (const int64_t extent : shape) {
    const int64_t stride = unit * (below(3) == 0 ? -1 : 1);
    made.strides.push_back(stride * static_cast<int64_t>(sizeof(T)));
    (stride < 0 ? low : high) += stride * (extent - 1);
    unit *= extent + below(2);
  }
  const int64_t left = static_cast<int64_t>(buffer.size()) - (high - low);
  made.data = buffer.data() + below(left) - low;
  return made;
}

View random_view(std::mt19937 *engine, const std::vector<int32_t> &buffer, int ndim) {
  std::vector<int64_t> shape(static_cast<size_t>(ndim));
  for (int64_t &extent : shape) extent = 1 + static_cast<int64_t>((*engine)() % 4);
  return view_of_shape(engine, GUF_I32, buffer, shape);
}

View stretched_copy(const View &like, std::mt19937 *engine, const std::vector<int32_t> &buffer) {
  View made = random_view(engine, buffer, static_cast<int>(like.shape.size()));
  // The view has the shape of `like`, except that some axes have extent 1. Its strides do not
  // depend on the strides of `like`, and its elements may overlap.
  for (size_t k = 0; k < like.shape.size(); ++k) {
    made.shape[k] = (*engine)() % 4 == 0 ? 1 : like.shape[k];
    made.strides[k] = 4 * (static_cast<int64_t>((*engine)() % 13) - 6);
  }
  made.data = buffer.data() + buffer.size() / 2 - 20 + (*engine)() % 40;
  return made;
}

int32_t element(const View &view, const std::vector<int64_t> &index, const int32_t *was,
                const int32_t *is) {
  const char *address = reinterpret_cast<const char *>(view.data);
  for (size_t k = 0; k < index.size(); ++k) {
    if (view.shape[k] != 1) address += index[k] * view.strides[k];
  }
  return was[reinterpret_cast<const int32_t *>(address) - is];
}

void walk(const std::vector<int64_t> &shape,
          const std::function<void(const std::vector<int64_t> &)> &visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (;;) {
    visit(index);
    size_t k = 0;
    while (k < shape.size() && ++index[k] == shape[k]) index[k++] = 0;
    if (k == shape.size()) return;
  }
}

// Returns the expected content of the buffer after out = a - b, which is computed from the values
// that a and b have before the call.
std::vector<int32_t> expected_of(const View &out, const View &a, const View &b,
                                 const std::vector<int32_t> &was) {
  std::vector<int32_t> result = was;
  walk(out.shape, [&](const std::vector<int64_t> &index) {
    const char *address = reinterpret_cast<const char *>(out.data);
    for (size_t k = 0; k < index.size(); ++k) address += index[k] * out.strides[k];
    const int32_t left = element(a, index, was.data(), was.data());
    const int32_t right = element(b, index, was.data(), was.data());
    result[static_cast<size_t>(reinterpret_cast<const int32_t *>(address) - was.data())] =
        left - right;
  });
  return result;
}

TEST(OverlapCall, ElementwiseIsAsIfInputsWereCopied) {
  const EveryStrategy every_strategy;
  std::mt19937 engine(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<int32_t> buffer(400);
    for (size_t k = 0; k < buffer.size(); ++k) buffer[k] = static_cast<int32_t>(k * k % 1009);
    const int ndim = static_cast<int>(engine() % 4);
    const View out = random_view(&engine, buffer, ndim);
    const View a = engine() % 4 == 0 ? out : stretched_copy(out, &engine, buffer);
    const View b = engine() % 4 == 0 ? out : stretched_copy(out, &engine, buffer);
    const std::vector<int32_t> was = buffer;
    const std::vector<int32_t> expected = [&] {
      View wout = out, wa = a, wb = b;
      for (View *v : {&wout, &wa, &wb})
        v->data = was.data() + (static_cast<const int32_t *>(v->data) - buffer.data());
      return expected_of(wout, wa, wb, was);
    }();
    Call call("subtract");
    call.in(a).in(b).out(out);
    ASSERT_NO_FATAL_FAILURE(
        every_strategy.expect_each(call, {a.data, b.data, out.data}, buffer, expected))
        << "round " << round;
  }
}

TEST(OverlapCall, GufuncsReadACopy) {
  std::mt19937 engine(8);
  for (int round = 0; round < 5000; ++round) {
    std::vector<int32_t> buffer(200);
    for (size_t k = 0; k < buffer.size(); ++k) buffer[k] = static_cast<int32_t>(k * k % 101);
    const View out = random_view(&engine, buffer, 2);
    View in = engine() % 3 == 0 ? out : stretched_copy(out, &engine, buffer);
    in.shape = out.shape;  // core dimensions are not broadcast
    Call apart(mixing());
    std::vector<int32_t> source(static_cast<size_t>(out.shape[0] * out.shape[1]));
    size_t place = 0;
    for (int64_t i = 0; i < out.shape[0]; ++i) {
      for (int64_t j = 0; j < out.shape[1]; ++j) {
        source[place++] = *reinterpret_cast<const int32_t *>(static_cast<const char *>(in.data) +
                                                             i * in.strides[0] + j * in.strides[1]);
      }
    }
    std::vector<int32_t> result(source.size());
    apart.in({GUF_I32, source.data(), out.shape, {}, 0})
        .out({GUF_I32, result.data(), out.shape, {}, 0});
    ASSERT_EQ(apart.run(), GUF_OK) << apart.error.message;

    Call call(mixing());
    call.in(in).out(out);
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    place = 0;
    for (int64_t i = 0; i < out.shape[0]; ++i) {
      for (int64_t j = 0; j < out.shape[1]; ++j) {
        ASSERT_EQ(*reinterpret_cast<const int32_t *>(static_cast<const char *>(out.data) +
                                                     i * out.strides[0] + j * out.strides[1]),
                  result[place++])
            << "round " << round;
      }
    }
  }
  guf_poll(0, nullptr, nullptr);
}

// Output element k is in the same byte as mask element k + 1. The result for element 0 changes mask
// element 1 from false to true, but output element 1 must not be computed.
TEST(OverlapCall, MaskThatIsOverwrittenIsReadFirst) {
  std::vector<uint8_t> bytes = {1, 0, 0, 0, 1, 0};
  const std::vector<uint8_t> x(5);
  Call call("logical_not");
  call.in(view(GUF_BOOL, x))
      .out({GUF_BOOL, bytes.data() + 1, {5}, {}, 0})
      .where({GUF_BOOL, bytes.data(), {5}, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(bytes, ElementsAre(1, 1, 0, 0, 1, 1));
}

// Returns either one long dimension, which can be longer than the 256 elements that the cpu backend
// converts at a time, or one to three short dimensions.
std::vector<int64_t> masked_shape(std::mt19937 *engine) {
  if ((*engine)() % 3 == 0) return {200 + static_cast<int64_t>((*engine)() % 700)};
  std::vector<int64_t> shape(1 + (*engine)() % 3);
  for (int64_t &extent : shape) extent = 1 + static_cast<int64_t>((*engine)() % 9);
  return shape;
}

// Returns the position in the buffer of each element of the view.
std::vector<size_t> places_of(const View &view, const std::vector<uint8_t> &buffer) {
  std::vector<size_t> places;
  walk(view.shape, [&](const std::vector<int64_t> &index) {
    const auto *place = static_cast<const uint8_t *>(view.data);
    for (size_t k = 0; k < index.size(); ++k) place += index[k] * view.strides[k];
    places.push_back(static_cast<size_t>(place - buffer.data()));
  });
  return places;
}

TEST(OverlapCall, MaskedIsAsIfTheMaskWereCopied) {
  const EveryStrategy every_strategy;
  std::mt19937 engine(9);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> buffer(3000);
    for (uint8_t &byte : buffer) byte = engine() % 2;
    const std::vector<uint8_t> was = buffer;
    const std::vector<int64_t> shape = masked_shape(&engine);
    // The results of this function are bools, so an output of a different dtype needs a cast.
    const guf_dtype type = engine() % 3 == 0 ? guf_dtype{GUF_U8} : guf_dtype{GUF_BOOL};
    const View out = view_of_shape(&engine, type, buffer, shape);
    View x = engine() % 3 == 0 ? out : view_of_shape(&engine, GUF_BOOL, buffer, shape);
    View mask = engine() % 5 == 0 ? out : view_of_shape(&engine, GUF_BOOL, buffer, shape);
    x.dtype = mask.dtype = GUF_BOOL;
    if (engine() % 5 == 0) mask.strides[engine() % shape.size()] = 0;
    std::vector<uint8_t> expected = was;
    const std::vector<size_t> from = places_of(x, buffer), to = places_of(out, buffer),
                              bits = places_of(mask, buffer);
    for (size_t k = 0; k < to.size(); ++k) {
      if (was[bits[k]] != 0) expected[to[k]] = was[from[k]] == 0;
    }
    Call call("logical_not");
    call.in(x).out(out).where(mask);
    ASSERT_NO_FATAL_FAILURE(
        every_strategy.expect_each(call, {x.data, out.data, mask.data}, buffer, expected))
        << "round " << round;
  }
}

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

TEST(OverlapOutputs, OutputsInTheSameMemoryHaveTheValuesOfTheLast) {
  std::vector<double> y(3);
  Call call(ten_times_and_next());
  call.in(view(GUF_F64, kThree)).out(view(GUF_F64, y)).out(view(GUF_F64, y));
  EveryStrategy().expect_each(call, {kThree.data(), y.data(), y.data()}, y, {2, 3, 4});
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

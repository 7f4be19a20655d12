// SPDX-License-Identifier: Apache-2.0
// Tests overlapping operands: the results of calls and plans are as if the inputs had been copied
// first.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <random>

#include "tests/unit/call/every_strategy.h"

namespace gufunc {
namespace {

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
    // The results of this function are bools, so an output of another dtype needs a cast.
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

}  // namespace
}  // namespace gufunc

// SPDX-License-Identifier: Apache-2.0
// Provides arrays of any shape between inaccessible pages, and access to their elements. Provides
// functions that run one call directly, as a plan or in chunks, and functions that check the
// reports of guf_resolve and guf_explain for the call.
#ifndef GUFUNC_TESTS_UNIT_METHOD_GUARDED_ARRAYS_H
#define GUFUNC_TESTS_UNIT_METHOD_GUARDED_ARRAYS_H

#include <gtest/gtest.h>
#include <gufunc/gufunc.h>
#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/requests.h"

namespace gufunc {

using Shape = std::vector<int64_t>;

inline int64_t count_of(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}
inline bool is_empty(const Shape &shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

// Limits the number of elements to 64 by changing extents of 2 to 1. A shape with an extent of 0
// has no elements, and is returned unchanged.
inline Shape bounded(Shape shape) {
  if (is_empty(shape)) return shape;
  int64_t count = 1;
  for (int64_t &extent : shape) {
    if (count * extent > 64) extent = 1;
    count *= extent;
  }
  return shape;
}

// Returns shapes with extents 0, 1 and 2, at most 64 axes and at most 64 elements. Returns all
// shapes of up to `all` axes, and a random selection for every larger number of axes.
inline std::vector<Shape> shapes_of_small_extents(size_t all, int random, uint32_t seed) {
  std::vector<Shape> shapes = {{}};
  for (size_t first = 0; shapes[first].size() < all; ++first) {
    for (const int64_t extent : {0, 1, 2}) {
      Shape longer = shapes[first];
      longer.push_back(extent);
      shapes.push_back(longer);
    }
  }
  std::mt19937 bits(seed);
  for (size_t ndim = all + 1; ndim <= GUF_MAX_NDIM; ++ndim) {
    shapes.emplace_back(ndim, 0);
    shapes.emplace_back(ndim, 1);
    for (int k = 0; k < random; ++k) {
      // An empty shape has at most 58 axes of extent 2, because the library rejects an array if the
      // product of its nonzero extents overflows.
      const bool empty = k % 4 != 3;
      Shape shape(ndim);
      const auto share = static_cast<uint32_t>(1 + k % 3);
      int64_t most = empty ? 58 : 6;
      for (int64_t &extent : shape) {
        extent = bits() % 4 < share ? (empty ? 0 : 1) : static_cast<int64_t>(1 + bits() % 2);
        if (extent == 2 && most-- <= 0) extent = 1;
      }
      if (empty) shape[bits() % ndim] = 0;
      shapes.push_back(shape);
    }
  }
  return shapes;
}

// One accessible page between two inaccessible pages.
class GuardedPage {
 public:
  GuardedPage() : page_(take()) {}
  GuardedPage(const GuardedPage &) = delete;
  GuardedPage &operator=(const GuardedPage &) = delete;
  ~GuardedPage() { unused().push_back(page_); }

  // Returns `nbytes` of memory at the start or at the end of the page. Fills the page with a fixed
  // byte.
  char *place(size_t nbytes, bool at_end) {
    std::memset(page_, kFiller, kSize);
    return at_end ? page_ + kSize - nbytes : page_;
  }
  // Returns whether the page is unchanged except for the `nbytes` at `place`.
  bool untouched_outside(const char *place, size_t nbytes) const {
    for (const char *at = page_; at != page_ + kSize; ++at) {
      if (*at != kFiller && (at < place || at >= place + nbytes)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kSize = 4096;
  static constexpr char kFiller = 0x5A;

  static std::vector<char *> &unused() {
    static std::vector<char *> pages;
    return pages;
  }
  static char *take() {
    if (unused().empty()) {
      void *const pages = mmap(nullptr, 3 * kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      char *const page = static_cast<char *>(pages) + kSize;
      if (mprotect(page, kSize, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
      unused().push_back(page);
    }
    char *const page = unused().back();
    unused().pop_back();
    return page;
  }

  char *page_;
};

// An operand in its own guarded page.
template <class T>
class GuardedArray {
 public:
  // Lays out the axes in random order, some of them reversed. A stride that has no effect may have
  // any value.
  GuardedArray(guf_dtype dtype, Shape shape, std::mt19937 &bits)
      : shape_(std::move(shape)), strides_(shape_.size()) {
    constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
    constexpr int64_t kWild[] = {0, 8, -8, 1, 24, int64_t{1} << 40, kLowest, -(kLowest + 1)};
    // For an axis with an extent above 1, the last two strides of kWild are excluded, because they
    // are too large.
    constexpr size_t kBounded = std::size(kWild) - 2;
    const bool empty = is_empty(shape_);
    std::vector<size_t> order(shape_.size());
    std::iota(order.begin(), order.end(), 0);
    if (bits() % 2 != 0) std::shuffle(order.begin(), order.end(), bits);
    const bool plain = bits() % 3 == 0;
    int64_t stride = sizeof(T), first = 0;
    for (size_t k = order.size(); k-- > 0;) {
      const size_t axis = order[k];
      if (empty || shape_[axis] == 1) {
        const size_t choices = shape_[axis] > 1 ? kBounded : std::size(kWild);
        strides_[axis] = plain ? stride : kWild[bits() % choices];
        continue;
      }
      strides_[axis] = stride;
      if (!plain && bits() % 4 == 0) {
        strides_[axis] = -stride;
        first += stride * (shape_[axis] - 1);
      }
      stride *= shape_[axis];
    }
    count_ = empty ? 0 : count_of(shape_);
    begin_ = page_.place(static_cast<size_t>(count_) * sizeof(T), bits() % 2 != 0);
    tensor_.struct_size = sizeof tensor_;
    tensor_.dtype = dtype;
    tensor_.ndim = static_cast<int32_t>(shape_.size());
    tensor_.address = reinterpret_cast<uint64_t>(begin_) + static_cast<uint64_t>(first);
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.data();
    operand_.kind = GUF_OPERAND_TENSOR;
    operand_.tensor = &tensor_;
  }
  GuardedArray(const GuardedArray &) = delete;
  GuardedArray &operator=(const GuardedArray &) = delete;

  const guf_operand &operand() const { return operand_; }
  const Shape &shape() const { return shape_; }
  int64_t count() const { return count_; }
  bool untouched_outside() const {
    return page_.untouched_outside(begin_, static_cast<size_t>(count_) * sizeof(T));
  }

  // Returns element `number` in C order.
  T at(int64_t number) const {
    T value;
    std::memcpy(&value, element(number), sizeof value);
    return value;
  }
  void set(int64_t number, T value) { std::memcpy(element(number), &value, sizeof value); }
  template <class Value>
  void fill(Value value_of) {
    for (int64_t n = 0; n < count_; ++n) set(n, static_cast<T>(value_of(n)));
  }

 private:
  char *element(int64_t number) const {
    uint64_t address = tensor_.address;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      const auto index = static_cast<uint64_t>(number % shape_[axis]);
      address += index * static_cast<uint64_t>(strides_[axis]);
      number /= shape_[axis];
    }
    return reinterpret_cast<char *>(address);
  }

  Shape shape_, strides_;
  GuardedPage page_;
  char *begin_ = nullptr;
  int64_t count_ = 0;
  guf_tensor tensor_ = {};
  guf_operand operand_ = {};
};

// Broadcasts an array of shape `own` to `shape`. Returns the element of the array that appears as
// element `number` of the result. Both elements are numbered in C order.
inline int64_t stretched(int64_t number, const Shape &shape, const Shape &own) {
  int64_t place = 0, step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t index = number % shape[axis];
    number /= shape[axis];
    if (axis + own.size() < shape.size()) continue;
    const int64_t extent = own[axis + own.size() - shape.size()];
    if (extent != 1) place += index * step;
    step *= extent;
  }
  return place;
}

using CallFunction = guf_status (*)(guf_ufunc, guf_call_args *, guf_error *);

// Runs the call as a plan whose workspace ends at an inaccessible page.
inline guf_status run_plan(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  guf_plan plan = nullptr;
  uint64_t nbytes = 0, alignment = 0;
  guf_status status = guf_plan_create(ufunc, args, &plan, error);
  if (status != GUF_OK) return status;
  status = guf_plan_workspace(plan, &nbytes, &alignment, error);
  GuardedPage page;
  EXPECT_LE(nbytes, 4096U);
  std::vector<uint64_t> addresses;
  for (int32_t i = 0; i < args->ninputs; ++i) addresses.push_back(args->inputs[i].tensor->address);
  for (int32_t i = 0; i < args->noutputs; ++i)
    addresses.push_back(args->outputs[i].tensor->address);
  if (args->where != nullptr) addresses.push_back(args->where->tensor->address);
  if (status == GUF_OK) {
    const auto workspace = reinterpret_cast<uint64_t>(page.place(nbytes, true));
    status = guf_plan_launch(plan, nullptr, static_cast<int32_t>(addresses.size()),
                             addresses.data(), nbytes == 0 ? 0 : workspace, error);
  }
  guf_plan_release(plan, nullptr);
  return status;
}

// Runs the call in chunks of two float64 elements. Cancels the call after the first chunk and then
// resumes it.
inline guf_status run_in_chunks(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  bool stop = true;
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = 16;
  options.user = &stop;
  options.progress = [](void *user, int64_t done, int64_t items) {
    EXPECT_TRUE(0 <= done && done <= items) << done << " of " << items;
    return int32_t{std::exchange(*static_cast<bool *>(user), false)};
  };
  guf_status status = guf_call_chunked(ufunc, args, &options, &options.first_item, error);
  if (status == GUF_E_CANCELLED)
    status = guf_call_chunked(ufunc, args, &options, &options.first_item, error);
  return status;
}

// Expects `resolve` and `explain` to succeed, and `resolve` to report `shape` for the first output.
template <class Args>
void expect_resolution(guf_status (*resolve)(guf_ufunc, const Args *, guf_resolution *,
                                             guf_error *),
                       guf_status (*explain)(guf_ufunc, const Args *, char *, uint64_t *,
                                             guf_error *),
                       guf_ufunc ufunc, const Args &args, const Shape &shape) {
  guf_error error = fresh_error();
  guf_resolution found;
  found.struct_size = sizeof found;
  ASSERT_EQ(resolve(ufunc, &args, &found, &error), GUF_OK) << error.message;
  const int64_t *const extents = found.output_shapes[0];
  ASSERT_EQ(Shape(extents, extents + found.output_ndims[0]), shape);
  char text[8192];
  uint64_t length = sizeof text;
  ASSERT_EQ(explain(ufunc, &args, text, &length, &error), GUF_OK) << error.message;
  EXPECT_EQ(std::strlen(text) + 1, length);
}

inline guf_call_args make_args(std::vector<guf_operand> *inputs, std::vector<guf_operand> *outputs,
                               const guf_operand *where) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs->data();
  args.ninputs = static_cast<int32_t>(inputs->size());
  args.outputs = outputs->data();
  args.noutputs = static_cast<int32_t>(outputs->size());
  args.where = where;
  return args;
}

// Checks guf_resolve and guf_explain, and then makes the call. `shape` is the expected shape of the
// first output.
inline guf_status run(CallFunction function, guf_ufunc ufunc, std::vector<guf_operand> inputs,
                      std::vector<guf_operand> outputs, const guf_operand *where,
                      const Shape &shape, guf_error *error) {
  guf_call_args args = make_args(&inputs, &outputs, where);
  const bool outer = function == guf_outer;
  expect_resolution(outer ? requests::resolve_outer : requests::resolve_call,
                    outer ? requests::explain_outer : requests::explain_call, ufunc, args, shape);
  return function(ufunc, &args, error);
}

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_GUARDED_ARRAYS_H

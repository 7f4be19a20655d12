// SPDX-License-Identifier: Apache-2.0
// Makes each allocation of each function fail once, both allocations with `new` and allocations of
// array memory. The function must return GUF_E_NO_MEMORY or succeed. If it fails, it must leave
// outputs unchanged and leak no memory.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "array_fixture.h"
#include "tests/support/requests.h"

namespace {

// Number of allocations until one fails. If the number is 0 or negative, no allocation fails.
std::atomic<long> left{-1};
std::atomic<long> blocks{0};  // number of blocks that are allocated and not freed

bool fails_now() {
  long seen = left.load();
  while (seen > 0 && !left.compare_exchange_weak(seen, seen - 1)) {
  }
  return seen == 1;
}

void *allocate(std::size_t size, std::size_t alignment) {
  if (fails_now()) return nullptr;
  void *place = nullptr;
  if (posix_memalign(&place, alignment < 16 ? 16 : alignment, size == 0 ? 1 : size) != 0) {
    return nullptr;
  }
  ++blocks;
  return place;
}

void *allocate_or_throw(std::size_t size, std::size_t alignment) {
  void *const place = allocate(size, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

void release_block(void *place) noexcept {
  if (place == nullptr) return;
  --blocks;
  std::free(place);
}

}  // namespace

void *operator new(std::size_t size) {
  return allocate_or_throw(size, 16);
}
void *operator new[](std::size_t size) {
  return allocate_or_throw(size, 16);
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return allocate(size, 16);
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
  return allocate(size, 16);
}
void *operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void *place) noexcept {
  release_block(place);
}
void operator delete[](void *place) noexcept {
  release_block(place);
}
void operator delete(void *place, std::size_t) noexcept {
  release_block(place);
}
void operator delete[](void *place, std::size_t) noexcept {
  release_block(place);
}
void operator delete(void *place, const std::nothrow_t &) noexcept {
  release_block(place);
}
void operator delete[](void *place, const std::nothrow_t &) noexcept {
  release_block(place);
}
void operator delete(void *place, std::align_val_t) noexcept {
  release_block(place);
}
void operator delete(void *place, std::size_t, std::align_val_t) noexcept {
  release_block(place);
}

namespace {

int released = 0;
void count_release(void *, uint64_t) {
  ++released;
}

class OutOfMemory : public ArrayTest {
 protected:
  OutOfMemory() : source_(wrap(data_, GUF_F64, {2, 3})), target_(alloc(GUF_F64, {2, 3})) {
    expect(guf_stream_create(cpu_, 0, &stream_, &error_));
  }
  ~OutOfMemory() override { guf_stream_release(stream_, nullptr); }

  // Runs `call` repeatedly. The first allocation fails in the first run, the second in the second
  // run, and so on. Stops when `call` succeeds without a failed allocation.
  void starve(const char *name, const std::function<guf_status(guf_array *)> &call) {
    long failures = 0;
    for (long k = 1; k < 10000; ++k) {
      guf_array made = nullptr;
      left = k;
      const guf_status status = call(&made);
      const bool reached = left.load() <= 0;
      left = -1;
      if (status == GUF_OK) {
        guf_array_release(made, nullptr);
      } else {
        ++failures;
        EXPECT_EQ(status, GUF_E_NO_MEMORY) << name << ", allocation " << k;
        EXPECT_EQ(made, nullptr) << name << ", allocation " << k;
      }
      guf_stream_synchronize(stream_, UINT64_MAX, nullptr);
      guf_poll(0, nullptr, nullptr);
      if (!reached && status == GUF_OK) break;
    }
    repeat_and_count(name, call);
    RecordProperty(name, static_cast<int>(failures));
    total_failures_ += failures;
  }

  // Calls the function several times. The number of allocated blocks must not grow.
  void repeat_and_count(const char *name, const std::function<guf_status(guf_array *)> &call) {
    const long before = blocks;
    for (int i = 0; i < 5; ++i) {
      guf_array made = nullptr;
      EXPECT_EQ(call(&made), GUF_OK) << name;
      guf_array_release(made, nullptr);
      guf_stream_synchronize(stream_, UINT64_MAX, nullptr);
      guf_poll(0, nullptr, nullptr);
    }
    EXPECT_LE(blocks - before, 0) << name;
  }

  double data_[6] = {1, 2, 3, 4, 5, 6};
  guf_array source_;
  guf_array target_;
  guf_stream stream_ = nullptr;
  long total_failures_ = 0;
};

TEST_F(OutOfMemory, ArraysAndTheirViews) {
  const int64_t shape[] = {1, 2, 1, 3, 1};  // has more dimensions than an array stores inline
  const int64_t flat[] = {6};
  starve("alloc", [&](guf_array *out) {
    return guf_array_alloc(cpu_, GUF_F32, 5, shape, nullptr, GUF_ORDER_F, out, nullptr);
  });
  starve("reshape", [&](guf_array *out) {
    return guf_array_reshape(source_, 5, shape, GUF_ORDER_C, out, nullptr);
  });
  starve("transpose",
         [&](guf_array *out) { return guf_array_transpose(source_, 0, nullptr, out, nullptr); });
  starve("broadcast_to", [&](guf_array *out) {
    const int64_t wide[] = {7, 1, 5, 2, 3};
    return guf_array_broadcast_to(source_, 5, wide, out, nullptr);
  });
  starve("wrap", [&](guf_array *out) {
    guf_tensor tensor = {};
    tensor.struct_size = sizeof tensor;
    tensor.dtype = GUF_F64;
    tensor.ndim = 1;
    tensor.address = reinterpret_cast<uint64_t>(data_);
    tensor.shape = flat;
    const int before = released;
    const guf_status status = guf_array_wrap(&tensor, count_release, nullptr, 0, out, nullptr);
    guf_poll(0, nullptr, nullptr);
    EXPECT_TRUE(status == GUF_OK || released == before);
    return status;
  });
  EXPECT_GT(total_failures_, 10);
}

TEST_F(OutOfMemory, CopiesOfAllKinds) {
  const auto no_array = [](guf_status status) { return status; };
  starve("copy", [&](guf_array *out) {
    return guf_array_copy(source_, GUF_ORDER_F, nullptr, out, nullptr);
  });
  starve("astype", [&](guf_array *out) {
    return guf_array_astype(source_, GUF_F32, 0, GUF_ORDER_C, nullptr, out, nullptr);
  });
  starve("to_device",
         [&](guf_array *out) { return guf_array_to_device(source_, cpu_, nullptr, out, nullptr); });
  starve("copy on a stream", [&](guf_array *out) {
    return guf_array_copy(source_, GUF_ORDER_F, stream_, out, nullptr);
  });
  const guf_operand value = gufunc::weak_float_of(2);
  starve("fill on a stream",
         [&](guf_array *) { return no_array(guf_array_fill(target_, &value, stream_, nullptr)); });
  guf_array transposed = nullptr;
  const int64_t back[] = {INT64_MIN, INT64_MIN};
  const int64_t steps[] = {-1, -1};
  expect(guf_array_slice(target_, 2, back, back, steps, &transposed, &error_));
  keep(transposed);
  starve("assign that overlaps", [&](guf_array *) {
    return no_array(guf_array_assign(target_, transposed, 0, stream_, nullptr));
  });
  char text[512];
  starve("print", [&](guf_array *) {
    uint64_t length = sizeof text;
    return no_array(guf_array_print(source_, text, &length, nullptr));
  });
  EXPECT_GT(total_failures_, 15);
}

// Computes the largest element of a row. This loop is the block function of a user-defined
// reduction with an accumulator of one value; the function `maximum` merges two accumulators.
void greatest(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    double all = *reinterpret_cast<double *>(args[0] + item * steps[0]);
    for (int64_t i = 1; i < dims[1]; ++i)
      all = std::max(all, *reinterpret_cast<double *>(args[0] + item * steps[0] + i * steps[2]));
    *reinterpret_cast<double *>(args[1] + item * steps[1]) = all;
  }
}

// Creates a ufunc with one float64 input, one float64 output and one loop.
guf_ufunc make_unary(const char *name, const char *signature, guf_loop_numpy run, void *user) {
  guf_ufunc made = nullptr;
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.name = name;
  desc.signature = signature;
  if (signature == nullptr) desc.nin = desc.nout = 1;
  const guf_dtype types[] = {GUF_F64, GUF_F64};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.flags = GUF_LOOP_ANY_THREAD;
  loop.ntypes = 2;
  loop.types = types;
  loop.numpy = run;
  loop.user = user;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &made, nullptr), GUF_OK);
  EXPECT_EQ(guf_ufunc_add_loop(made, &loop, nullptr), GUF_OK);
  return made;
}

guf_ufunc make_greatest() {
  const guf_ufunc block_function = make_unary("starved_greatest", "(n)->()", greatest, nullptr);
  guf_ufunc merge = nullptr;
  guf_reduction_desc parts = {};
  parts.struct_size = sizeof parts;
  EXPECT_EQ(guf_ufunc_find(nullptr, "maximum", &merge, nullptr), GUF_OK);
  parts.merge = merge;
  EXPECT_EQ(guf_ufunc_set_reduction(block_function, &parts, nullptr), GUF_OK);
  guf_ufunc_release(merge, nullptr);
  return block_function;
}

guf_status reduce(guf_ufunc ufunc, guf_array source, guf_stream stream, guf_array *out) {
  const guf_operand input = gufunc::operand_of(source);
  guf_operand output = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &input;
  args.output = &output;
  args.naxis = GUF_ALL_AXES;
  args.options.stream = stream;
  const guf_status status = guf_reduce(ufunc, &args, nullptr);
  *out = output.array;
  return status;
}

TEST_F(OutOfMemory, Methods) {
  guf_ufunc add = nullptr;
  ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, nullptr), GUF_OK);
  const guf_ufunc own = make_greatest();
  for (const guf_stream stream : {guf_stream{}, stream_}) {
    starve("reduce", [&](guf_array *out) { return reduce(add, source_, stream, out); });
    starve("reduce with a state",
           [&](guf_array *out) { return reduce(own, source_, stream, out); });
    starve("accumulate", [&](guf_array *out) {
      const guf_operand input = gufunc::operand_of(source_);
      guf_operand output = {};
      guf_accumulate_args args = {};
      args.struct_size = sizeof args;
      args.input = &input;
      args.output = &output;
      args.options.stream = stream;
      const guf_status status = guf_accumulate(add, &args, nullptr);
      *out = output.array;
      return status;
    });
    starve("at", [&](guf_array *) {
      guf_operand array = gufunc::operand_of(target_);
      const guf_operand index = gufunc::weak_int_of(0);
      const guf_operand one = gufunc::weak_float_of(1);
      guf_at_args args = {};
      args.struct_size = sizeof args;
      args.array = &array;
      args.indices = &index;
      args.nindices = 1;
      args.operand = &one;
      args.options.stream = stream;
      return guf_at(add, &args, nullptr);
    });
  }
  EXPECT_GT(total_failures_, 10);
  guf_ufunc_release(own, nullptr);
  guf_ufunc_release(add, nullptr);
}

// Records the order of two events: a slow loop reads an array, and the array is released.
struct SlowRead {
  std::atomic<bool> finished{false};
  bool released = false, released_early = false;

  static void loop(char **args, const int64_t *, const int64_t *, void *user) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    *reinterpret_cast<double *>(args[1]) = *reinterpret_cast<double *>(args[0]);
    static_cast<SlowRead *>(user)->finished = true;
  }
  static void release(void *user, uint64_t) {
    auto *const read = static_cast<SlowRead *>(user);
    read->released = true;
    read->released_early = !read->finished;
  }
};

// If there is no memory to record the queued work, the call waits for the stream.
TEST_F(OutOfMemory, ABusyStreamKeepsItsArrays) {
  SlowRead read;
  const guf_ufunc slow = make_unary("starved_slow", nullptr, SlowRead::loop, &read);
  double from = 5, to = 0;
  gufunc::Operands operands;
  const guf_tensor *const tensor = operands.tensor({GUF_F64, &from, {1}, {}, 0})->tensor;
  const guf_array target = wrap(&to, GUF_F64, {1});
  long failures = 0, queued = 0;
  for (long k = 1; k < 10000; ++k) {
    guf_array source = nullptr;
    expect(guf_array_wrap(tensor, SlowRead::release, &read, 0, &source, &error_));
    const guf_operand input = gufunc::operand_of(source);
    guf_operand output = gufunc::operand_of(target);
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = &input;
    args.outputs = &output;
    args.ninputs = args.noutputs = 1;
    args.options.stream = stream_;
    read.finished = read.released = read.released_early = false;
    left = k;
    const guf_status status = guf_call(slow, &args, nullptr);
    guf_array_release(source, nullptr);
    const bool reached = left.load() <= 0;
    left = -1;
    guf_poll(0, nullptr, nullptr);
    if (status == GUF_OK) {
      EXPECT_TRUE(read.finished || !read.released) << "allocation " << k;
      queued += read.released ? 0 : 1;
    }
    failures += reached ? 1 : 0;
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
    guf_poll(0, nullptr, nullptr);
    EXPECT_TRUE(read.released) << "allocation " << k;
    if (status == GUF_OK) {
      EXPECT_FALSE(read.released_early) << "allocation " << k;
    }
    if (!reached && status == GUF_OK) break;
  }
  EXPECT_GE(failures, 2);
  EXPECT_GE(queued, 1);  // the last call is queued
  guf_ufunc_release(slow, nullptr);
}

TEST_F(OutOfMemory, StreamsEventsAndContexts) {
  starve("stream", [&](guf_array *) {
    guf_stream made = nullptr;
    const guf_status status = guf_stream_create(cpu_, 0, &made, nullptr);
    guf_stream_release(made, nullptr);
    return status;
  });
  starve("event", [&](guf_array *) {
    guf_event made = nullptr;
    const guf_status status = guf_event_create(cpu_, 0, &made, nullptr);
    guf_event_release(made, nullptr);
    return status;
  });
  starve("context", [&](guf_array *) {
    guf_context made = nullptr;
    const guf_status status = guf_context_create(0, &made, nullptr);
    guf_context_release(made, nullptr);
    return status;
  });
  EXPECT_GE(total_failures_, 3);
}

// The library frees released objects when it makes new objects. guf_explain makes no new objects,
// so repeated calls would accumulate memory if guf_explain left released objects behind.
TEST_F(OutOfMemory, TextsKeepNothing) {
  guf_ufunc add = nullptr;
  expect(guf_ufunc_find(nullptr, "add", &add, &error_));
  const guf_operand inputs[] = {gufunc::weak_float_of(1), gufunc::weak_float_of(2)};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  char text[4096];
  const auto explain = [&](auto function) {
    for (int i = 0; i < 100; ++i) {
      uint64_t length = sizeof text;
      EXPECT_EQ(function(add, &args, text, &length, nullptr), GUF_OK);
    }
  };
  explain(requests::explain_call);
  const long before = blocks;
  explain(requests::explain_call);
  explain(requests::explain_outer);
  EXPECT_LE(blocks - before, 10);  // the last call may keep a few blocks
  guf_ufunc_release(add, nullptr);
}

}  // namespace

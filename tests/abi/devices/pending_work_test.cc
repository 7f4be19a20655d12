// SPDX-License-Identifier: Apache-2.0
// Tests arrays while queued work uses them.
#include <numeric>
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAreArray;

// Releases arrays as soon as the call that queued work with the arrays returns. The library must
// keep the arrays alive, whatever their role in the call is, on the default stream and on other
// streams.

// Each test runs its calls on `stream_` and on the default stream.
class PendingWork : public Devices {
 protected:
  static constexpr int64_t kSize = 600;
  std::vector<guf_stream> streams() { return {stream_, nullptr}; }
  guf_array bools(std::vector<uint8_t> values) {
    gufunc::Operands operands;
    const guf_tensor *const tensor = operands.tensor(gufunc::view(GUF_BOOL, values))->tensor;
    guf_array host = nullptr, moved = nullptr;
    EXPECT_EQ(guf_array_wrap(tensor, nullptr, nullptr, 0, &host, &error_), GUF_OK);
    EXPECT_EQ(guf_array_to_device(host, device_, nullptr, &moved, &error_), GUF_OK);
    guf_array_release(host, nullptr);
    return keep(moved);
  }
  guf_array indices(std::vector<int64_t> values) {
    const auto size = static_cast<int64_t>(values.size());
    guf_array host = nullptr;
    EXPECT_EQ(guf_array_alloc(nullptr, GUF_I64, 1, &size, nullptr, GUF_ORDER_C, &host, &error_),
              GUF_OK);
    guf_array_info info = {};
    info.struct_size = sizeof info;
    guf_array_get_info(host, &info, nullptr);
    std::copy(values.begin(), values.end(), reinterpret_cast<int64_t *>(info.address));
    return keep(host);
  }
  guf_array host_memory(int32_t kind, float value) {
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_alloc_host(device_, kind, GUF_F32, 1, &kSize, nullptr, GUF_ORDER_C, &made,
                                   &error_),
              GUF_OK)
        << error_.message;
    const guf_operand operand = scalar_of(value);
    EXPECT_EQ(guf_array_fill(made, &operand, nullptr, &error_), GUF_OK) << error_.message;
    return keep(made);
  }
  // Makes new arrays that reuse released memory as soon as the memory is free. Then opens the gate
  // and waits for the work.
  void finish(guf_stream stream, std::unique_ptr<Gate> *gate) {
    for (const int64_t size : {kSize, kSize / 4, int64_t{1}}) reuse_memory(device_, size);
    // Managed memory is not tested, because the driver waits for the device before it frees managed
    // memory.
    for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED}) {
      for (int i = 0; i < 3; ++i) host_memory(kind, 55);
    }
    gate->reset();
    if (stream != nullptr) synchronize(stream);
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  }
  // Makes later work on the default stream wait for the work of `stream`.
  void order_default_behind(guf_stream stream) {
    guf_dlpack *tensor = nullptr;
    guf_array imported = nullptr;
    ASSERT_EQ(guf_array_to_dlpack(filled(device_, 1, 0), nullptr, 0, &tensor, &error_), GUF_OK);
    ASSERT_EQ(guf_array_from_dlpack(tensor, stream, 0, &imported, &error_), GUF_OK);
    keep(imported);
  }
  std::unique_ptr<Gate> hold(guf_stream stream) {
    return stream == nullptr ? nullptr : std::make_unique<Gate>(backend_, stream);
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

TEST_P(PendingWork, OperandsAndMasks) {
  for (const guf_stream stream : streams()) {
    const guf_array x = filled(device_, kSize, 3), out = filled(device_, kSize, 1);
    std::vector<uint8_t> pattern(kSize);
    for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = i % 3 == 0;
    const guf_array mask = bools(pattern), one = floats(device_, {10});
    guf_operand inputs[] = {operand_of(x), operand_of(one)}, to = operand_of(out),
                where = operand_of(mask);
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = inputs;
    args.outputs = &to;
    args.where = &where;
    args.options.stream = stream;
    std::unique_ptr<Gate> gate = hold(stream);
    ASSERT_EQ(guf_call(find("add"), &args, &error_), GUF_OK) << error_.message;
    for (const guf_array array : {x, one, mask}) let_go(array);
    finish(stream, &gate);
    std::vector<float> expected(kSize);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = i % 3 == 0 ? 13 : 1;
    EXPECT_THAT(values(out), ElementsAreArray(expected));
  }
}

TEST_P(PendingWork, ScalarsAndAllocatedOutputs) {
  for (const guf_stream stream : streams()) {
    const guf_array x = filled(device_, kSize, 3);
    std::unique_ptr<Gate> gate = hold(stream);
    const size_t before = arrays_.size();
    ASSERT_EQ(call("multiply", {operand_of(x), weak_int_of(4)}, {}, stream), GUF_OK)
        << error_.message;
    ASSERT_EQ(arrays_.size(), before + 1);
    const guf_array product = arrays_.back();
    ASSERT_EQ(call("add", {operand_of(product), scalar_of(0.5F)}, {}, stream), GUF_OK)
        << error_.message;
    const guf_array sum = arrays_.back();
    let_go(x);
    let_go(product);
    finish(stream, &gate);
    EXPECT_THAT(values(sum), Each(12.5F));
  }
}

// If operands overlap, the call makes copies before and after the kernel runs. The call must keep
// the memory of the copies until the queued work is complete.
TEST_P(PendingWork, CopiesForOverlap) {
  for (const guf_stream stream : streams()) {
    std::vector<float> numbers(kSize);
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    const guf_array x = floats(device_, numbers), head = [&] {
      guf_array made = nullptr;
      const int64_t start = 0, stop = kSize - 1, step = 1;
      EXPECT_EQ(guf_array_slice(x, 1, &start, &stop, &step, &made, &error_), GUF_OK);
      return keep(made);
    }();
    const guf_array tail = view(x, 1, 1);
    std::unique_ptr<Gate> gate = hold(stream);
    ASSERT_EQ(call("add", {operand_of(head), scalar_of(100)}, operand_of(tail), stream), GUF_OK)
        << error_.message;
    let_go(head);
    let_go(tail);
    finish(stream, &gate);
    std::vector<float> expected(kSize);
    for (size_t i = 1; i < expected.size(); ++i) expected[i] = static_cast<float>(i - 1) + 100;
    EXPECT_THAT(values(x), ElementsAreArray(expected));
  }
}

TEST_P(PendingWork, Methods) {
  for (const guf_stream stream : streams()) {
    const guf_array x = filled(device_, kSize, 2), total = filled(device_, 1, 0),
                    running = filled(device_, kSize, 0), parts = filled(device_, 2, 0),
                    counts = filled(device_, kSize, 0), table = filled(device_, 9, 0);
    const guf_array cuts = indices({0, kSize / 2}), places = indices({5, 5, 7}),
                    small = floats(device_, {1, 2, 3});
    const guf_ufunc add = find("add");
    const guf_operand in = operand_of(x), at = operand_of(places), cut = operand_of(cuts),
                      few = operand_of(small);
    guf_operand sum = {}, scan = operand_of(running), pieces = operand_of(parts), outer = {};
    guf_array shaped = nullptr;
    const int64_t three_by_three[] = {3, 3};
    ASSERT_EQ(guf_array_reshape(table, 2, three_by_three, GUF_ORDER_C, &shaped, &error_), GUF_OK);
    outer = operand_of(keep(shaped));
    const guf_array scalar = [&] {
      guf_array made = nullptr;
      EXPECT_EQ(guf_array_squeeze(total, 0, nullptr, &made, &error_), GUF_OK);
      return keep(made);
    }();
    sum = operand_of(scalar);
    // `reduceat` and `at` read their indices before they return, so they wait for the earlier work
    // of the stream. The test therefore calls them before the gate blocks the stream.
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = &in;
    args.output = &pieces;
    args.indices = &cut;
    args.options.stream = stream;
    ASSERT_EQ(guf_reduceat(add, &args, &error_), GUF_OK) << error_.message;
    const guf_operand target = operand_of(counts), one = scalar_of(1);
    guf_at_args at_args = {};
    at_args.struct_size = sizeof at_args;
    at_args.array = &target;
    at_args.indices = &at;
    at_args.nindices = 1;
    at_args.operand = &one;
    at_args.options.stream = stream;
    ASSERT_EQ(guf_at(add, &at_args, &error_), GUF_OK) << error_.message;
    std::unique_ptr<Gate> gate = hold(stream);
    ASSERT_EQ(reduce("add", in, sum, stream), GUF_OK) << error_.message;
    args.output = &scan;
    args.indices = nullptr;
    ASSERT_EQ(guf_accumulate(add, &args, &error_), GUF_OK) << error_.message;
    guf_operand pair[] = {few, few};
    guf_call_args call_args = {};
    call_args.struct_size = sizeof call_args;
    call_args.ninputs = 2;
    call_args.noutputs = 1;
    call_args.inputs = pair;
    call_args.outputs = &outer;
    call_args.options.stream = stream;
    ASSERT_EQ(guf_outer(add, &call_args, &error_), GUF_OK) << error_.message;
    for (const guf_array array : {x, cuts, places, small, shaped, scalar}) let_go(array);
    finish(stream, &gate);
    EXPECT_THAT(values(total), Each(2.0F * kSize));
    EXPECT_EQ(values(running)[kSize - 1], 2.0F * kSize);
    EXPECT_THAT(values(parts), Each(1.0F * kSize));
    EXPECT_EQ(values(counts)[5], 2.0F);
    EXPECT_EQ(values(counts)[7], 1.0F);
    EXPECT_THAT(values(table), ElementsAreArray({2, 3, 4, 3, 4, 5, 4, 5, 6}));
  }
}

// The reduction has a mask, an initial value and a result of a different dtype.
TEST_P(PendingWork, AReductionWithEverything) {
  for (const guf_stream stream : streams()) {
    std::vector<uint8_t> pattern(kSize);
    for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = i % 2 == 0;
    const guf_array x = filled(device_, kSize, 2), mask = bools(pattern),
                    out = empty(device_, {1}, GUF_F64);
    guf_array scalar = nullptr;
    EXPECT_EQ(guf_array_squeeze(out, 0, nullptr, &scalar, &error_), GUF_OK);
    const guf_operand in = operand_of(x), where = operand_of(mask), initial = scalar_of(1000);
    guf_operand to = operand_of(keep(scalar));
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    args.input = &in;
    args.output = &to;
    args.where = &where;
    args.initial = &initial;
    args.options.stream = stream;
    std::unique_ptr<Gate> gate = hold(stream);
    ASSERT_EQ(guf_reduce(find("add"), &args, &error_), GUF_OK) << error_.message;
    for (const guf_array array : {x, mask, scalar}) let_go(array);
    finish(stream, &gate);
    double result = 0;
    EXPECT_EQ(guf_array_copy_to_host(out, &result, 8, GUF_ORDER_C, nullptr, &error_), GUF_OK);
    EXPECT_EQ(result, 1000.0 + kSize);
  }
}

// Tests host memory that the device uses in place, and host memory that is copied on a stream.
TEST_P(PendingWork, HostMemory) {
  for (const guf_stream stream : streams()) {
    for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
      const guf_array here = host_memory(kind, 3), out = filled(device_, kSize, 0),
                      copied = filled(device_, kSize, 0);
      std::unique_ptr<Gate> gate = hold(stream);
      if (kind != GUF_HOST_PINNED) {
        ASSERT_EQ(call("add", {operand_of(here), scalar_of(1)}, operand_of(out), stream), GUF_OK)
            << error_.message;
      }
      ASSERT_EQ(guf_array_assign(copied, here, 0, stream, &error_), GUF_OK) << error_.message;
      let_go(here);
      finish(stream, &gate);
      EXPECT_THAT(values(out), Each(kind == GUF_HOST_PINNED ? 0.0F : 4.0F)) << kind;
      EXPECT_THAT(values(copied), Each(3.0F)) << kind;
    }
  }
}

// The release callbacks of ordinary cpu arrays and of wrapped memory run after the queued copy.
TEST_P(PendingWork, OrdinaryHostArrays) {
  const guf_array to = filled(device_, kSize, 0), backwards = view(to, -1, -1);
  std::vector<float> memory(kSize, 6);
  gufunc::Operands operands;
  const guf_tensor *const tensor = operands.tensor(gufunc::view(GUF_F32, memory))->tensor;
  for (const guf_array target : {to, backwards}) {
    std::fill(memory.begin(), memory.end(), 6.0F);
    guf_array wrapped = nullptr;
    const auto overwrite = [](void *user, uint64_t) {
      auto *const gone = static_cast<std::vector<float> *>(user);
      std::fill(gone->begin(), gone->end(), -5.0F);
    };
    ASSERT_EQ(guf_array_wrap(tensor, overwrite, &memory, 0, &wrapped, &error_), GUF_OK);
    std::unique_ptr<Gate> gate = target == to ? hold(stream_) : nullptr;
    ASSERT_EQ(guf_array_assign(target, wrapped, 0, stream_, &error_), GUF_OK) << error_.message;
    guf_array_release(wrapped, nullptr);
    finish(stream_, &gate);
    EXPECT_THAT(values(to), Each(6.0F));
    guf_poll(0, nullptr, nullptr);
    EXPECT_THAT(memory, Each(-5.0F));
  }
}

// Wraps memory of the program. The program may reuse the memory after the release callback.
TEST_P(PendingWork, WrappedMemory) {
  const guf_array memory = filled(device_, kSize, 3);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(memory, &info, nullptr), GUF_OK);
  const guf_tensor tensor = {sizeof tensor, GUF_F32, 1, 0, info.address, &kSize, nullptr, device_};
  const auto count = [](void *user, uint64_t) { ++*static_cast<int *>(user); };
  for (const guf_stream stream : streams()) {
    int released = 0;
    guf_array wrapped = nullptr;
    ASSERT_EQ(guf_array_wrap(&tensor, count, &released, 0, &wrapped, &error_), GUF_OK)
        << error_.message;
    std::unique_ptr<Gate> gate = std::make_unique<Gate>(backend_, stream_);
    if (stream == nullptr) order_default_behind(stream_);
    ASSERT_EQ(call("add", {operand_of(wrapped), scalar_of(1)}, operand_of(wrapped), stream), GUF_OK)
        << error_.message;
    EXPECT_EQ(guf_array_release(wrapped, &error_), GUF_OK);
    guf_poll(0, nullptr, nullptr);
    if (sim_order() == "eager") {
      EXPECT_EQ(released, 0);
    }
    gate.reset();
    if (stream != nullptr) synchronize(stream);
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(released, 1);
  }
  EXPECT_THAT(values(memory), Each(5.0F));
}

INSTANTIATE_TEST_SUITE_P(On, PendingWork, testing::Values("cuda", "roc"), name_of);

// Tests that a wait for an array waits for all work that uses the memory of the array, on the
// default stream and on other streams, and for no other work. A read of an array on the host waits
// for the same work.

constexpr int64_t kSize = 500;
constexpr uint64_t kShort = 2'000'000;  // nanoseconds

// Adds 1 to x in place.
guf_status add_one(guf_ufunc add, guf_array x, guf_device device, guf_stream stream,
                   guf_error *error) {
  const guf_operand inputs[] = {operand_of(x), scalar_of(1)};
  guf_operand output = operand_of(x);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  args.outputs = &output;
  args.noutputs = 1;
  args.options.device = device;
  args.options.stream = stream;
  return guf_call(add, &args, error);
}

class ArrayWaits : public Devices {
 protected:
  void increase(guf_array x, guf_stream stream) {
    ASSERT_EQ(add_one(find("add"), x, device_, stream, &error_), GUF_OK) << error_.message;
  }
  guf_status wait(guf_array array, uint64_t timeout_ns = UINT64_MAX) {
    return guf_array_synchronize(array, timeout_ns, &error_);
  }
  // Reads the elements on the host, without an explicit wait before the read.
  std::vector<float> read(guf_array array) {
    std::vector<float> elements(kSize);
    EXPECT_EQ(guf_array_copy_to_host(array, elements.data(), elements.size() * sizeof(float),
                                     GUF_ORDER_C, nullptr, &error_),
              GUF_OK)
        << error_.message;
    return elements;
  }
  // Runs `body`, which waits for the gate, while another thread opens the gate.
  template <class Body>
  void while_it_opens(std::unique_ptr<Gate> gate, const Body &body) {
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.reset();
    });
    body();
    opener.join();
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

TEST_P(ArrayWaits, ForStreamsThatUseIt) {
  const guf_array x = filled(device_, kSize, 1), other = filled(device_, kSize, 5);
  EXPECT_EQ(wait(x), GUF_OK) << error_.message;
  auto gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  if (sim_order() == "eager") {
    EXPECT_EQ(wait(x, 0), GUF_TIMEOUT);
    EXPECT_EQ(wait(x, kShort), GUF_TIMEOUT);
    EXPECT_EQ(wait(view(x, 0, 1), kShort), GUF_TIMEOUT);
  }
  EXPECT_EQ(wait(other), GUF_OK);
  while_it_opens(std::move(gate), [&] { EXPECT_EQ(wait(x), GUF_OK) << error_.message; });
}

TEST_P(ArrayWaits, BeforeTheHostReads) {
  const guf_array x = filled(device_, kSize, 1);
  auto gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] { EXPECT_THAT(read(x), Each(2.0F)); });
  gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] {
    guf_array here = nullptr;
    ASSERT_EQ(guf_array_to_device(x, nullptr, nullptr, &here, &error_), GUF_OK) << error_.message;
    EXPECT_THAT(read(keep(here)), Each(3.0F));
  });
  gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] {
    char text[4096];
    uint64_t length = sizeof text;
    ASSERT_EQ(guf_array_print(x, text, &length, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(std::string(text).substr(0, 4), "[4. ") << text;
  });
}

TEST_P(ArrayWaits, OfHostMemoryThatTheDeviceWrites) {
  for (const guf_stream stream : {stream_, guf_stream{nullptr}}) {
    guf_array mapped = nullptr;
    ASSERT_EQ(guf_array_alloc_host(device_, GUF_HOST_MAPPED, GUF_F32, 1, &kSize, nullptr,
                                   GUF_ORDER_C, &mapped, &error_),
              GUF_OK)
        << error_.message;
    const guf_operand one = scalar_of(1);
    ASSERT_EQ(guf_array_fill(keep(mapped), &one, nullptr, &error_), GUF_OK);
    ASSERT_EQ(add_one(find("add"), mapped, device_, stream, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(wait(mapped), GUF_OK) << error_.message;
    guf_array_info info = {};
    info.struct_size = sizeof info;
    guf_array_get_info(mapped, &info, nullptr);
    const auto *const first = reinterpret_cast<const float *>(info.address);
    EXPECT_THAT(std::vector<float>(first, first + kSize), Each(2.0F));
  }
}

TEST_P(ArrayWaits, LeaveAFailureToItsStream) {
  guf_error error = fresh_error();
  const int64_t size = 3;
  guf_array powers = nullptr;
  ASSERT_EQ(guf_array_alloc(device_, GUF_I32, 1, &size, nullptr, GUF_ORDER_C, &powers, &error_),
            GUF_OK);
  const guf_operand minus = weak_int_of(-1);
  ASSERT_EQ(guf_array_fill(keep(powers), &minus, nullptr, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
  ASSERT_EQ(call("power", {operand_of(powers), operand_of(powers)}, operand_of(powers), stream_),
            GUF_OK)
      << error_.message;
  EXPECT_EQ(wait(powers), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, &error), GUF_E_VALUE);
}

// A read of a cpu array on the host waits for the queued work of a stream that uses the array.
TEST(ArrayWaitsOfTheCpu, ForItsStreams) {
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  guf_array x = nullptr;
  guf_ufunc add = nullptr;
  const int64_t size = 1 << 20;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK);
  ASSERT_EQ(guf_array_alloc(cpu, GUF_F32, 1, &size, nullptr, GUF_ORDER_C, &x, &error), GUF_OK);
  const guf_operand start = scalar_of(0);
  ASSERT_EQ(guf_array_fill(x, &start, nullptr, &error), GUF_OK);
  ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, &error), GUF_OK);
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(add_one(add, x, cpu, stream, &error), GUF_OK) << error.message;
  }
  std::vector<float> elements(static_cast<size_t>(size));
  EXPECT_EQ(guf_array_copy_to_host(x, elements.data(), elements.size() * sizeof(float), GUF_ORDER_C,
                                   nullptr, &error),
            GUF_OK);
  EXPECT_THAT(elements, Each(static_cast<float>(kRounds)));
  guf_ufunc_release(add, nullptr);
  guf_array_release(x, nullptr);
  guf_stream_release(stream, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, ArrayWaits, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

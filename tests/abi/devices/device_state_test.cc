// SPDX-License-Identifier: Apache-2.0
// Tests the state of a device apart from its arrays: statistics and limits of its memory pool, peer
// access, native streams, and the time between events.
#include <cstring>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class DeviceState : public Devices {
 protected:
  guf_device_memory memory() {
    guf_poll(0, nullptr, nullptr);
    guf_device_memory found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(guf_device_get_memory(device_, &found, &error_), GUF_OK) << error_.message;
    return found;
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
  const guf_device no_device_ = reinterpret_cast<guf_device>(stream_);
};

TEST_P(DeviceState, ThePoolIsCounted) {
  const guf_device_memory before = memory();
  const guf_array array = empty(device_, {1 << 18});
  const guf_device_memory with = memory();
  EXPECT_EQ(with.live_bytes, before.live_bytes + (1 << 20));
  EXPECT_GE(with.peak_bytes, with.live_bytes);
  EXPECT_EQ(with.allocations, before.allocations + 1);
  EXPECT_GE(with.total_bytes, with.free_bytes);
  EXPECT_GT(with.total_bytes, 0U);
  let_go(array);
  const guf_device_memory after = memory();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_GE(after.cached_bytes, uint64_t{1} << 20);
  EXPECT_GE(after.peak_bytes, with.live_bytes);
  empty(device_, {1 << 18});
  EXPECT_EQ(memory().driver_allocations, after.driver_allocations);  // uses cached memory
}

TEST_P(DeviceState, ThePoolIsTrimmed) {
  NEEDS_SIM();
  let_go(empty(device_, {1 << 18}));
  EXPECT_GE(memory().cached_bytes, uint64_t{1} << 20);
  const uint64_t used = sim().used_bytes();
  EXPECT_EQ(guf_device_trim_memory(device_, 0, &error_), GUF_OK) << error_.message;
  const guf_device_memory after = memory();
  EXPECT_EQ(after.cached_bytes, 0U);
  EXPECT_LE(sim().used_bytes() + (1 << 20), used);
  // A trim does not affect live memory, and leaves at most the requested amount of memory cached.
  const guf_array kept = filled(device_, 1000, 4);
  let_go(empty(device_, {1 << 16}));
  let_go(empty(device_, {1 << 18}));
  const uint64_t cached = memory().cached_bytes;
  EXPECT_EQ(guf_device_trim_memory(device_, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(memory().cached_bytes, cached);
  EXPECT_EQ(guf_device_trim_memory(device_, 1 << 19, &error_), GUF_OK);
  EXPECT_LE(memory().cached_bytes, uint64_t{1} << 19);
  EXPECT_THAT(values(kept), Each(4.0F));
}

TEST_P(DeviceState, ThePoolHasALimit) {
  EXPECT_EQ(guf_device_trim_memory(device_, 0, &error_), GUF_OK);
  const guf_device_memory before = memory();
  EXPECT_EQ(guf_device_limit_memory(device_, before.live_bytes + (3 << 20), &error_), GUF_OK);
  EXPECT_EQ(memory().limit_bytes, before.live_bytes + (3 << 20));
  const guf_array first = empty(device_, {1 << 18}), second = empty(device_, {1 << 18});
  const int64_t large = 1 << 19;
  guf_array none = nullptr;
  EXPECT_EQ(guf_array_alloc(device_, GUF_F32, 1, &large, nullptr, GUF_ORDER_C, &none, &error_),
            GUF_E_DEVICE_MEMORY);
  EXPECT_THAT(error_.message, HasSubstr("exceed the limit of"));
  EXPECT_EQ(call("add", {operand_of(first), operand_of(first)}, {}, nullptr), GUF_OK);
  EXPECT_EQ(call("add", {operand_of(first), operand_of(first)}, {}, nullptr), GUF_E_DEVICE_MEMORY);
  let_go(first);
  let_go(second);
  empty(device_, {large});  // requires that the pool frees cached memory
  EXPECT_EQ(guf_device_limit_memory(device_, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(memory().limit_bytes, UINT64_MAX);
  empty(device_, {large});
}

TEST_P(DeviceState, PoolErrors) {
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  EXPECT_EQ(guf_device_get_memory(device_, nullptr, &error_), GUF_E_ARG);
  for (const guf_device none : {guf_device{}, no_device_}) {
    EXPECT_EQ(guf_device_get_memory(none, &memory, &error_), GUF_E_HANDLE);
    EXPECT_EQ(guf_device_trim_memory(none, 0, &error_), GUF_E_HANDLE);
    EXPECT_EQ(guf_device_limit_memory(none, 0, &error_), GUF_E_HANDLE);
  }
  memory.struct_size = 8;
  EXPECT_EQ(guf_device_get_memory(device_, &memory, &error_), GUF_E_STRUCT);
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  memory.struct_size = sizeof memory;
  EXPECT_EQ(guf_device_get_memory(cpu, &memory, &error_), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("backend cpu has no memory pool"));
  EXPECT_EQ(guf_device_trim_memory(cpu, 0, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(guf_device_limit_memory(cpu, 0, &error_), GUF_E_UNSUPPORTED);
}

TEST_P(DeviceState, Peers) {
  NEEDS_SIM();
  const guf_device second = device(1);
  guf_device cpu = nullptr, other = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  ASSERT_EQ(guf_device_get(nullptr, backend_ == "cuda" ? "roc:0" : "cuda:0", &other, &error_),
            GUF_OK);
  const char *const requested =
      backend_ == "cuda" ? "cuDeviceCanAccessPeer" : "hipDeviceCanAccessPeer";
  const std::string shares = backend_ == "cuda" ? "cuMemPoolSetAccess" : "hipMemPoolSetAccess";
  const uint64_t shared = sim().calls(shares.c_str());
  EXPECT_EQ(guf_device_enable_peer(device_, second, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_enable_peer(device_, second, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(sim().calls(shares.c_str()), shared + 2) << "access to the pool is set separately";
  EXPECT_EQ(guf_device_enable_peer(device_, device_, &error_), GUF_OK) << error_.message;
  EXPECT_GE(sim().calls(requested), 1U);
  EXPECT_EQ(guf_device_enable_peer(device_, other, &error_), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(guf_device_enable_peer(device_, cpu, &error_), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(guf_device_enable_peer(cpu, cpu, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(guf_device_enable_peer(nullptr, second, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_device_enable_peer(device_, no_device_, &error_), GUF_E_HANDLE);
  sim().fault(backend_ == "cuda" ? "cuCtxEnablePeerAccess:1:217"
                                 : "hipDeviceEnablePeerAccess:1:217");
  EXPECT_EQ(guf_device_enable_peer(second, device_, &error_), GUF_E_UNSUPPORTED) << error_.message;
  sim().fault((shares + ":1:801").c_str());
  EXPECT_EQ(guf_device_enable_peer(second, device_, &error_), GUF_E_UNSUPPORTED) << error_.message;
  EXPECT_THAT(error_.message, HasSubstr("access to the peer's memory pool"));
  // Even if the driver supports peer access, the operands of a call must be on one device.
  const guf_array here = filled(device_, 10, 1), far = filled(second, 10, 2);
  EXPECT_EQ(call("add", {operand_of(here), operand_of(far)}, operand_of(here), nullptr),
            GUF_E_DEVICE_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr("operands are on devices that a call may not mix"));
}

// Gets the native stream of a library stream, and adopts it as a second library stream.
TEST_P(DeviceState, NativeStreams) {
  uint64_t own = 0, defaults = 0;
  EXPECT_EQ(guf_stream_get_native(nullptr, stream_, &own, &error_), GUF_OK) << error_.message;
  EXPECT_NE(own, 0U);
  EXPECT_EQ(guf_stream_get_native(device_, nullptr, &defaults, &error_), GUF_OK) << error_.message;
  EXPECT_NE(defaults, own);
  guf_stream adopted = nullptr;
  ASSERT_EQ(guf_stream_adopt(device_, own, 0, &adopted, &error_), GUF_OK) << error_.message;
  const guf_array x = filled(device_, 500, 2), out = filled(device_, 500, 0);
  {
    Gate gate(backend_, stream_);
    EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, operand_of(out), adopted), GUF_OK);
    if (sim_order() == "eager") {
      EXPECT_EQ(guf_stream_query(adopted, &error_), GUF_NOT_READY);
    }
  }
  synchronize(adopted);
  EXPECT_EQ(guf_stream_query(stream_, &error_), GUF_OK);
  EXPECT_THAT(values(out), Each(4.0F));
  uint64_t again = 0;
  EXPECT_EQ(guf_stream_get_native(nullptr, adopted, &again, &error_), GUF_OK);
  EXPECT_EQ(again, own);
  EXPECT_EQ(guf_stream_release(adopted, &error_), GUF_OK);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(guf_stream_query(stream_, &error_), GUF_OK);  // the original stream can still be used
}

TEST_P(DeviceState, NativeStreamErrors) {
  NEEDS_SIM();
  uint64_t native = 0;
  guf_stream adopted = nullptr;
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  EXPECT_EQ(guf_stream_get_native(device_, stream_, nullptr, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_stream_get_native(nullptr, nullptr, &native, &error_), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("expected one of them"));
  EXPECT_EQ(guf_stream_get_native(no_device_, nullptr, &native, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_get_native(device_, reinterpret_cast<guf_stream>(device_), &native, &error_),
            GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_get_native(cpu, nullptr, &native, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(native, 0U);
  ASSERT_EQ(guf_stream_get_native(nullptr, stream_, &native, &error_), GUF_OK);
  EXPECT_EQ(guf_stream_adopt(device_, 0, 0, &adopted, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_stream_adopt(device_, native, 1, &adopted, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_stream_adopt(device_, native, 0, nullptr, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_stream_adopt(no_device_, native, 0, &adopted, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_adopt(cpu, native, 0, &adopted, &error_), GUF_E_UNSUPPORTED);
  if (backend_ == "cuda") {  // HIP cannot detect a stream of another device
    EXPECT_NE(guf_stream_adopt(device(1), native, 0, &adopted, &error_), GUF_OK);
  }
  EXPECT_EQ(adopted, nullptr);
}

// An invalid or destroyed native stream is an error of the program. The device can still be used.
TEST_P(DeviceState, DeadNativeStreams) {
  NEEDS_SIM();
  const guf_array x = filled(device_, 100, 3);
  const std::string requested = backend_ == "cuda" ? "cuStreamGetCtx" : "hipStreamGetDevice";
  uint64_t native = 0;
  ASSERT_EQ(guf_stream_get_native(nullptr, stream_, &native, &error_), GUF_OK);
  for (const int code : {400, 709}) {
    guf_stream adopted = nullptr;
    sim().fault((requested + ":1:" + std::to_string(code)).c_str());
    EXPECT_EQ(guf_stream_adopt(device_, native, 0, &adopted, &error_), GUF_E_HANDLE)
        << error_.message;
    EXPECT_EQ(error_.native_code, code);
    EXPECT_EQ(adopted, nullptr);
    EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, {}, stream_), GUF_OK) << error_.message;
    synchronize(stream_);
    EXPECT_THAT(values(x), Each(3.0F));
  }
}

TEST_P(DeviceState, TimeBetweenEvents) {
  NEEDS_TWO_DEVICES();
  const guf_event begun = event(device_), done = event(device_), never = event(device_),
                  far = event(device(1));
  const guf_array x = filled(device_, 1000, 1);
  double milliseconds = -1;
  EXPECT_EQ(guf_event_record(begun, stream_, &error_), GUF_OK);
  {
    Gate gate(backend_, stream_);
    EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, operand_of(x), stream_), GUF_OK);
    EXPECT_EQ(guf_event_record(done, stream_, &error_), GUF_OK);
    if (sim_order() == "eager") {
      EXPECT_EQ(guf_event_elapsed(begun, done, &milliseconds, &error_), GUF_NOT_READY);
      EXPECT_EQ(milliseconds, -1);
    }
  }
  EXPECT_EQ(guf_event_wait(done, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_event_elapsed(begun, done, &milliseconds, &error_), GUF_OK) << error_.message;
  EXPECT_GE(milliseconds, 0);
  double zero = -1;
  EXPECT_EQ(guf_event_elapsed(done, done, &zero, &error_), GUF_OK);
  EXPECT_EQ(zero, 0);
  EXPECT_EQ(guf_event_elapsed(begun, done, nullptr, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_event_elapsed(begun, never, &zero, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_event_elapsed(nullptr, done, &zero, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_event_elapsed(begun, reinterpret_cast<guf_event>(stream_), &zero, &error_),
            GUF_E_HANDLE);
  EXPECT_EQ(guf_event_record(far, stream(device(1)), &error_), GUF_OK);
  EXPECT_EQ(guf_event_elapsed(begun, far, &zero, &error_), GUF_E_DEVICE_MISMATCH);
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  const guf_event here = event(cpu);
  EXPECT_EQ(guf_event_record(here, stream(cpu), &error_), GUF_OK);
  EXPECT_EQ(guf_event_elapsed(here, here, &zero, &error_), GUF_E_UNSUPPORTED);
}

// Tests work on the default stream: waits, timeouts, and a failure that is reported once.
TEST_P(DeviceState, TheDevicesOwnOrder) {
  NEEDS_SIM();
  const guf_array zeros = empty(device_, {100}, GUF_I32);
  const guf_operand zero = weak_int_of(0);
  EXPECT_EQ(guf_array_fill(zeros, &zero, nullptr, &error_), GUF_OK);
  guf_operand in[] = {operand_of(zeros), operand_of(zeros)}, out = operand_of(zeros);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = in;
  args.outputs = &out;
  args.options.fp_fail = GUF_FP_INTEGER_DIVIDE;
  EXPECT_EQ(guf_call(find("floor_divide"), &args, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_E_FLOATING_POINT);
  EXPECT_THAT(error_.message, HasSubstr("divide by zero encountered in floor_divide"));
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(guf_device_synchronize(device_, 0, &error_), GUF_OK);
  EXPECT_EQ(guf_device_synchronize(nullptr, 0, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_device_synchronize(no_device_, 0, &error_), GUF_E_HANDLE);
  if (sim_order() != "eager") return;
  sim().set("DELAY_US", "200000");
  EXPECT_EQ(guf_array_fill(zeros, &zero, nullptr, &error_), GUF_OK);
  EXPECT_EQ(guf_array_fill(zeros, &zero, nullptr, &error_), GUF_OK);
  EXPECT_EQ(guf_device_synchronize(device_, 1000, &error_), GUF_TIMEOUT);
  sim().set("DELAY_US", "0");
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
}

INSTANTIATE_TEST_SUITE_P(On, DeviceState, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

// SPDX-License-Identifier: Apache-2.0
// Provides a driver without a device. The test decides when work of a stream is complete, and
// memory is counted but not allocated.
#ifndef GUFUNC_TESTS_UNIT_GPU_FAKE_DRIVER_H
#define GUFUNC_TESTS_UNIT_GPU_FAKE_DRIVER_H

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

struct FakeStream {
  uint64_t queued = 0, done = 0;  // numbers of work items that were queued and completed
  bool capturing = false;
};
struct FakeEvent {
  const FakeStream *stream = nullptr;
  uint64_t at = 0;
};

class FakeDriver final : public Driver {
 public:
  bool with_pools = true;
  uint64_t capacity = UINT64_MAX;  // limit of allocated bytes
  std::set<uint64_t> live;         // addresses of allocations that are not released
  std::map<uint64_t, uint64_t> sizes;
  uint64_t used = 0, requested = 0, syncs = 0;
  uint64_t kept = 0;                    // number of bytes that the last pool_trim may keep
  Code fail_next = 0;                   // result code of the next allocation, unless it is 0
  std::function<void()> while_waiting;  // called during a wait for a busy stream

  const ErrorInfo &error_info(Code code) const override;
  void write_version(char *out_text, size_t size) const override;
  Code device_properties(int32_t, DeviceProperties *out) override;
  Code context_open(int32_t index, uint64_t, Context *out) override;
  void context_close(const Context &) override {}
  Code enter(const Context &, uint64_t *out_before) override;
  void leave(const Context &, uint64_t) override {}
  Code context_synchronize() override;
  Code allocate(uint64_t bytes, uint64_t *out_address) override;
  Code release(uint64_t address) override;
  Code pool_open(const Context &, Native *out_pool) override;
  Code pool_close(Native) override { return kDone; }
  Code pool_trim(Native, uint64_t keep_bytes) override {
    kept = keep_bytes;
    return kDone;
  }
  Code pool_share(Native, const Context &) override { return kDone; }
  Code pool_allocate(Native, uint64_t bytes, Native, uint64_t *out_address) override;
  Code pool_release(uint64_t address, Native) override { return release(address); }
  Code managed_allocate(uint64_t bytes, uint64_t *out) override { return allocate(bytes, out); }
  Code memory_info(uint64_t *out_free, uint64_t *out_total) override;
  Code host_allocate(uint64_t bytes, HostMemory, uint64_t *out) override {
    return allocate(bytes, out);
  }
  Code host_release(uint64_t address) override { return release(address); }
  Code host_register(uint64_t, uint64_t) override { return kDone; }
  Code host_unregister(uint64_t) override { return kDone; }
  bool is_page_locked(uint64_t) override { return false; }
  int32_t memory_device(uint64_t) override { return -1; }
  Code copy(uint64_t, uint64_t, uint64_t, Direction, Native) override { return kDone; }
  Code copy_peer(uint64_t, const Context &, uint64_t, const Context &, uint64_t, Native) override {
    return kDone;
  }
  Code set(uint64_t, uint32_t, uint32_t, uint64_t, Native) override { return kDone; }
  Code peer_access(const Context &, const Context &, int32_t *out_can) override;
  Code peer_enable(const Context &) override { return kDone; }
  Code stream_open(Native *out_stream) override;
  Code stream_close(Native) override { return kDone; }
  Code stream_query(Native stream) override;
  Code stream_synchronize(Native stream) override;
  Code stream_wait(Native, Native) override { return kDone; }
  Code stream_belongs(Native, const Context &, bool *out_belongs) override;
  Code stream_capturing(Native stream, bool *out_capturing) override;
  Code stream_call(Native, HostCall, void *) override { return kDone; }
  Code event_open(EventKind, Native *out_event) override;
  Code event_close(Native) override { return kDone; }
  Code event_record(Native event, Native stream) override;
  Code event_query(Native event) override;
  Code event_synchronize(Native) override { return kDone; }
  Code event_elapsed(Native, Native, float *) override { return kDone; }
  Code module_load(const void *, Native *) override { return kDone; }
  Code module_unload(Native) override { return kDone; }
  Code function_find(Native, const char *, Native *) override { return kDone; }
  Code function_prepare(Native, uint32_t) override { return kDone; }
  Code function_attributes(Native, FunctionAttributes *out) override {
    *out = {};
    return kDone;
  }
  Code launch(Native, const LaunchGrid &, const void *, uint32_t, Native) override { return kDone; }
  Code capture_begin(Native, CaptureMode) override { return kDone; }
  Code capture_end(Native, Native *) override { return kDone; }
  Code capture_exchange(CaptureMode *) override { return kDone; }
  Code graph_instantiate(Native, Native *) override { return kDone; }
  Code graph_update(Native, Native, bool *) override { return kDone; }
  Code graph_launch(Native, Native) override { return kDone; }
  Code graph_close(Native) override { return kDone; }
  Code executable_close(Native) override { return kDone; }

 private:
  std::vector<std::unique_ptr<FakeStream>> streams_;
  std::vector<std::unique_ptr<FakeEvent>> events_;
  uint64_t next_address_ = 4096;
};

// Result codes of this driver.
inline constexpr Code kFakeNoMemory = 2, kFakeNotReady = 600, kFakeLost = 700;

}  // namespace gufunc::gpu

#endif  // GUFUNC_TESTS_UNIT_GPU_FAKE_DRIVER_H

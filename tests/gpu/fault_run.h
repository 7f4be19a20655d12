// SPDX-License-Identifier: Apache-2.0
// Records one run of a scenario through a plugin's slots, with or without a fault, and the result
// of each call.
#ifndef GUFUNC_TESTS_GPU_FAULT_RUN_H
#define GUFUNC_TESTS_GPU_FAULT_RUN_H

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"

// Lists every slot of the backend table and of the GPU extension table, in the order of the tables.
// clang-format off: it does not format these lines consistently
#define GUF_TEST_SLOTS(X) \
  X(probe) \
  X(device_open) \
  X(device_close) \
  X(memory_alloc) \
  X(memory_free) \
  X(copy) \
  X(fill) \
  X(stream_open) \
  X(stream_close) \
  X(stream_query) \
  X(stream_synchronize) \
  X(stream_wait_event) \
  X(event_open) \
  X(event_close) \
  X(event_record) \
  X(event_query) \
  X(event_synchronize) \
  X(builtins) \
  X(image_score) \
  X(module_load) \
  X(module_unload) \
  X(kernel_get) \
  X(launch) \
  X(convert) \
  X(method) \
  X(shutdown) \
  X(extension) \
  X(describe_launch) \
  X(describe_method)
#define GUF_TEST_GPU_SLOTS(X) \
  X(memory_statistics) \
  X(memory_trim) \
  X(memory_limit) \
  X(host_register) \
  X(host_unregister) \
  X(device_native) \
  X(stream_native) \
  X(event_native) \
  X(peer_enable) \
  X(peer_copy) \
  X(event_elapsed) \
  X(capture_begin) \
  X(capture_end) \
  X(graph_instantiate) \
  X(graph_update) \
  X(graph_launch) \
  X(graph_destroy) \
  X(memory_device)
#define GUF_TEST_KERNEL_SLOTS(X) \
  X(kernel_limits) \
  X(kernel_launch)
// clang-format on

namespace gufunc::gpu_test {

// Makes the n-th call of a driver function return a code. If `sticky` is true, all later driver
// calls also return this code.
struct Fault {
  std::string function;
  uint64_t nth = 0;
  int code = 0;
  bool sticky = false;
};

struct SlotCall {
  const char *slot;
  const void *device;
  guf_status status;
  int32_t native_code;
  bool injected;  // the fault was injected during this call
  char message[160];
};

class Trial {
 public:
  explicit Trial(const Fault &fault) : fault_(fault) { calls_.reserve(128); }

  const std::vector<SlotCall> &calls() const { return calls_; }
  const Fault &fault() const { return fault_; }

  // Calls `f(guf_error *)` and records it as a call of `slot` on `device`.
  template <class F>
  guf_status call(const char *slot, const void *device, F f) {
    guf_error error = fresh_error();
    const guf_status status = f(&error);
    note(slot, device, status, error);
    return status;
  }
  // Calls `f()` for a slot that cannot fail, and records the call.
  template <class F>
  void close(const char *slot, const void *device, F f) {
    f();
    note(slot, device, GUF_OK, fresh_error());
  }

 private:
  void note(const char *slot, const void *device, guf_status status, const guf_error &error);

  Fault fault_;
  uint64_t seen_ = 0;  // number of calls of the faulty driver function so far
  std::vector<SlotCall> calls_;
};

// Calls a slot of the backend table or of the GPU extension table. The macro adds the error record
// as the last argument.
#define GUF_TEST_CALL(run, device, slot, ...) \
  (run).call(#slot, device,                   \
             [&](guf_error *guf_error_) { return plugin().slot(__VA_ARGS__, guf_error_); })
#define GUF_TEST_GPU_CALL(run, device, slot, ...) \
  (run).call(#slot, device,                       \
             [&](guf_error *guf_error_) { return gpu_extension().slot(__VA_ARGS__, guf_error_); })
#define GUF_TEST_KERNEL_CALL(run, device, slot, ...)          \
  (run).call(#slot, device, [&](guf_error *guf_error_) {      \
    return kernels_extension().slot(__VA_ARGS__, guf_error_); \
  })
#define GUF_TEST_CLOSE(run, device, slot, ...) \
  (run).close(#slot, device, [&] { plugin().slot(__VA_ARGS__); })
// Returns from a scenario that cannot continue. The destructors in the scenario close its objects.
#define GUF_TEST_TRY(expression)        \
  do {                                  \
    if ((expression) != GUF_OK) return; \
  } while (false)

// The destructors of these classes close the objects of a scenario in reverse order, like the
// cleanup of a program.

// Opens a device for a scenario. The destructor checks that the device still works or that it
// reports its loss.
class RunDevice {
 public:
  RunDevice(Trial &run, int32_t index, uint64_t native = 0);
  ~RunDevice();
  RunDevice(const RunDevice &) = delete;
  RunDevice &operator=(const RunDevice &) = delete;
  void *get() const { return device_; }
  guf_status status() const { return status_; }

 private:
  Trial &run_;
  void *device_ = nullptr;
  guf_status status_;
};

class RunStream {
 public:
  RunStream(Trial &run, void *device, uint64_t native = 0);
  ~RunStream() { close(); }
  RunStream(const RunStream &) = delete;
  RunStream &operator=(const RunStream &) = delete;
  void *get() const { return stream_; }
  guf_status status() const { return status_; }
  void close();

 private:
  Trial &run_;
  void *device_, *stream_ = nullptr;
  guf_status status_;
};

class RunEvent {
 public:
  RunEvent(Trial &run, void *device);
  ~RunEvent();
  RunEvent(const RunEvent &) = delete;
  RunEvent &operator=(const RunEvent &) = delete;
  void *get() const { return event_; }
  guf_status status() const { return status_; }

 private:
  Trial &run_;
  void *device_, *event_ = nullptr;
  guf_status status_;
};

class RunMemory {
 public:
  RunMemory(Trial &run, void *device, uint64_t bytes, int32_t kind = GUF_MEMORY_DEVICE,
            void *stream = nullptr);
  ~RunMemory() { free(); }
  RunMemory(const RunMemory &) = delete;
  RunMemory &operator=(const RunMemory &) = delete;
  uint64_t get() const { return address_; }
  guf_status status() const { return status_; }
  void free();

 private:
  Trial &run_;
  void *device_, *stream_;
  uint64_t address_ = 0, bytes_;
  int32_t kind_;
  guf_status status_;
};

// Waits for a stream. If the wait fails, waits again, because the queued work still uses memory of
// the program.
guf_status wait_for(Trial &run, void *device, void *stream);

// Copies bytes to the device and back and compares the bytes. The copies are recorded in the run.
void round_trip(Trial &run, void *device);

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_RUN_H

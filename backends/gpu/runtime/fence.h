// SPDX-License-Identifier: Apache-2.0
// Fences: events of the library that signal when a stream has completed its queued work,
// for example before memory is reused.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H

#include <mutex>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;

struct Fence {
  Native event = nullptr;
  uint32_t users = 0;  // number of memory blocks that wait for the fence
  bool signalled = false;
  Fence *next = nullptr;
};

// The fences of one device. Driver events are created once and recorded many times.
class FencePool {
 public:
  explicit FencePool(Device &device) : device_(device) {}

  // Returns a fence that is signalled when the work that is queued on the stream now is complete.
  // Errors  GUF_E_NO_MEMORY, or the driver's error for the event
  guf_status acquire(Native stream, Fence **out, guf_error *error);
  void release(Fence *fence);

  // Polls a fence. Returns GUF_OK if it is signalled, GUF_NOT_READY, or the driver's error.
  guf_status poll(Fence &fence, guf_error *error);
  // Polls a fence and returns the driver's code, without an error report.
  Code query(Fence &fence);

  // Destroys all fences. No fence may be in use.
  void close();

 private:
  Device &device_;
  std::mutex mutex_;
  Fence *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H

// SPDX-License-Identifier: Apache-2.0
// Fences: events of the library that signal when a stream has finished using memory, or all its
// work.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H

#include <mutex>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;

struct Fence {
  Native event = nullptr;
  uint32_t users = 0;  // number of blocks that wait for it
  bool signalled = false;
  Fence *next = nullptr;
};

// The fences of one device. Their driver events are created once and recorded many times.
class FencePool {
 public:
  explicit FencePool(Device &device) : device_(device) {}

  // Returns a fence that is signalled when the work queued on the stream so far is complete.
  // Errors  GUF_E_NO_MEMORY, or the driver's error for the event
  guf_status take(Native stream, Fence **out, guf_error *error);
  void put(Fence *fence);

  // Polls the fence: GUF_OK if it is signalled, GUF_NOT_READY, or the driver's error.
  guf_status poll(Fence &fence, guf_error *error);
  // Polls the fence, and returns the driver's code without reporting it.
  Code query(Fence &fence);

  // Requires that no fence is in use.
  void close();

 private:
  Device &device_;
  std::mutex mutex_;
  Fence *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_FENCE_H

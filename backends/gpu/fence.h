// SPDX-License-Identifier: Apache-2.0
// Events of our own: what tells that a piece of memory, or all work of a stream, is done with.
#ifndef GUFUNC_BACKENDS_GPU_FENCE_H
#define GUFUNC_BACKENDS_GPU_FENCE_H

#include <mutex>

#include "backends/gpu/driver.h"

namespace gufunc::gpu {

class Device;

struct Fence {
  Native event = nullptr;
  uint32_t users = 0;  // blocks that wait for it
  bool signalled = false;
  Fence *next = nullptr;
};

// Fences of one device; their events are made once and recorded again and again.
class FencePool {
 public:
  explicit FencePool(Device &device) : device_(device) {}

  // A fence that passes when what is queued on the stream now is done.
  // Errors  GUF_E_NO_MEMORY, or what the driver says of the event
  guf_status take(Native stream, Fence **out, guf_error *error);
  void put(Fence *fence);

  // Whether it passed: GUF_OK, GUF_NOT_READY, or what the driver says.
  guf_status poll(Fence &fence, guf_error *error);
  // The driver's code for the same, which is nobody's yet.
  Code query(Fence &fence);

  // Only when no fence is out.
  void close();

 private:
  Device &device_;
  std::mutex mutex_;
  Fence *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_FENCE_H

// SPDX-License-Identifier: Apache-2.0
// Events of our own: what tells that a piece of memory, or all work of a stream, is done with.
#ifndef GUFUNC_BACKENDS_GPU_GUARD_H
#define GUFUNC_BACKENDS_GPU_GUARD_H

#include <mutex>

#include "backends/gpu/driver.h"

namespace gufunc::gpu {

class Device;

struct Guard {
  Native event = nullptr;
  uint32_t users = 0;  // blocks that wait for it
  bool passed = false;
  Guard *next = nullptr;
};

// Guards of one device; their events are made once and recorded again and again.
class GuardShelf {
 public:
  explicit GuardShelf(Device &device) : device_(device) {}

  // A guard that passes when what is queued on the stream now is done.
  // Errors  GUF_E_NO_MEMORY, or what the driver says of the event
  guf_status take(Native stream, Guard **out, guf_error *error);
  void put(Guard *guard);

  // Whether it passed: GUF_OK, GUF_NOT_READY, or what the driver says.
  guf_status look(Guard &guard, guf_error *error);
  // The driver's code for the same, which is nobody's yet.
  Code ask(Guard &guard);

  // Only when no guard is out.
  void close();

 private:
  Device &device_;
  std::mutex mutex_;
  Guard *first_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GUARD_H

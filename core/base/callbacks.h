// SPDX-License-Identifier: Apache-2.0
// Pending callbacks of the program. They wait in a queue until the program is inside a call, a
// wait, guf_poll or guf_shutdown, because user code must not run on threads that the program does
// not know.
#ifndef GUFUNC_CORE_BASE_CALLBACKS_H
#define GUFUNC_CORE_BASE_CALLBACKS_H

#include <cstdint>
#include <memory>

namespace gufunc::base {

using CallbackFn = void (*)(void *user, uint64_t value);

// A callback that may be queued later. It is created where allocation may fail, and queued where it
// must not (in destructors). If it is never queued, it never runs.
class OwedCallback {
 public:
  OwedCallback();                                                 // empty
  OwedCallback(CallbackFn function, void *user, uint64_t value);  // throws std::bad_alloc
  OwedCallback(OwedCallback &&) noexcept;
  OwedCallback &operator=(OwedCallback &&) noexcept;
  ~OwedCallback();

  bool empty() const { return node_ == nullptr; }
  void queue() noexcept;    // schedules one run; this object becomes empty
  void run_now() noexcept;  // runs it on this thread; this object becomes empty

  struct Node;

 private:
  std::unique_ptr<Node> node_;
};

// Creates and queues a callback. Throws std::bad_alloc, and then nothing is queued.
void queue_callback(CallbackFn function, void *user, uint64_t value);

// Runs at most `max` queued callbacks on this thread, in the order in which they were queued,
// without holding a lock. With `max` 0 it runs until the queue is empty, including callbacks that
// callbacks queue. Returns the number of callbacks that ran.
uint32_t run_callbacks(uint32_t max);

// Whether the queue has callbacks. Costs one load.
bool callbacks_wait();

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CALLBACKS_H

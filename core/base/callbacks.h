// SPDX-License-Identifier: Apache-2.0
// Pending callbacks of the program. A callback waits in a queue until the program creates an
// array, waits, or calls guf_poll or guf_shutdown, because user code must not run on threads that
// the program did not create.
#ifndef GUFUNC_CORE_BASE_CALLBACKS_H
#define GUFUNC_CORE_BASE_CALLBACKS_H

#include <cstdint>
#include <memory>

namespace gufunc::base {

using CallbackFn = void (*)(void *user, uint64_t value);

// A callback that may be queued later. The constructor allocates memory; queue() does not, so
// destructors can call it. A callback that is never queued never runs.
class DeferredCallback {
 public:
  DeferredCallback();                                                 // an empty object
  DeferredCallback(CallbackFn function, void *user, uint64_t value);  // throws std::bad_alloc
  DeferredCallback(DeferredCallback &&) noexcept;
  DeferredCallback &operator=(DeferredCallback &&) noexcept;
  ~DeferredCallback();

  bool empty() const { return node_ == nullptr; }
  void queue() noexcept;    // schedules one run; this object becomes empty
  void run_now() noexcept;  // runs the callback on this thread; this object becomes empty

  struct Node;

 private:
  std::unique_ptr<Node> node_;
};

// Creates and queues a callback. If this function throws std::bad_alloc, no callback was queued.
void queue_callback(CallbackFn function, void *user, uint64_t value);

// Runs at most `max` queued callbacks on this thread, in the order in which they were queued,
// without holding a lock. If `max` is 0, it runs callbacks until the queue is empty, including
// callbacks that other callbacks queue. Returns the number of callbacks that ran.
uint32_t run_callbacks(uint32_t max);

// Returns whether the queue contains callbacks. Costs one atomic load.
bool callbacks_wait();

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CALLBACKS_H

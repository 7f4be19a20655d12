// SPDX-License-Identifier: Apache-2.0
// Callbacks that are owed to the program. They wait in a queue until the program is inside a call,
// a wait, guf_poll or guf_shutdown, because user code may not run on threads the program does not
// know.
#ifndef GUFUNC_CORE_BASE_CALLBACKS_H
#define GUFUNC_CORE_BASE_CALLBACKS_H

#include <cstdint>
#include <memory>

namespace gufunc::base {

using CallbackFn = void (*)(void *user, uint64_t value);

// A callback that will be owed one day: made where allocation may fail, queued where it may not
// (destructors). Never queued: it never runs.
class OwedCallback {
 public:
  OwedCallback();                                                 // owes nothing
  OwedCallback(CallbackFn function, void *user, uint64_t value);  // throws std::bad_alloc
  OwedCallback(OwedCallback &&) noexcept;
  OwedCallback &operator=(OwedCallback &&) noexcept;
  ~OwedCallback();

  bool empty() const { return node_ == nullptr; }
  void queue() noexcept;    // runs it once, later; this becomes empty
  void run_now() noexcept;  // runs it on this thread instead

  struct Node;

 private:
  std::unique_ptr<Node> node_;
};

// The short form for places that may fail.  Throws std::bad_alloc, and then nothing is queued.
void queue_callback(CallbackFn function, void *user, uint64_t value);

// Runs at most `max` (0: as many as were queued on entry and more while they queue others) queued
// callbacks on this thread, in the order they were queued, outside all locks. Returns how many ran.
uint32_t run_callbacks(uint32_t max);

// One load: whether run_callbacks would find any.
bool callbacks_wait();

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CALLBACKS_H

// SPDX-License-Identifier: Apache-2.0
// What a call leaves as it was on its caller's thread: errno, and whether the thread may be
// cancelled.
#ifndef GUFUNC_CORE_BASE_CALLER_STATE_H
#define GUFUNC_CORE_BASE_CALLER_STATE_H

#include <pthread.h>

#include <cerrno>

namespace gufunc::base {

// Restores errno, and defers the thread's cancellation (pthread_cancel) to the end of the scope.
// Work that reaches a cancellation point (a file, a wait, a driver, a program's function) must be
// in one: drivers and destructors cannot be unwound. docs/decisions/0017-cancellation.md.
class CallerState {
 public:
  CallerState() : errno_(errno) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_); }
  // A thread with asynchronous cancellation is unwound from here.
  ~CallerState() noexcept(false) {
    errno = errno_;
    pthread_setcancelstate(cancel_, nullptr);
  }
  CallerState(const CallerState &) = delete;
  CallerState &operator=(const CallerState &) = delete;

 private:
  const int errno_;
  int cancel_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CALLER_STATE_H

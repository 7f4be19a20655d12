// SPDX-License-Identifier: Apache-2.0
// Preserves the state of the caller's thread during a call: errno and the cancellation state.
#ifndef GUFUNC_CORE_BASE_CALLER_STATE_H
#define GUFUNC_CORE_BASE_CALLER_STATE_H

#include <pthread.h>

#include <cerrno>

namespace gufunc::base {

// Saves errno and disables cancellation of the thread (pthread_cancel), and restores both at the
// end of the scope. Code that may reach a cancellation point (file access, a wait, a driver, a
// function of the program) must run in such a scope, because drivers and destructors cannot be
// unwound. See docs/decisions/0017-cancellation.md.
class CallerState {
 public:
  CallerState() : errno_(errno) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_); }
  // noexcept(false), because a thread with asynchronous cancellation is unwound from this
  // destructor.
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

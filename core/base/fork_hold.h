// SPDX-License-Identifier: Apache-2.0
// Delays fork() in other threads during work that a child could not finish, such as dlopen.
#ifndef GUFUNC_CORE_BASE_FORK_HOLD_H
#define GUFUNC_CORE_BASE_FORK_HOLD_H

namespace gufunc::base {

// While an object exists, a fork() in another thread waits, for at most ten seconds. Otherwise a
// child that starts with the dynamic loader's lists half updated would hang in its own dlopen.
// Several threads may hold at once, and one thread several times. A fork() in a holding thread does
// not wait for itself. Use it only for rare and slow work. It does not see a raw clone().
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold &) = delete;
  ForkHold &operator=(const ForkHold &) = delete;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_HOLD_H

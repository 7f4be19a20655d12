// SPDX-License-Identifier: Apache-2.0
// Delays fork() in other threads during work that a child could not finish, such as dlopen.
#ifndef GUFUNC_CORE_BASE_FORK_HOLD_H
#define GUFUNC_CORE_BASE_FORK_HOLD_H

namespace gufunc::base {

// While a ForkHold exists, a fork() in another thread waits, for at most ten seconds.
// Without the wait, a child could start with half-updated lists of the dynamic loader and
// hang in its own dlopen. Several threads may have a ForkHold at once, and one thread may
// have several. A fork() does not wait for the ForkHold objects of its own thread. Use ForkHold
// only for rare and slow work. ForkHold does not delay a raw clone().
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold &) = delete;
  ForkHold &operator=(const ForkHold &) = delete;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_HOLD_H

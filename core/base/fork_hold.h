// SPDX-License-Identifier: Apache-2.0
// Keeps fork() of other threads away from work that a child could not finish, such as dlopen.
#ifndef GUFUNC_CORE_BASE_FORK_HOLD_H
#define GUFUNC_CORE_BASE_FORK_HOLD_H

namespace gufunc::base {

// While one lives, a fork() of another thread waits, for at most ten seconds: a child that begins
// with the dynamic loader halfway through its lists hangs in its own dlopen. Several threads may
// hold at once, and a thread several times; a fork() by a thread that holds does not wait for
// itself. To be taken where work is rare and slow; raw clone() is not seen.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold &) = delete;
  ForkHold &operator=(const ForkHold &) = delete;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_HOLD_H

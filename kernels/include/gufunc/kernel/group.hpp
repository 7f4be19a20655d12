// SPDX-License-Identifier: Apache-2.0
// Groups: the threads that work together on one item of a cooperative function. A group may consist
// of one thread, which then does all the work. Therefore the same source of a function works on the
// cpu and with every kind of group on a device.
//   g.rank() g.size()          index of this thread, and number of threads:
//                              for (i = g.rank(); i < n; i += g.size())
//   g.sync()                   barrier: waits until all threads of the group call it; values that
//                              they wrote before are then visible to each of them
//   g.sum(n, f) min max        reduction of f(0) .. f(n-1) in the order of reduce_tree.hpp; every
//                              thread receives the result
//   g.reduce(n, f, op, empty)  reduction with another operation
//   g.shared<T>(n)             memory of the group, uninitialised; null if the calls together
//                              exceed kSharedBytes
//   g.broadcast(x, rank)       the x of the thread with this rank; x has at most 16 bytes, and all
//                              threads must call broadcast
//   g.subgroup()               the group of 32 threads that contains this thread; it has no memory
//                              of its own. A sub-group s also has s.shuffle(x, rank), which returns
//                              the x of the thread with this rank; each thread may pass a different
//                              rank
#ifndef GUFUNC_KERNEL_GROUP_HPP
#define GUFUNC_KERNEL_GROUP_HPP

#include "reduce_tree.hpp"

namespace guf {

enum { kSharedBytes = 48 * 1024 };

namespace detail {

// Allocates `bytes` of the group's memory, aligned to 16 bytes. Returns null if there is not
// enough.
GUF_FN char *take_shared(char *base, u32 *used, i64 bytes) {
  if (base == nullptr || bytes < 0 || bytes > (i64)kSharedBytes - (i64)*used) return nullptr;
  char *piece = base + *used;
  *used += ((u32)bytes + 15u) & ~15u;
  return piece;
}

// Functions of all groups; Self provides reduce().
template <class Self>
struct group_reductions {
  template <class F>
  GUF_FN auto sum(i64 n, F f) {
    typedef decltype(f(i64(0)) + f(i64(0))) T;
    return self().template reduce<T>(n, f, add_op(), T(0));
  }
  template <class F>
  GUF_FN auto min(i64 n, F f) {
    typedef decltype(+f(i64(0))) T;
    return self().template reduce<T>(n, f, min_op(), empty_min<T>());
  }
  template <class F>
  GUF_FN auto max(i64 n, F f) {
    typedef decltype(+f(i64(0))) T;
    return self().template reduce<T>(n, f, max_op(), empty_max<T>());
  }

 private:
  GUF_FN Self &self() { return *(Self *)this; }
};

}  // namespace detail

// A group of one thread: on the cpu, and on a device with one thread per item.
class single_thread : public detail::group_reductions<single_thread> {
 public:
  GUF_FN explicit single_thread(char *shared = nullptr) : shared_(shared), used_(0) {}

  static GUF_FN constexpr u32 rank() { return 0; }
  static GUF_FN constexpr u32 size() { return 1; }
  GUF_FN void sync() const {}
  GUF_FN single_thread subgroup() const { return single_thread(nullptr); }

  template <class T, class F, class Op>
  GUF_FN T reduce(i64 n, F f, Op op, T empty) {
    if (n > 0) return detail::reduce_serial<T>(op, f, n);
    return empty;
  }
  template <class T>
  GUF_FN T *shared(i64 count) {
    return (T *)detail::take_shared(shared_, &used_, count * (i64)sizeof(T));
  }
  template <class T>
  GUF_FN T broadcast(T value, u32) const {
    return value;
  }
  template <class T>
  GUF_FN T shuffle(T value, u32) const {
    return value;
  }

 private:
  char *shared_;
  u32 used_;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_GROUP_HPP

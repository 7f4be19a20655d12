// SPDX-License-Identifier: Apache-2.0
// The group of a whole block. Its reductions give the bits of the serial tree: threads share the
// leaves of an aligned range, join them pairwise in shared memory, and every thread joins the
// ranges.
#ifndef GUFUNC_KERNEL_DEVICE_GROUP_HPP
#define GUFUNC_KERNEL_DEVICE_GROUP_HPP

#include "device_block.hpp"
#include "group.hpp"

namespace guf {
namespace device {

class block_group : public detail::group_reductions<block_group> {
 public:
  // `shared`: kSharedBytes of the function's own, then kThreads values of 16 bytes for reductions.
  GUF_DEVICE_ONLY explicit block_group(char *shared) : shared_(shared), used_(0) {}

  static GUF_DEVICE_ONLY u32 rank() { return thread_id(); }
  static GUF_DEVICE_ONLY constexpr u32 size() { return kItemThreads; }
  GUF_DEVICE_ONLY void sync() const { barrier(); }

  template <class T>
  GUF_DEVICE_ONLY T *shared(i64 count) {
    return (T *)detail::take_shared(shared_, &used_, count * (i64)sizeof(T));
  }

  template <class T, class F, class Op>
  GUF_DEVICE_ONLY T reduce(i64 n, F f, Op op, T empty) {
    static_assert(sizeof(T) <= 16, "a reduction holds one number");
    if (n <= 0) return empty;
    T *part = (T *)(shared_ + kSharedBytes);
    const i64 leaves = (n + kLeafSize - 1) / kLeafSize;
    detail::tree_joiner<T, Op> tree(op);
    for (i64 base = 0; base < leaves; base += kItemThreads) {
      const i64 here = leaves - base < kItemThreads ? leaves - base : (i64)kItemThreads;
      const i64 leaf = base + rank();
      if (rank() < here) {
        const i64 first = leaf * kLeafSize;
        part[rank()] = detail::reduce_leaf<T>(op, f, first,
                                              n - first < kLeafSize ? n - first : (i64)kLeafSize);
      }
      barrier();
      for (i64 step = 1; step < here; step *= 2) {
        const i64 left = (i64)rank() * 2 * step;
        if (left + step < here) part[left] = op(part[left], part[left + step]);
        barrier();
      }
      tree.push(part[0]);
      barrier();
    }
    return tree.join();
  }

 private:
  char *shared_;
  u32 used_;
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_GROUP_HPP

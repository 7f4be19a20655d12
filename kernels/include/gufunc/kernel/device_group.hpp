// SPDX-License-Identifier: Apache-2.0
// The groups of a device besides guf::single_thread: a sub-group, and a whole block. Their
// reductions return the same bits as the serial tree (reduce_tree.hpp). A team of eight lanes
// reduces a base block, one accumulator per lane. The four teams of a sub-group combine four base
// blocks by shuffles. In a whole block, the sub-groups store their results in shared memory, and
// every thread combines the results of all sub-groups.
#ifndef GUFUNC_KERNEL_DEVICE_GROUP_HPP
#define GUFUNC_KERNEL_DEVICE_GROUP_HPP

#include "device_shuffle.hpp"
#include "group.hpp"

#if !defined(GUF_OPENCL)
namespace guf {
namespace device {

enum {
  kTeam = 8,                     // lanes that share a base block
  kTeams = (int)kLanes / kTeam,  // base blocks that a sub-group combines at once
  kBlockLeaves = (int)kSubgroups * kTeams
};

// Reduces one base block; all lanes of the team receive the result. Teams without a base block call
// the function with count 0, because all lanes must take part in its shuffles.
template <class T, class F, class Op>
GUF_DEVICE_ONLY T team_leaf(i64 first, i64 count, F f, Op op, T empty) {
  const u32 lane = lane_id(), place = lane & (u32)(kTeam - 1);
  T part = empty;
  i64 i = kTeam;
  if (count >= kTeam) {
    part = f(first + place);
    for (; i + kTeam <= count; i += kTeam) part = op(part, (T)f(first + i + place));
  }
  GUF_UNROLL
  for (u32 step = 1; step < (u32)kTeam; step *= 2) {
    const T other = from_lane(part, lane ^ step);
    if (count >= kTeam) part = (lane & step) != 0 ? op(other, part) : op(part, other);
  }
  if (count > 0 && count < kTeam) {
    part = f(first);
    i = 1;
  }
  for (; i < count; ++i) part = op(part, (T)f(first + i));
  return part;
}

// Combines the base blocks [leaf, leaf + kTeams) of n elements, or fewer at the end. Every lane
// receives the result. Requires n > leaf * kLeafSize.
template <class T, class F, class Op>
GUF_DEVICE_ONLY T joined_leaves(i64 leaf, i64 n, F f, Op op, T empty) {
  const u32 lane = lane_id(), team = lane / (u32)kTeam;
  const i64 first = (leaf + team) * kLeafSize;
  const i64 left = n - first;
  T part = team_leaf(first, left <= 0 ? 0 : left < kLeafSize ? left : (i64)kLeafSize, f, op, empty);
  const i64 leaves = (n - leaf * kLeafSize + kLeafSize - 1) / kLeafSize;
  GUF_UNROLL
  for (u32 step = 1; step < (u32)kTeams; step *= 2) {
    const T other = from_lane(part, lane ^ step * (u32)kTeam);
    const bool is_left = (team & step) == 0;
    if ((i64)(team & ~(2 * step - 1)) + step < leaves) {
      part = is_left ? op(part, other) : op(other, part);
    }
  }
  return from_lane(part, 0u);
}

// A group of 32 threads, which has no shared memory.
class lane_group : public guf::detail::group_reductions<lane_group> {
 public:
  static GUF_DEVICE_ONLY u32 rank() { return lane_id(); }
  static GUF_DEVICE_ONLY constexpr u32 size() { return kLanes; }
  GUF_DEVICE_ONLY void sync() const { subgroup_barrier(); }
  GUF_DEVICE_ONLY lane_group subgroup() const { return *this; }

  template <class T>
  GUF_DEVICE_ONLY T *shared(i64) {
    return nullptr;
  }
  template <class T>
  GUF_DEVICE_ONLY T broadcast(T value, u32 rank) const {
    return from_lane(value, rank);
  }
  // Returns the value of the thread whose rank is `rank`. Each thread may pass a different rank.
  template <class T>
  GUF_DEVICE_ONLY T shuffle(T value, u32 rank) const {
    return from_lane(value, rank);
  }

  template <class T, class F, class Op>
  GUF_DEVICE_ONLY T reduce(i64 n, F f, Op op, T empty) {
    if (n <= 0) return empty;
    if (n <= (i64)kTeams * kLeafSize) return joined_leaves(0, n, f, op, empty);
    guf::detail::tree_joiner<T, Op> tree(op);
    const i64 leaves = (n + kLeafSize - 1) / kLeafSize;
    for (i64 leaf = 0; leaf < leaves; leaf += kTeams) {
      tree.push(joined_leaves(leaf, n, f, op, empty));
    }
    return tree.join();
  }
};

// A group that is a block of kItemThreads threads.
class block_group : public guf::detail::group_reductions<block_group> {
 public:
  // `scratch` has kGroupScratch bytes, followed by kSharedBytes for shared().
  GUF_DEVICE_ONLY explicit block_group(char *scratch) : scratch_(scratch), used_(0), buffer_(0) {}

  static GUF_DEVICE_ONLY u32 rank() { return thread_id(); }
  static GUF_DEVICE_ONLY constexpr u32 size() { return kItemThreads; }
  GUF_DEVICE_ONLY void sync() const { barrier(); }
  GUF_DEVICE_ONLY lane_group subgroup() const { return lane_group(); }

  template <class T>
  GUF_DEVICE_ONLY T *shared(i64 count) {
    return (T *)guf::detail::take_shared(scratch_ + kGroupScratch, &used_, count * (i64)sizeof(T));
  }
  template <class T>
  GUF_DEVICE_ONLY T broadcast(T value, u32 rank) {
    T *const part = next_buffer<T>();
    if (thread_id() == rank) part[0] = value;
    barrier();
    return part[0];
  }

  template <class T, class F, class Op>
  GUF_DEVICE_ONLY T reduce(i64 n, F f, Op op, T empty) {
    if (n <= 0) return empty;
    const i64 leaves = (n + kLeafSize - 1) / kLeafSize;
    if (leaves <= kBlockLeaves) return joined(0, leaves, n, f, op, empty);
    guf::detail::tree_joiner<T, Op> tree(op);
    for (i64 leaf = 0; leaf < leaves; leaf += kBlockLeaves) {
      tree.push(joined(leaf, leaves, n, f, op, empty));
    }
    return tree.join();
  }

 private:
  // Returns one of two buffers, alternately. Between two uses of a buffer, each thread passes the
  // barrier of the operation that uses the other buffer, so all threads have read the first buffer
  // before a thread writes to it again.
  template <class T>
  GUF_DEVICE_ONLY T *next_buffer() {
    static_assert(sizeof(T) <= 16, "a group hands on one number");
    buffer_ ^= 1u;
    return (T *)(scratch_ + buffer_ * (u32)(kSubgroups * 16));
  }

  // Combines up to kBlockLeaves base blocks, from base block `leaf` on. Each sub-group reduces
  // kTeams consecutive base blocks, and then every thread combines the results of the sub-groups.
  template <class T, class F, class Op>
  GUF_DEVICE_ONLY T joined(i64 leaf, i64 leaves, i64 n, F f, Op op, T empty) {
    T *const part = next_buffer<T>();
    const u32 own = thread_id() / (u32)kLanes;
    const i64 first = leaf + (i64)own * kTeams;
    if (first < leaves) {
      const T value = joined_leaves(first, n, f, op, empty);
      if (lane_id() == 0) part[own] = value;
    }
    barrier();
    const i64 ranges = (leaves - leaf + kTeams - 1) / kTeams;
    T low = part[0];
    if (ranges > 1) low = op(low, part[1]);
    if (ranges <= 2) return low;
    T high = part[2];
    if (ranges > 3) high = op(high, part[3]);
    return op(low, high);
  }

  char *scratch_;
  u32 used_, buffer_;
};
static_assert((int)kSubgroups * (int)kLanes == kItemThreads && kSubgroups == 4,
              "joined() joins four ranges");
static_assert(kGroupScratch == 2 * kSubgroups * 16, "two places for a number of every range");

}  // namespace device
}  // namespace guf
#endif

#endif  // GUFUNC_KERNEL_DEVICE_GROUP_HPP

// SPDX-License-Identifier: Apache-2.0
// The parameter guf::block of a raw kernel: the position of this thread, the sizes of the launch,
// and the threads that run together. Dimension 0 varies fastest; indices and sizes have 64 bits.
//   g.global_id(d)  g.global_size(d)   index of this thread in the grid; threads of the grid
//   g.local_id(d)   g.local_size(d)    index of this thread in the block; threads of the block
//   g.group_id(d)   g.grid(d)          index of the block; number of blocks
//   g.rank() g.size()                  local_id and local_size, linear over all dimensions
//   g.shared<T>(n), g.shared<T>(d0, d1, ...)  memory of the block, uninitialised, 16-byte aligned;
//                       null if the launch requested less
//   g.sync()            barrier: waits until all threads of the block have called it; each thread
//                       then sees what the others wrote before. With guf::local_fence or
//                       guf::global_fence as the argument, this is guaranteed only for shared or
//                       only for global memory
//   g.fence()           orders the writes of this thread: every thread of the device sees the
//                       writes before the fence first, and the writes after the fence later
//   g.subgroup()        the group of 32 threads that contains this thread, on every device
#ifndef GUFUNC_KERNEL_RAW_BLOCK_HPP
#define GUFUNC_KERNEL_RAW_BLOCK_HPP

#include "device_block.hpp"
#include "views.hpp"
#if !defined(GUF_HOST)
#include "device_shuffle.hpp"
#endif

namespace guf {

enum memory_fence : u32 { local_fence = 1, global_fence = 2 };

namespace raw {

// Header of the arguments of every launch.
struct head {
  u32 grid[3], threads[3];
  u32 shared_bytes, reserved;
};

GUF_FN u32 pick(const u32 *of, int d) {
  return d == 0 ? of[0] : d == 1 ? of[1] : of[2];
}

// The position of this thread. It comes from registers on a device, and from the executor's
// work_item on the host.
#if defined(GUF_HOST)
typedef device::work_item *thread_position;
GUF_DEVICE_ONLY u32 local_id(thread_position position, int d) {
  return pick(position->thread, d);
}
GUF_DEVICE_ONLY u32 group_id(thread_position position, int d) {
  return pick(position->block, d);
}
GUF_DEVICE_ONLY void barrier(thread_position position) {
  position->sync(position);
#if defined(GUF_EMULATE)
  device::current_item = position;
#endif
}
GUF_DEVICE_ONLY void fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
GUF_DEVICE_ONLY u64 word_from_lane(thread_position position, u64 value, u32 lane) {
  const u64 result = position->shuffle(position, value, lane);
#if defined(GUF_EMULATE)
  device::current_item = position;
#endif
  return result;
}
template <class T>
GUF_DEVICE_ONLY T from_lane(thread_position position, T value, u32 lane) {
  constexpr int words = (int)((sizeof(T) + 7) / 8);
  u64 word[words] = {};
  __builtin_memcpy(word, &value, sizeof(T));
  for (int i = 0; i < words; ++i) word[i] = word_from_lane(position, word[i], lane);
  __builtin_memcpy(&value, word, sizeof(T));
  return value;
}
GUF_DEVICE_ONLY void subgroup_barrier(thread_position position) {
  (void)word_from_lane(position, 0, 0);
}
#else
struct thread_position {};
GUF_DEVICE_ONLY void barrier(thread_position) {
  device::barrier();
}
template <class T>
GUF_DEVICE_ONLY T from_lane(thread_position, T value, u32 lane) {
  return device::from_lane(value, lane);
}
GUF_DEVICE_ONLY void subgroup_barrier(thread_position) {
  device::subgroup_barrier();
}
#if defined(GUF_HIP)
GUF_DEVICE_ONLY u32 local_id(thread_position, int d) {
  return d == 0   ? __builtin_amdgcn_workitem_id_x()
         : d == 1 ? __builtin_amdgcn_workitem_id_y()
                  : __builtin_amdgcn_workitem_id_z();
}
GUF_DEVICE_ONLY u32 group_id(thread_position, int d) {
  return d == 0   ? __builtin_amdgcn_workgroup_id_x()
         : d == 1 ? __builtin_amdgcn_workgroup_id_y()
                  : __builtin_amdgcn_workgroup_id_z();
}
GUF_DEVICE_ONLY void fence() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
#elif defined(__clang__)
GUF_DEVICE_ONLY u32 local_id(thread_position, int d) {
  return (u32)(d == 0   ? __nvvm_read_ptx_sreg_tid_x()
               : d == 1 ? __nvvm_read_ptx_sreg_tid_y()
                        : __nvvm_read_ptx_sreg_tid_z());
}
GUF_DEVICE_ONLY u32 group_id(thread_position, int d) {
  return (u32)(d == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
               : d == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
                        : __nvvm_read_ptx_sreg_ctaid_z());
}
GUF_DEVICE_ONLY void fence() {
  __nvvm_membar_gl();
}
#else
GUF_DEVICE_ONLY u32 local_id(thread_position, int d) {
  return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : threadIdx.z;
}
GUF_DEVICE_ONLY u32 group_id(thread_position, int d) {
  return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z;
}
GUF_DEVICE_ONLY void fence() {
  __threadfence();
}
#endif
#endif

}  // namespace raw

// Shared memory with one index per dimension; the last one varies fastest.
template <class T, int N>
class shared_array {
 public:
  GUF_FN shared_array(T *base, const i64 *extents) : base_(base) {
    for (int d = 0; d < N; ++d) extent_[d] = extents[d];
  }
  template <class... I>
  GUF_FN T &operator()(I... index) const {
    static_assert(sizeof...(I) == N, "one index per dimension");
    const i64 at[] = {(i64)index...};
    i64 flat = at[0];
    GUF_UNROLL
    for (int d = 1; d < N; ++d) flat = flat * extent_[d] + at[d];
    return base_[flat];
  }
  GUF_FN i64 extent(int d) const { return extent_[d]; }
  GUF_FN T *data() const { return base_; }  // null: the launch requested too little

 private:
  T *base_;
  i64 extent_[N];
};

// A sub-group: 32 threads of a block with consecutive ranks. All 32 threads must call each of its
// functions together. The value of a thread that does not exist is undefined.
class lanes {
 public:
  GUF_DEVICE_ONLY lanes(raw::thread_position position, u32 rank)
      : position_(position), rank_(rank) {}

  GUF_DEVICE_ONLY u32 rank() const { return rank_; }
  static GUF_DEVICE_ONLY constexpr u32 size() { return device::kLanes; }
  GUF_DEVICE_ONLY void sync() const { raw::subgroup_barrier(position_); }

  // Returns the value of the thread whose rank is `rank`. Each thread may pass a different rank.
  template <class T>
  GUF_DEVICE_ONLY T shuffle(T value, u32 rank) const {
    return raw::from_lane(position_, value, rank & (size() - 1));
  }
  // shuffle_up and shuffle_down return the value of the thread `by` ranks below or above. Without
  // such a thread, they return the thread's own value.
  template <class T>
  GUF_DEVICE_ONLY T shuffle_up(T value, u32 by) const {
    const T other = shuffle(value, rank_ - by);
    return by <= rank_ ? other : value;
  }
  template <class T>
  GUF_DEVICE_ONLY T shuffle_down(T value, u32 by) const {
    const T other = shuffle(value, rank_ + by);
    return by < size() - rank_ ? other : value;
  }
  template <class T>
  GUF_DEVICE_ONLY T shuffle_xor(T value, u32 mask) const {
    return shuffle(value, rank_ ^ mask);
  }

 private:
  raw::thread_position position_;
  u32 rank_;
};

class block {
 public:
  GUF_DEVICE_ONLY block(raw::thread_position position, const raw::head &p, char *shared)
      : position_(position),
        grid_{p.grid[0], p.grid[1], p.grid[2]},
        threads_{p.threads[0], p.threads[1], p.threads[2]},
        shared_(shared),
        capacity_(p.shared_bytes),
        used_(0) {}

  GUF_DEVICE_ONLY i64 local_id(int d = 0) const { return raw::local_id(position_, d); }
  GUF_DEVICE_ONLY i64 group_id(int d = 0) const { return raw::group_id(position_, d); }
  GUF_DEVICE_ONLY i64 global_id(int d = 0) const {
    return group_id(d) * local_size(d) + local_id(d);
  }
  GUF_DEVICE_ONLY i64 local_size(int d = 0) const { return raw::pick(threads_, d); }
  GUF_DEVICE_ONLY i64 grid(int d = 0) const { return raw::pick(grid_, d); }
  GUF_DEVICE_ONLY i64 global_size(int d = 0) const { return grid(d) * local_size(d); }

  GUF_DEVICE_ONLY u32 rank() const {
    return raw::local_id(position_, 0) +
           threads_[0] * (raw::local_id(position_, 1) + threads_[1] * raw::local_id(position_, 2));
  }
  GUF_DEVICE_ONLY u32 size() const { return threads_[0] * threads_[1] * threads_[2]; }

  // One barrier covers both kinds of memory on every device.
  GUF_DEVICE_ONLY void sync(u32 = local_fence | global_fence) const { raw::barrier(position_); }
  GUF_DEVICE_ONLY void fence() const { raw::fence(); }
  GUF_DEVICE_ONLY lanes subgroup() const {
    return lanes(position_, rank() & (u32)(device::kLanes - 1));
  }

  // Successive calls return successive parts of the memory, so all threads must make the same calls
  // in the same order.
  template <class T>
  GUF_DEVICE_ONLY T *shared(i64 count) {
    const i64 left = (i64)capacity_ - (i64)used_;
    if (shared_ == nullptr || count < 0 || left < 0 || count > left / (i64)sizeof(T)) {
      return nullptr;
    }
    T *const piece = (T *)(shared_ + used_);
    used_ += ((u32)count * (u32)sizeof(T) + 15u) & ~15u;
    return piece;
  }
  template <class T, class... I>
  GUF_DEVICE_ONLY shared_array<T, 1 + (int)sizeof...(I)> shared(i64 first, I... rest) {
    const i64 extents[] = {first, (i64)rest...};
    i64 count = first;
    for (int d = 1; d <= (int)sizeof...(I); ++d) count *= extents[d];
    return shared_array<T, 1 + (int)sizeof...(I)>(shared<T>(count), extents);
  }

 private:
  raw::thread_position position_;
  u32 grid_[3], threads_[3];
  char *shared_;
  u32 capacity_, used_;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_RAW_BLOCK_HPP

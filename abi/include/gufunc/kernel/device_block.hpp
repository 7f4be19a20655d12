// SPDX-License-Identifier: Apache-2.0
// What a device entry receives: one block of plain numbers by value. Its size depends on the number
// of operands alone. Operands stand inputs first.
#ifndef GUFUNC_KERNEL_DEVICE_BLOCK_HPP
#define GUFUNC_KERNEL_DEVICE_BLOCK_HPP

#include "work_item.hpp"

#if defined(GUF_ITEMS)
#define GUF_GLOBAL(threads) extern "C" void
#elif defined(GUF_OPENCL)
#define GUF_GLOBAL(threads) __kernel void
#elif defined(GUF_HIP)
#define GUF_GLOBAL(threads) \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, threads))) void
#elif defined(__clang__)
#define GUF_GLOBAL(threads) \
  extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void
#else
#define GUF_GLOBAL(threads) extern "C" __global__ __launch_bounds__(threads) void
#endif

namespace guf {
namespace device {

enum {
  kThreads = 256,      // of row and nd
  kItemThreads = 128,  // of thread
  kOuter = 7,          // outer loop dimensions, beside the inner one
  kCoreNames = 8,      // distinct core dimensions
  kCoreStrides = 4     // core dimensions of one operand
};

// How an operand of `row` moves along the inner dimension: 2 bits in `kinds`.
enum : u32 { kStrided = 0, kContiguous = 1, kScalar = 2, kImmediate = 3 };
enum : u32 { kVectors = 1 };  // flags: contiguous operands and rows are 16-byte aligned

// Division by d of n < 2^31 as a multiplication: q = (mulhi(n, magic) + n) >> shift.
struct divisor {
  u32 d, magic, shift;
};
GUF_FN u32 quotient(divisor by, u32 n) {
  return ((u32)(((u64)n * by.magic) >> 32) + n) >> by.shift;
}

template <int N>
struct elementwise_block {
  u64 inner;  // row: length of the inner dimension; nd: all elements
  u32 flags, kinds;
  u32 nouter, lgx;  // outer dimensions; log2 of the threads along the inner one
  u32 nrows;
  divisor chunks;  // blocks per row
  divisor dim[kOuter];
  u64 address[N];  // bases, or immediate scalars
  i64 inner_stride[N];
  i64 outer_stride[kOuter][N];
};

template <int N>
struct generalized_block {
  u32 items, nouter;
  divisor dim[kOuter];
  i64 core_size[kCoreNames];
  u64 address[N];
  i64 outer_stride[kOuter][N];
  i64 core_stride[N][kCoreStrides];
};

#if defined(GUF_ITEMS)
inline u32 thread_id() {
  return current_item->thread[0];
}
inline u32 block_id() {
  return current_item->block[0];
}
inline void barrier() {
  work_item *const self = current_item;
  self->sync(self);
  current_item = self;
}
#elif defined(GUF_HIP)
__attribute__((device)) inline u32 thread_id() {
  return __builtin_amdgcn_workitem_id_x();
}
__attribute__((device)) inline u32 block_id() {
  return __builtin_amdgcn_workgroup_id_x();
}
__attribute__((device)) inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#elif defined(GUF_CUDA) && defined(__clang__)
__attribute__((device)) inline u32 thread_id() {
  return __nvvm_read_ptx_sreg_tid_x();
}
__attribute__((device)) inline u32 block_id() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
__attribute__((device)) inline void barrier() {
  __syncthreads();
}
#elif defined(GUF_CUDA)
__device__ inline u32 thread_id() {
  return threadIdx.x;
}
__device__ inline u32 block_id() {
  return blockIdx.x;
}
__device__ inline void barrier() {
  __syncthreads();
}
#else
inline u32 thread_id() {
  return (u32)get_local_id(0);
}
inline u32 block_id() {
  return (u32)get_group_id(0);
}
inline void barrier() {
  ::barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#if defined(GUF_OPENCL) || defined(GUF_ITEMS)
#define GUF_DEVICE_ONLY inline __attribute__((always_inline))
#elif defined(__clang__)
#define GUF_DEVICE_ONLY __attribute__((device, always_inline)) inline
#else
#define GUF_DEVICE_ONLY __device__ __forceinline__
#endif

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_BLOCK_HPP

// SPDX-License-Identifier: Apache-2.0
// Argument blocks of device entries: plain numbers, passed by value. Their size depends only on the
// number of operands. Operands are in the order inputs, outputs. device_elementwise.hpp describes
// the entries `row` and `nd`, and device_generalized.hpp the entries `thread`, `staged`, `lanes`
// and `block`. The host code that fills the blocks includes this header and device_copy_block.hpp.
#ifndef GUFUNC_KERNEL_DEVICE_BLOCK_HPP
#define GUFUNC_KERNEL_DEVICE_BLOCK_HPP

#include "work_item.hpp"

#if defined(GUF_EMULATE)
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
  kThreads = 256,      // threads per block of `row`, `nd` and the copy and cast kernels
  kItemThreads = 128,  // threads per block of `thread`, `lanes` and `block`; maximum of `staged`
  kOuter = 7,          // maximum loop dimensions of `row` besides the inner one
  kDims = 8,           // maximum loop dimensions of the other entries
  kCoreNames = 8,      // maximum distinct core dimensions
  kCoreStrides = 4,    // maximum core dimensions of one operand
  kMaxOperands = 12,   // maximum operands of a loop on a device
  kRowVectors = 2,     // 16-byte words of an operand that a thread of `row` loads at once
  kSubgroups = 4,      // sub-groups of a block of kItemThreads
  kGroupScratch = 128  // bytes of block_group itself, at the start of the shared memory
};

// Returns the number of elements per thread of `nd`. The number is smaller for loops with many
// operands, so that the elements fit into registers.
constexpr int nd_elements(int operands) {
  return operands <= 6 ? 2 : 1;
}

// The bit of the status word that is set if the function has set `failed` for an element. The other
// bits are the values of guf_fp_flag.
enum : u32 { kStatusFailed = 0x80000000u };

// How an operand of `row` advances along the inner dimension. `kinds` contains 2 bits per operand.
enum : u32 { kStrided = 0, kContiguous = 1, kScalar = 2, kImmediate = 3 };
enum : u32 { kVectors = 1 };  // in `flags`: contiguous operands and their rows are 16-byte aligned

// Division of n < 2^31 by d as a multiplication: q = (mulhi(n, magic) + n) >> shift.
struct divisor {
  u32 d, magic, shift;
};
GUF_FN u32 quotient(divisor by, u32 n) {
  return ((u32)(((u64)n * by.magic) >> 32) + n) >> by.shift;
}

// The fields of a block that precede its arrays with one element per operand. Host code uses the
// fields without the arrays, because it knows the number of operands only at run time. A macro
// defines the fields, because OpenCL does not accept a derived struct as an argument. `status` is
// the address of the status word, or 0. Dimension 0 is the innermost.
#define GUF_ROW_HEAD                                                         \
  u64 inner; /* elements of a row; has no limit if nouter is 0 */            \
  u64 status;                                                                \
  u32 flags, kinds;                                                          \
  u32 nouter;           /* outer dimensions */                               \
  u32 log2_row_threads; /* log2 of the number of threads that share a row */ \
  u32 nrows;                                                                 \
  divisor chunks; /* blocks per row */                                       \
  divisor dim[kOuter];                                                       \
  u32 reserved;
struct row_head {
  GUF_ROW_HEAD
};
template <int N>
struct row_block {
  GUF_ROW_HEAD
  u64 address[N];  // base addresses, or immediate scalars
  i64 inner_stride[N];
  i64 outer_stride[kOuter][N];
};

// The first fields of the blocks of entries that support arbitrary strides and a mask.
#define GUF_ITEMS_HEAD                                      \
  u64 status;                                               \
  u64 mask;        /* address of one bool per item, or 0 */ \
  u32 items, ndim; /* items < 2^31 */                       \
  u32 fp_flags;    /* guf_fp_flag to compute */             \
  u32 options;     /* options of the entry */               \
  divisor dim[kDims];                                       \
  i64 mask_stride[kDims];
struct items_head {
  GUF_ITEMS_HEAD
};

// Option of nd: some operand does not have the loop's own type in native byte order.
enum : u32 { kForms = 1 };
template <int N>
struct nd_block {
  GUF_ITEMS_HEAD
  u64 address[N];
  i64 stride[kDims][N];
  u32 form[N];  // see device_form.hpp; only used if kForms is set
};

struct generalized_head {
  GUF_ITEMS_HEAD
  i64 core_size[kCoreNames];
};
template <int N>
struct generalized_block {
  GUF_ITEMS_HEAD
  i64 core_size[kCoreNames];
  u64 address[N];
  i64 stride[kDims][N];
  i64 core_stride[N][kCoreStrides];
};
#undef GUF_ROW_HEAD
#undef GUF_ITEMS_HEAD

// Operands with contiguous rows are staged in shared memory, `options` items per block.
struct staged_row {
  divisor elements;  // elements of an item; elements.d is 0 if the operand is not staged
  u32 pitch;         // elements from one row to the next in shared memory
  u32 at;            // byte offset in shared memory, a multiple of 16
  u32 copies;        // staged_copies
};
enum : u32 {
  kStagedIn = 1,
  kStagedOut = 2,
  kStagedWords = 4
};  // kStagedWords: the base address of the operand is 16-byte aligned
template <int N>
struct staged_block : generalized_block<N> {
  staged_row row[N];
};

#if defined(GUF_EMULATE)
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
#elif defined(GUF_OPENCL)
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

#if defined(GUF_OPENCL) || defined(GUF_HOST)
#define GUF_DEVICE_ONLY inline __attribute__((always_inline))
#elif defined(__clang__)
#define GUF_DEVICE_ONLY __attribute__((device, always_inline)) inline
#else
#define GUF_DEVICE_ONLY __device__ __forceinline__
#endif

// ORs bits into the status word, if there is one.
GUF_DEVICE_ONLY void report(u64 status, u32 bits) {
#if defined(GUF_OPENCL)
  (void)status, (void)bits;  // OpenCL cannot use a number as an address
#else
  if (bits == 0 || status == 0) return;
#if defined(GUF_CUDA) && !defined(__clang__)
  atomicOr((unsigned *)status, bits);
#else
  __atomic_fetch_or((u32 *)status, bits, __ATOMIC_RELAXED);
#endif
#endif
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_BLOCK_HPP

// SPDX-License-Identifier: Apache-2.0
// Which compiler reads a kernel, and the few spellings that differ between them. Freestanding
// C++17: no header of the system, of CUDA or of HIP is read anywhere in the dialect.
// GUF_ITEMS, given on the command line, asks a host compiler for device entries (work_item.hpp).
#ifndef GUFUNC_KERNEL_CONFIG_HPP
#define GUFUNC_KERNEL_CONFIG_HPP

#if defined(__OPENCL_CPP_VERSION__)
#define GUF_OPENCL 1
#elif defined(__HIP__)
#define GUF_HIP 1
#elif defined(__CUDACC__) || defined(__CUDA__)
#define GUF_CUDA 1
#else
#define GUF_HOST 1
#endif

// GUF_FN: a function of the dialect itself, inlined everywhere.
// GUF_DEVICE: a function of the kernel's author; inlined too, because a loop vectorises only over
// what it can see. GUF_DEVICE_NOINLINE is for bodies so large that copies of them hurt.
// GUF_HEAVY: a function of the dialect that is more than a root and calls nothing: the vendors'
// mathematics. On a device it is a function, so that entries do not carry copies of it; one that
// called others would want a stack there.
#if defined(GUF_OPENCL)
#define GUF_FN inline __attribute__((always_inline))
#define GUF_HEAVY GUF_FN
#define GUF_DEVICE inline __attribute__((always_inline))
#define GUF_DEVICE_NOINLINE __attribute__((noinline)) inline
#elif defined(GUF_HIP) || (defined(GUF_CUDA) && defined(__clang__))
#define GUF_FN __attribute__((host, device, always_inline)) inline
#define GUF_HEAVY __attribute__((host, device, noinline)) inline
#define GUF_DEVICE __attribute__((host, device, always_inline)) inline
#define GUF_DEVICE_NOINLINE __attribute__((host, device, noinline)) inline
#elif defined(GUF_CUDA)
#define GUF_FN __host__ __device__ __forceinline__
#define GUF_HEAVY __host__ __device__ __noinline__ inline
#define GUF_DEVICE __host__ __device__ __forceinline__
#define GUF_DEVICE_NOINLINE __host__ __device__ __noinline__ inline
#else
#define GUF_FN inline __attribute__((always_inline))
#define GUF_HEAVY GUF_FN
#define GUF_DEVICE inline __attribute__((always_inline))
#define GUF_DEVICE_NOINLINE __attribute__((noinline)) inline
#endif

// A constant table, at namespace scope: `GUF_TABLE float kSteps[4] = {1, 2, 4, 8};`. Index it
// directly; a pointer to it does not exist on every backend.
#if defined(GUF_OPENCL)
#define GUF_TABLE __constant const
#elif defined(GUF_HIP) || (defined(GUF_CUDA) && defined(__clang__))
#define GUF_TABLE static __attribute__((constant, unused)) const
#elif defined(GUF_CUDA)
#define GUF_TABLE static __constant__ const
#else
#define GUF_TABLE static __attribute__((unused)) constexpr const
#endif

// Loops of the device entries. llvm-spirv-15 writes invalid SPIR-V for either pragma; the host
// vectoriser decides better alone.
#if defined(GUF_HIP) || defined(GUF_CUDA)
#define GUF_UNROLL _Pragma("unroll")
#define GUF_NO_UNROLL _Pragma("unroll 1")
#else
#define GUF_UNROLL
#define GUF_NO_UNROLL
#endif

// A host loop whose iterations do not depend on each other: an output is disjoint from each input
// or exactly the same view, so iteration i alone touches element i.
#if defined(GUF_HOST) && defined(__clang__)
#define GUF_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define GUF_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#elif defined(GUF_HOST)
#define GUF_INDEPENDENT _Pragma("GCC ivdep")
#define GUF_SCALAR_LOOP
#else
#define GUF_INDEPENDENT
#define GUF_SCALAR_LOOP
#endif

#define GUF_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define GUF_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif  // GUFUNC_KERNEL_CONFIG_HPP

// SPDX-License-Identifier: Apache-2.0
// Detects the compiler of a kernel and defines the spellings that differ between compilers. The
// dialect is freestanding C++17: it includes no header of the system, of CUDA or of HIP.
// GUF_EMULATE, defined on the command line, makes a host compiler compile device entries
// (work_item.hpp).
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

// GUF_FN: a function of the dialect itself, always inlined.
// GUF_DEVICE: a function of the kernel's author; also inlined, because a loop vectorises only over
// code that the compiler can see. GUF_DEVICE_NOINLINE is for bodies that are too large to copy.
// GUF_HEAVY: a function that takes more instructions than a square root. On a device (except
// OpenCL) it is not inlined, so that entries do not contain copies of it. It must not contain calls
// of functions that are not inlined themselves, because it would then need a stack.
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
#if defined(GUF_EMULATE)
#define GUF_HEAVY __attribute__((noinline)) inline
#else
#define GUF_HEAVY GUF_FN
#endif
#define GUF_DEVICE inline __attribute__((always_inline))
#define GUF_DEVICE_NOINLINE __attribute__((noinline)) inline
#endif

// A constant table at namespace scope: `GUF_TABLE float kSteps[4] = {1, 2, 4, 8};`. Index it
// directly; not every backend supports a pointer to it. clang turns elements with a constant index
// into constants of the code, which it does not for variables in constant memory.
#if defined(GUF_OPENCL)
#define GUF_TABLE __constant const
#elif defined(GUF_HIP) || (defined(GUF_CUDA) && defined(__clang__))
#define GUF_TABLE static __attribute__((unused)) constexpr const
#elif defined(GUF_CUDA)
#define GUF_TABLE static __constant__ const
#else
#define GUF_TABLE static __attribute__((unused)) constexpr const
#endif

// GUF_UNROLL and GUF_NO_UNROLL control the unrolling of loops in device entries. They are empty for
// OpenCL, because llvm-spirv-15 writes invalid SPIR-V for both pragmas. They are also empty on the
// host, where the vectoriser makes better decisions without the pragmas.
#if defined(GUF_HIP) || defined(GUF_CUDA)
#define GUF_UNROLL _Pragma("unroll")
#define GUF_NO_UNROLL _Pragma("unroll 1")
#else
#define GUF_UNROLL
#define GUF_NO_UNROLL
#endif

// Marks a host loop whose iterations are independent: an output is disjoint from each input or is
// exactly the same view, so only iteration i accesses element i.
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

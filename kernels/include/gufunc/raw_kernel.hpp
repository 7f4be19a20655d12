// SPDX-License-Identifier: Apache-2.0
// Raw kernels: functions that guf_kernel_launch runs on an explicit grid. A source with GUF_KERNEL
// includes this header instead of kernel.hpp; see docs/kernels.md, "Raw kernels".
//
//   #include <gufunc/raw_kernel.hpp>
//
//   GUF_DEVICE void scale(guf::block g, float factor, guf::view<float, 1> x) {
//     const guf::i64 i = g.global_id();
//     if (i < x.extent(0)) x(i) *= factor;
//   }
//   GUF_KERNEL(scale);
//
// A kernel is a function void (guf::block, ...). Its further parameters are
//   numbers             bool, integers, f32, f64, guf::f16, bf16, c64, c128, datetime, timedelta
//   T *, const T *      the elements of a C-contiguous array of any shape
//   guf::view<T, N>     an array with N dimensions and any strides; read-only for const T
// Options of GUF_KERNEL: "name=...", "doc=...", "fp=...", and
//   "threads=256"       maximum number of threads per block; the default is 1024
//   "shared=4096"       bytes of shared memory per block of every launch, in addition to the bytes
//                       that the launch requests
#ifndef GUFUNC_RAW_KERNEL_HPP
#define GUFUNC_RAW_KERNEL_HPP

#include "kernel.hpp"

#if !defined(GUF_SCAN)
#if defined(__OPENCL_CPP_VERSION__)
#error "raw kernels are for the cpu and for GPUs of NVIDIA and AMD, not for OpenCL"
#else
#include "kernel/random.hpp"
#include "kernel/raw_atomic.hpp"
#include "kernel/raw_block.hpp"
#include "kernel/raw_entry.hpp"
#endif
#endif

#endif  // GUFUNC_RAW_KERNEL_HPP

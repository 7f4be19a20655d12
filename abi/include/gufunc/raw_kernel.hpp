// SPDX-License-Identifier: Apache-2.0
// Raw kernels: functions with a grid of their own, launched by guf_kernel_launch. What a source
// with GUF_KERNEL includes instead of kernel.hpp; see docs/kernels.md, "Raw kernels".
//
//   #include <gufunc/raw_kernel.hpp>
//
//   GUF_DEVICE void scale(guf::block g, float factor, guf::view<float, 1> x) {
//     const guf::i64 i = g.global_id();
//     if (i < x.extent(0)) x(i) *= factor;
//   }
//   GUF_KERNEL(scale);
//
// A kernel is a function void (guf::block, ...) whose further parameters are
//   numbers             bool, integers, f32, f64, guf::f16, bf16, c64, c128, datetime, timedelta
//   T *, const T *      the elements of a C-contiguous array of any shape
//   guf::view<T, N>     an array of N dimensions and any strides; const T: it is only read
// Options of GUF_KERNEL: "name=...", "doc=...", "fp=fast", and
//   "threads=256"       of a block at most; 1024 if it is not said
//   "shared=4096"       bytes of shared memory that every launch gives, besides its own
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

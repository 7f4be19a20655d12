// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: everything that the author of a ufunc includes. gufcc compiles the source for
// the cpu's ISA levels and for devices; see docs/kernels.md.
//
//   #include <gufunc/kernel.hpp>
//
//   template <class T>
//   GUF_DEVICE T discriminant(T a, T b, T c) {
//     return guf::sqrt(b * b - T(4) * a * c);
//   }
//   GUF_UFUNC(discriminant, "fff->f ddd->d");
//
// Registrations stand at the end of the function's file, outside of any namespace:
//   GUF_UFUNC(function, types, options...)
//     elementwise; several outputs: void f(T a, T b, guf::out<T> q, guf::out<T> r)
//   GUF_GUFUNC(function, signature, types, options...)
//     inputs without core dimensions arrive as values, operands with core dimensions as views
//   GUF_KERNEL(function)
//     raw kernel with an explicit grid; its source includes gufunc/raw_kernel.hpp
// Types are NumPy's letters, one per operand: ? b B h H i I q Q e f d F D, E for bfloat16; l is q;
// M and m for datetime64 and timedelta64 of any unit, all of one call in the same.
// The function receives bool for ?, float for e and E (rounded once when stored), guf::datetime and
// guf::timedelta for M and m, the type itself otherwise.
// Options are string literals, "key" or "key=value":
//   "name=add"       the ufunc's name, if not the function's
//   "doc=..."        one line
//   "rule=p=n+1"     a rule for an output's dimension
//   "roles=in,inout" of a function that reads its outputs
//   "inplace_safe"   may write the view it reads
//   "group"          the first parameter is a group
//   "fp=fast"        contraction (fma) allowed
//   "identity=zero|one|minus_one|minus_inf|reorderable|none"
//   "commutative"    "associative"
//   "underflows"     a tiny result is a rounded one (floating-point events)
//   "divides"        the last input is a divisor (events of integers)
//   "merge=f"        a reduction whose states the function f of the same module merges,
//   "finish=f"       and makes results of
//   "takes_none"     the leaf of a reduction that also makes a state of no element
//   "failure=text"   the function takes a last parameter `bool &failed`; a call in which an element
//                    set it fails with GUF_E_VALUE and this text
// Registrations of one name are one function and agree in their options, except in "group"; "doc"
// and "failure" may be left out.
#ifndef GUFUNC_KERNEL_HPP
#define GUFUNC_KERNEL_HPP

#include "kernel/config.hpp"

#if defined(GUF_SCAN)
// gufcc reads the registrations out of the preprocessed source.
#define GUF_UFUNC(function, ...) __guf_register__(ufunc, function, __VA_ARGS__)
#define GUF_GUFUNC(function, ...) __guf_register__(gufunc, function, __VA_ARGS__)
#define GUF_KERNEL(function, ...) __guf_register__(kernel, function, ##__VA_ARGS__)
// A device entry of a backend's own: void function(const Block &[, char *shared]), registered with
// "Block", "threads" and perhaps "shared".
#define GUF_ENTRY(function, ...) __guf_register__(entry, function, __VA_ARGS__)
#else
#define GUF_UFUNC(function, ...) static_assert(true, "gufcc makes the entries")
#define GUF_GUFUNC(function, ...) static_assert(true, "gufcc makes the entries")
#define GUF_KERNEL(...) static_assert(true, "gufcc makes the entries")
#define GUF_ENTRY(...) static_assert(true, "gufcc makes the entries")

#include "kernel/group.hpp"
#include "kernel/math.hpp"
#include "kernel/math_ranges.hpp"
#include "kernel/time.hpp"
#include "kernel/types.hpp"
#include "kernel/views.hpp"
#if defined(GUF_HOST) && !defined(GUF_ITEMS)
#include "kernel/host_fold.hpp"
#include "kernel/host_loops.hpp"
#else
#include "kernel/device_entries.hpp"
#endif
#include "kernel/no_std_math.hpp"
#endif

#endif  // GUFUNC_KERNEL_HPP

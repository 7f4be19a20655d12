// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: the header that sources of ufuncs include. gufcc compiles such a source for
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
// Registrations are at the end of the function's file, outside of any namespace:
//   GUF_UFUNC(function, types, options...)
//     elementwise; with several outputs: void f(T a, T b, guf::out<T> q, guf::out<T> r)
//   GUF_GUFUNC(function, signature, types, options...)
//     inputs without core dimensions are passed as values, operands with core dimensions as views
//   GUF_KERNEL(function)
//     raw kernel with an explicit grid; its source includes gufunc/raw_kernel.hpp
// Types are NumPy's letters, one per operand: ? b B h H i I q Q e E f d F D; E is bfloat16, and l
// means the same as q.
// M and m are datetime64 and timedelta64 of any unit; all datetime operands of a call have the same
// unit.
// The function receives bool for ?, float for e and E (its result is rounded once, when it is
// stored), guf::datetime and guf::timedelta for M and m, and the type of the letter otherwise.
// Options are string literals, "key" or "key=value":
//   "name=add"       the ufunc's name, if it differs from the function's
//   "doc=..."        one line
//   "rule=p=n+1"     a rule for an output's dimension
//   "roles=in,inout" for a function that reads its outputs
//   "inplace_safe"   the function may write to the view that it reads
//   "overwrites"     the function overwrites its first operand, of which it receives a copy
//   "batch=f"        function f computes several small items at once (kernel/host_batch.hpp)
//   "group"          the first parameter is a group
//   "fp=vendor"      devices call the vendor's mathematical functions; "fp=fast" also allows
//                    contraction (fma)
//   "identity=zero|one|minus_one|minus_inf|reorderable|none"
//   "commutative"    "associative"
//   "underflows"     tiny results of the function are rounded, so they raise the underflow flag
//   "divides"        the last input is a divisor; an integer 0 raises the flag of integer division
//   "merge=f"        a reduction with a user-defined accumulator: function f of the same module
//                    merges two accumulators
//   "finish=f"       function f of the same module computes the results from the accumulator
//   "accepts_empty"     the function may be called without elements, and then returns an empty
//                       accumulator
//   "keeps_precision"   results of f64 and c128 have the precision of the elements
//   "failure=text"   the function has a last parameter `bool &failed`; if an element sets it, the
//                    call fails with GUF_E_VALUE and this text
// Registrations with the same name are one function. They must have equal options, except for
// "group" and "batch". "doc" and "failure" are needed in only one of these registrations.
#ifndef GUFUNC_KERNEL_HPP
#define GUFUNC_KERNEL_HPP

#include "kernel/config.hpp"

#if defined(GUF_SCAN)
// gufcc reads the registrations from the preprocessed source.
#define GUF_UFUNC(function, ...) __guf_register__(ufunc, function, __VA_ARGS__)
#define GUF_GUFUNC(function, ...) __guf_register__(gufunc, function, __VA_ARGS__)
#define GUF_KERNEL(function, ...) __guf_register__(kernel, function, ##__VA_ARGS__)
// Registers a device entry that belongs to no loop, such as the entries that a backend uses to copy
// data. The function is void function(const Block &[, char *shared]). The other arguments of the
// macro are the type Block, the number of threads per block, and "shared" if the function has the
// second parameter.
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
#if defined(GUF_HOST) && !defined(GUF_EMULATE)
#include "kernel/host_fold.hpp"
#include "kernel/host_loops.hpp"
#else
#include "kernel/device_entries.hpp"
#endif
#include "kernel/no_std_math.hpp"
#endif

#endif  // GUFUNC_KERNEL_HPP

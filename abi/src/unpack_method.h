// SPDX-License-Identifier: Apache-2.0
// Converts the arguments of methods to the core's views: checks pointers, handles and counts.
#ifndef GUFUNC_ABI_UNPACK_METHOD_H
#define GUFUNC_ABI_UNPACK_METHOD_H

#include "core/method/method.h"
#include "core/method/state_reduce.h"

namespace gufunc::capi {

// Each function fills `out`, whose pointers refer to `out` itself or to the caller's memory.
// `*out_output` receives the caller's output operand. For a reduction with a user-defined
// accumulator, it receives the first of the results; unpack_results checks all results.
// Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG, GUF_E_DTYPE, GUF_E_SHAPE <= as guf_call
guf_status unpack_reduce(guf_ufunc ufunc, const guf_reduce_args *args, method::FoldView *out,
                         guf_operand **out_output, guf_error *error);

guf_status unpack_results(const op::Ufunc &ufunc, const guf_operand *results,
                          method::StateResults *out, guf_error *error);

// `with_indices` is true for reduceat, which requires indices. accumulate rejects them.
guf_status unpack_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, bool with_indices,
                             method::FoldView *out, guf_operand **out_output, guf_error *error);

guf_status unpack_at(guf_ufunc ufunc, const guf_at_args *args, method::AtView *out,
                     guf_error *error);

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_UNPACK_METHOD_H

// SPDX-License-Identifier: Apache-2.0
// The methods of a ufunc as the core sees them: the C API layer unpacks, this component validates,
// resolves, plans and launches.
#ifndef GUFUNC_CORE_METHOD_METHOD_H
#define GUFUNC_CORE_METHOD_METHOD_H

#include <gufunc/methods.h>

#include "core/op/call_view.h"

namespace gufunc::method {

// A call's view whose operands are those of the loop X, X -> X: places 0 and 2 are the result,
// place 1 is what is folded. The C API layer fills 1, 2 and the mask; `left` then gives 0 its type.
inline constexpr int32_t kLeft = 0;
inline constexpr int32_t kInput = 1;
inline constexpr int32_t kOutput = 2;

// How messages number the results of a reduction with a state: the first as any output, the others
// behind the mask (3) and the initial value (4).
constexpr int32_t result_place(int32_t index) {
  return index == 0 ? kOutput : 4 + index;
}

enum class Initial : uint8_t {
  kIdentity,  // of the ufunc, if it has one
  kNone,      // no value, whatever the ufunc has
  kGiven,
};

// reduce, accumulate and reduceat. Not initialised as a whole.
struct FoldView {
  op::CallView call;
  guf_call_args args;  // what the rooms below ask of a call; call.args points here
  guf_dtype dtype;     // of the loop, or 0
  bool keepdims;
  Initial initial_kind;
  op::OperandView initial;  // if given
  op::OperandView indices;  // reduceat
  const int64_t *axis;      // naxis of them; nullptr: axis 0 (reduce)
  int32_t naxis;            // or GUF_ALL_AXES
  int64_t one_axis;         // accumulate, reduceat
  int64_t initial_strides[GUF_MAX_NDIM];
  int64_t indices_strides[GUF_MAX_NDIM];
};

// at. The C API layer fills the array and the operand; the call's places are set from them: the
// array is the first and the last, the operand of a binary ufunc stands between. Not initialised as
// a whole.
struct AtView {
  op::CallView call;
  guf_call_args args;
  bool has_operand;
  op::OperandView array;
  op::OperandView operand;
  int32_t nindices;
  op::OperandView index[GUF_MAX_NDIM];
  int64_t index_strides[GUF_MAX_NDIM][GUF_MAX_NDIM];
};

// Whether values in memory are looked at: indices, the initial value.
enum class Elements : uint8_t { kRead, kLeftAlone };

// Each writes an output that it allocates to `output` on success.
// Errors  those of methods.h
guf_status reduce(FoldView &view, guf_operand *output, guf_error *error);
guf_status accumulate(FoldView &view, guf_operand *output, guf_error *error);
guf_status reduceat(FoldView &view, guf_operand *output, guf_error *error);
// Before the operands are counted.  Errors  GUF_E_VALUE, GUF_E_DTYPE <= the ufunc is not binary, or
// has core dimensions
guf_status check_outer(const op::Ufunc &ufunc, guf_error *error);
guf_status outer(op::CallView &call, guf_operand *outputs, guf_error *error);
guf_status at(AtView &view, guf_error *error);

// What each would do: types, and the shape of the result. Values in memory are left alone.
// Errors  those of the method before its launch, but for values in memory
guf_status resolve_reduce(FoldView &view, guf_resolution *out, guf_error *error);
guf_status resolve_accumulate(FoldView &view, guf_resolution *out, guf_error *error);
guf_status resolve_reduceat(FoldView &view, guf_resolution *out, guf_error *error);
guf_status resolve_outer(op::CallView &call, guf_resolution *out, guf_error *error);
guf_status resolve_at(AtView &view, guf_resolution *out, guf_error *error);

// The same as text, with the order of folding, the kernel, and the loops that were refused.
// Errors  as above;  GUF_E_NO_IMAGE
guf_status explain_reduce(FoldView &view, std::string *out, guf_error *error);
guf_status explain_accumulate(FoldView &view, std::string *out, guf_error *error);
guf_status explain_reduceat(FoldView &view, std::string *out, guf_error *error);
guf_status explain_outer(op::CallView &call, std::string *out, guf_error *error);
guf_status explain_at(AtView &view, std::string *out, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_METHOD_H

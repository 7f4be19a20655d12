// SPDX-License-Identifier: Apache-2.0
// The methods of a ufunc: reduce, accumulate, reduceat, outer and at. The C API layer unpacks the
// arguments. This component validates them, resolves the loop, computes the geometry and launches.
#ifndef GUFUNC_CORE_METHOD_METHOD_H
#define GUFUNC_CORE_METHOD_METHOD_H

#include <gufunc/resolve.h>

#include "core/op/call_view.h"

namespace gufunc::method {

// A method uses a CallView with the operands of the loop (X, X) -> X. Operands 0 and 2 are both the
// result, and operand 1 is the input to reduce. The C API layer fills in the input, the output and
// the mask. The methods copy operand 0 from the output, or from the input if the output is missing.
inline constexpr int32_t kLeft = 0;
inline constexpr int32_t kInput = 1;
inline constexpr int32_t kOutput = 2;

// Returns the argument number of result `index` in error messages about a reduction with a
// user-defined accumulator. The first result has the number of the output. The other results have
// the numbers after the mask (3) and the initial value (4).
constexpr int32_t result_argument(int32_t index) {
  return index == 0 ? kOutput : 4 + index;
}
// Likewise for parameter `index` of a reduction with `nresults` results.
constexpr int32_t parameter_argument(int32_t nresults, int32_t index) {
  return result_argument(nresults) + index;
}

enum class Initial : uint8_t {
  kIdentity,  // the identity of the ufunc, if it has one
  kNone,      // no initial value, even if the ufunc has an identity
  kGiven,
};

// The arguments of reduce, accumulate and reduceat. Fields that a method does not use stay
// uninitialised.
struct ReduceView {
  op::CallView call;
  guf_call_args args;  // call.args points here
  guf_dtype dtype;     // dtype of the loop; 0 if not specified
  bool keepdims;
  Initial initial_kind;
  op::OperandView initial;        // valid if initial_kind is kGiven
  op::OperandView indices;        // reduceat only
  const int64_t *axis;            // reduce: `naxis` axes; nullptr selects axis 0
  int32_t naxis;                  // may be GUF_ALL_AXES
  const guf_operand *parameters;  // reduce: `nparameters` operands of the caller
  int32_t nparameters;
  int64_t one_axis;  // the axis of accumulate and reduceat
  int64_t initial_strides[GUF_MAX_NDIM];
  int64_t indices_strides[GUF_MAX_NDIM];
};

// The arguments of the method `at`. The C API layer fills in `array` and `operand`, from which `at`
// sets the operands of `call`: the array is both the first and the last operand, and the operand of
// a binary ufunc is operand 1. Fields that a call does not use stay uninitialised.
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

// Whether a step may read the indices and the initial value from memory.
enum class Elements : uint8_t { kRead, kNotRead };

// Each function runs one method. On success, an allocated output is stored in `output`.
// Errors  as methods.h lists for each method
guf_status reduce(ReduceView &view, guf_operand *output, guf_error *error);
guf_status accumulate(ReduceView &view, guf_operand *output, guf_error *error);
guf_status reduceat(ReduceView &view, guf_operand *output, guf_error *error);
// Checks that the ufunc supports `outer`. The caller runs this check before it counts the operands.
// Errors  GUF_E_VALUE, GUF_E_DTYPE <= the ufunc is not binary, or has core dimensions
guf_status check_outer(const op::Ufunc &ufunc, guf_error *error);
guf_status outer(op::CallView &call, guf_operand *outputs, guf_error *error);
guf_status at(AtView &view, guf_error *error);

// Each function determines the types and the result shape of one method. Indices
// and initial values in memory are not read.
// Errors  the errors of the method before its launch, except errors that depend on values in memory
guf_status resolve_reduce(ReduceView &view, guf_resolution *out, guf_error *error);
guf_status resolve_accumulate(ReduceView &view, guf_resolution *out, guf_error *error);
guf_status resolve_reduceat(ReduceView &view, guf_resolution *out, guf_error *error);
guf_status resolve_outer(op::CallView &call, guf_resolution *out, guf_error *error);
guf_status resolve_at(AtView &view, guf_resolution *out, guf_error *error);

// Each function describes one method as text: the types and shapes, the order of the reduction, the
// kernel, and the rejected loops.
// Errors  as the method's resolve_ function;  GUF_E_NO_IMAGE
guf_status explain_reduce(ReduceView &view, std::string *out, guf_error *error);
guf_status explain_accumulate(ReduceView &view, std::string *out, guf_error *error);
guf_status explain_reduceat(ReduceView &view, std::string *out, guf_error *error);
guf_status explain_outer(op::CallView &call, std::string *out, guf_error *error);
guf_status explain_at(AtView &view, std::string *out, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_METHOD_H

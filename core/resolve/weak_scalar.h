// SPDX-License-Identifier: Apache-2.0
// Weak scalars (NEP 50): the dtypes that they may adopt, and the conversion to a dtype.
#ifndef GUFUNC_CORE_RESOLVE_WEAK_SCALAR_H
#define GUFUNC_CORE_RESOLVE_WEAK_SCALAR_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

inline bool is_weak(const op::OperandView &operand) {
  return operand.kind > GUF_OPERAND_SCALAR;
}
inline bool is_weak_int(const op::OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT || operand.kind == GUF_OPERAND_WEAK_INT_HUGE;
}
// Returns whether an operand is a huge int (GUF_OPERAND_WEAK_INT_HUGE, a Python int outside int64)
// whose magnitude exceeds even uint64.
inline bool is_saturated(const op::OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT_HUGE && (operand.value[1] & 2U) != 0;
}
inline bool is_negative_huge(const op::OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT_HUGE && (operand.value[1] & 1U) != 0;
}

// Returns whether a weak scalar adopts this dtype under every casting rule: ints adopt all numeric
// dtypes, floats adopt floating-point and complex dtypes, complex scalars adopt complex dtypes.
bool adopts(int32_t weak_kind, guf_dtype type);

// Returns the dtype of a weak scalar if no array determines it: int64, float64 or complex128. With
// `alone`, the scalar is the only input, and the dtype of a huge int that fits in uint64 is uint64.
guf_dtype default_dtype(const op::OperandView &operand, bool alone);

// Converts the value to `type`, stores it in operand->cast_value, and adapts the layout.
// Errors  GUF_E_OVERFLOW <= an int outside the range of the type; nothing is written
//         GUF_E_VALUE <= a float or complex scalar to a datetime type
//         GUF_E_CASTING <= a scalar to a structured dtype
guf_status convert(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error);

// Converts a weak scalar to its default dtype, for an operand whose dtype no other operand may
// determine. Leaves other kinds of operands unchanged.
// Errors  GUF_E_OVERFLOW
guf_status convert_to_default(op::OperandView *operand, int32_t index, guf_error *error);

// Converts a float like Python's int(). Writes the int to out->kind and out->value.
// Errors  GUF_E_VALUE <= NaN;  GUF_E_OVERFLOW <= an infinity
guf_status make_int(double value, int32_t index, op::OperandView *out, guf_error *error);

// Like `convert`, but uses the conversions of Python's bool(), int(), float()
// and complex() under every casting rule. Used for the initial value of reduce, and for operands
// whose type signature= specifies.
// Errors  GUF_E_OVERFLOW <= a value outside the range of the type, or an infinity to an int
//         GUF_E_VALUE <= NaN to an int;  GUF_E_CASTING <= complex to a real type
guf_status convert_named(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_WEAK_SCALAR_H

// SPDX-License-Identifier: Apache-2.0
// Python-style scalars (NEP 50): what they may become, and becoming it.
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
// The magnitude of a huge int did not fit into uint64 either.
inline bool is_saturated(const op::OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT_HUGE && (operand.value[1] & 2U) != 0;
}
inline bool is_negative_huge(const op::OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT_HUGE && (operand.value[1] & 1U) != 0;
}

// Whether a weak scalar takes this type without any casting rule: ints become numbers of every
// kind, floats become floats and complex, complex becomes complex.
bool takes(int32_t weak_kind, guf_dtype type);

// The type a weak scalar has where no array gives it one: int64, float64, complex128. `alone`, as
// the one input of a ufunc, a huge int that fits is a uint64.
guf_dtype default_dtype(const op::OperandView &operand, bool alone);

// Writes the value in `type` to operand->cast_value; layout then describes that value.
// Errors  GUF_E_OVERFLOW <= an int outside the type; nothing is written
guf_status convert(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error);

// The int that Python's int() makes of a float, in out->kind and out->value.
// Errors  GUF_E_VALUE <= NaN;  GUF_E_OVERFLOW <= an infinity
guf_status make_int(double value, int32_t index, op::OperandView *out, guf_error *error);

// The same as `convert` for reduce's initial and where signature= names the operand's type: as
// Python's bool(), int(), float() and complex() make it, whatever the casting rule.
// Errors  GUF_E_OVERFLOW <= outside the type, an infinity to an int;  GUF_E_VALUE <= NaN to an int
//         GUF_E_CASTING <= complex to a real type
guf_status convert_named(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_WEAK_SCALAR_H

// SPDX-License-Identifier: Apache-2.0
// The choice of loops for datetime types. The TypeRule of a ufunc determines types for the
// operands. The classes of these types then select the loop. Datetime arithmetic uses signature=
// and dtype= only if a loop for the operands' own types has the requested types.
#include "core/resolve/unit_search.h"

#include <algorithm>
#include <utility>

#include "core/dtype/time_dtype.h"
#include "core/resolve/loop_search.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::resolve {
namespace {

using dtype::is_datetime;
using dtype::is_time;
using dtype::is_timedelta;
using op::TypeRule;

// Returns whether elements of the type can be numbers of datetime steps. This is true for bool and
// integers.
bool is_count(guf_dtype type) {
  return type == GUF_BOOL || dtype::is_integer(type);
}
bool is_float(guf_dtype type) {
  return !dtype::is_extended(type) && !is_count(type) && !dtype::is_complex(type);
}

// The types of the operands that a rule determines.
struct Types {
  guf_dtype type[4] = {};
};

// Converts two operands to their common unit. Each operand keeps its class.
guf_status share_unit(guf_dtype a, guf_dtype b, guf_dtype *out_unit, Types *out, guf_error *error) {
  GUF_TRY(dtype::common_type(a, b, out_unit, error));
  const auto own = [&](guf_dtype type) {
    return is_datetime(type) ? dtype::datetime_like(*out_unit) : dtype::timedelta_like(*out_unit);
  };
  out->type[0] = own(a);
  out->type[1] = own(b);
  return GUF_OK;
}

// A sum is a datetime if one operand is a datetime. The difference of two datetimes is a timedelta.
guf_status add_or_subtract(const TypeQuery &query, Types *out, guf_error *error) {
  const guf_dtype a = query.operand_dtype[0];
  const guf_dtype b = query.operand_dtype[1];
  const bool subtracts = query.ufunc->type_rule == TypeRule::kSubtract;
  guf_dtype unit = 0;
  if (is_datetime(a) && is_datetime(b) && subtracts) {
    GUF_TRY(share_unit(a, b, &unit, out, error));
    out->type[2] = dtype::timedelta_like(unit);
    return GUF_OK;
  }
  const bool from_timedelta = subtracts && is_datetime(b);
  if (is_time(a) && is_time(b) && !(is_datetime(a) && is_datetime(b)) && !from_timedelta) {
    GUF_TRY(share_unit(a, b, &unit, out, error));
    out->type[2] = unit;
    return GUF_OK;
  }
  if (is_time(a) && is_count(b)) {
    *out = {{a, dtype::timedelta_like(a), a}};
    return GUF_OK;
  }
  if (is_count(a) && is_time(b) && !from_timedelta) {
    *out = {{dtype::timedelta_like(b), b, b}};
    return GUF_OK;
  }
  return fail_operands(query, error);
}

guf_status multiply(const TypeQuery &query, Types *out, guf_error *error) {
  const int32_t at = is_timedelta(query.operand_dtype[0]) ? 0 : 1;
  const guf_dtype time = query.operand_dtype[at];
  const guf_dtype number = query.operand_dtype[1 - at];
  if (!is_timedelta(time) || !(is_count(number) || is_float(number))) {
    return fail_operands(query, error);
  }
  out->type[at] = out->type[2] = time;
  out->type[1 - at] = is_float(number) ? GUF_F64 : GUF_I64;
  return GUF_OK;
}

// Rule of divide, floor_divide and remainder. `ratio` is the result type for two
// timedeltas, or 0 if the result is a timedelta.
guf_status divide(const TypeQuery &query, guf_dtype ratio, Types *out, guf_error *error) {
  const guf_dtype time = query.operand_dtype[0];
  const guf_dtype by = query.operand_dtype[1];
  if (is_timedelta(time) && is_timedelta(by)) {
    guf_dtype unit = 0;
    GUF_TRY(share_unit(time, by, &unit, out, error));
    out->type[2] = ratio == 0 ? unit : ratio;
    return GUF_OK;
  }
  if (ratio == 0 || !is_timedelta(time) || !(dtype::is_integer(by) || is_float(by))) {
    return fail_operands(query, error);
  }
  *out = {{time, is_float(by) ? guf_dtype{GUF_F64} : guf_dtype{GUF_I64}, time}};
  return GUF_OK;
}

// Rule of divmod: two timedeltas have an integer quotient and a timedelta as remainder.
guf_status divide_with_remainder(const TypeQuery &query, Types *out, guf_error *error) {
  GUF_TRY(divide(query, 0, out, error));
  out->type[3] = std::exchange(out->type[2], guf_dtype{GUF_I64});
  return GUF_OK;
}

// Reports an overflow for an int outside int64, because NumPy converts a Python int to int64 here.
guf_status check_int(const TypeQuery &query, guf_error *error) {
  for (int32_t i = 0; i < 2; ++i) {
    op::OperandView number = query.call->operand[i];
    if (number.kind != GUF_OPERAND_WEAK_INT_HUGE) continue;
    GUF_TRY(convert(&number, i, GUF_I64, error));
  }
  return GUF_OK;
}

// Rule of comparisons, minimum and maximum: both operands are converted to their common type.
guf_status make_alike(const TypeQuery &query, Types *out, guf_error *error) {
  const guf_dtype a = query.operand_dtype[0];
  const guf_dtype b = query.operand_dtype[1];
  const bool compares = query.ufunc->type_rule == TypeRule::kComparison;
  const bool both = is_time(a) && is_time(b);
  if (both && compares && is_datetime(a) != is_datetime(b)) return fail_operands(query, error);
  guf_dtype common = 0;
  const guf_status status = dtype::common_type(a, b, &common, both ? error : nullptr);
  if (status != GUF_OK && !both && query.any_fixed) {
    GUF_TRY(check_int(query, error));
    return fail_promotion(query, error);
  }
  if (status != GUF_OK) return both ? status : fail_types(query, error);
  *out = {{common, common, compares ? guf_dtype{GUF_BOOL} : common}};
  return GUF_OK;
}

guf_status take_one(const TypeQuery &query, Types *out, guf_error *error) {
  const guf_dtype type = query.operand_dtype[0];
  const TypeRule rule = query.ufunc->type_rule;
  const bool tests = rule == TypeRule::kIsNaT || rule == TypeRule::kIsFinite;
  if (!tests && !is_timedelta(type)) {
    if (!query.any_fixed) return fail_types(query, error);
    // As in NumPy, the casts are checked before this error is reported.
    op::Loop settled;
    settled.types = {type, type};
    GUF_TRY(check_casts(query, settled, InputCheck::kAllCasts, error));
    return fail_type(query, type, error);
  }
  *out = {{type, tests ? guf_dtype{GUF_BOOL} : type}};
  return GUF_OK;
}

guf_status resolve_types(const TypeQuery &query, Types *out, guf_error *error) {
  switch (query.ufunc->type_rule) {
    case TypeRule::kAdd:
    case TypeRule::kSubtract:
      return add_or_subtract(query, out, error);
    case TypeRule::kMultiply:
      return multiply(query, out, error);
    case TypeRule::kDivide:
      return divide(query, GUF_F64, out, error);
    case TypeRule::kFloorDivide:
      return divide(query, GUF_I64, out, error);
    case TypeRule::kRemainder:
      return divide(query, 0, out, error);
    case TypeRule::kDivmod:
      return divide_with_remainder(query, out, error);
    case TypeRule::kComparison:
    case TypeRule::kExtreme:
      return make_alike(query, out, error);
    default:
      return take_one(query, out, error);
  }
}

guf_dtype class_of(guf_dtype type) {
  return is_time(type) ? dtype::time_class(type) : type;
}

// ---- signature= and dtype=

bool any_input_is_time(const TypeQuery &query) {
  for (int32_t i = 0; i < query.ufunc->nin(); ++i) {
    if (query.searches(i) && is_time(query.operand_dtype[i])) return true;
  }
  return false;
}

constexpr int32_t kNoLoop = -1;

// Returns whether all operands of a loop have the same type: always for minimum, maximum and the
// functions of one timedelta, and for sums and products if no input has a datetime type.
bool takes_one_type(TypeRule rule, bool any_time) {
  switch (rule) {
    case TypeRule::kExtreme:
    case TypeRule::kNegative:
    case TypeRule::kAbsolute:
    case TypeRule::kSign:
      return true;
    case TypeRule::kAdd:
    case TypeRule::kSubtract:
    case TypeRule::kMultiply:
      return !any_time;
    default:
      return false;
  }
}

// Returns the type that is requested for all outputs, or 0 if there is none.
guf_dtype requested_of_outputs(const TypeQuery &query) {
  const guf_dtype *const first = query.fixed + query.ufunc->nin();
  const guf_dtype *const last = query.fixed + query.ufunc->noperands();
  const bool one =
      first != last && std::all_of(first, last, [&](guf_dtype type) { return type == *first; });
  return one ? *first : guf_dtype{GUF_DTYPE_UNSPECIFIED};
}

// Returns the type that is requested for all operands, or 0 if there is none: the type of all
// outputs, if no input requests a different type.
guf_dtype requested_of_each(const TypeQuery &query) {
  const int32_t nin = query.ufunc->nin();
  const guf_dtype output = requested_of_outputs(query);
  const bool one = std::all_of(query.fixed, query.fixed + nin,
                               [&](guf_dtype type) { return type == 0 || type == output; });
  return one ? output : guf_dtype{GUF_DTYPE_UNSPECIFIED};
}

// Finds the first loop with the requested types. `accepts` tests all other input types.
template <class Accepts>
int32_t first_requested(const TypeQuery &query, const op::LoopList &list, Accepts accepts) {
  for (size_t k = 0; k < list.loops.size(); ++k) {
    bool fits = true;
    for (int32_t i = 0; i < query.ufunc->noperands() && fits; ++i) {
      const guf_dtype type = list.loops[k]->types[static_cast<size_t>(i)];
      if (query.fixed[i] != 0) {
        fits = query.fixed[i] == type;
      } else if (i < query.ufunc->nin()) {
        fits = accepts(i, type);
      }
    }
    if (fits) return static_cast<int32_t>(k);
  }
  return kNoLoop;
}

// NumPy's search by requested types. It tries exact inputs, then safe casts, and then the output's
// type for all operands. For datetime arithmetic, it tries only exact inputs; if these do not
// match, `*out_index` stays kNoLoop, and the types of the operands select the loop.
guf_status find_requested(const TypeQuery &query, const op::LoopList &list, int32_t *out_index,
                          guf_error *error) {
  const TypeRule rule = query.ufunc->type_rule;
  const bool any_time = any_input_is_time(query);
  const bool one_type = takes_one_type(rule, any_time);
  *out_index = first_requested(query, list, [&](int32_t i, guf_dtype type) {
    return !query.weak[i] && class_of(query.operand_dtype[i]) == type;
  });
  if (*out_index != kNoLoop) return GUF_OK;
  const bool heeded = rule == TypeRule::kComparison || rule == TypeRule::kSearch;
  if (any_time && !one_type && !heeded) return GUF_OK;
  const bool output_decides = one_type && requested_of_each(query) != 0;
  if (!output_decides) {
    *out_index = first_requested(query, list, [&](int32_t i, guf_dtype type) {
      if (query.weak[i] && !is_time(type)) return adopts(query.call->operand[i].kind, type);
      return dtype::can_cast(query.operand_dtype[i], type, GUF_CASTING_SAFE);
    });
  }
  const guf_dtype output = requested_of_outputs(query);
  if (output_decides && output == GUF_BOOL && rule == TypeRule::kNegative)
    return fail_bool(rule, error);
  if (*out_index == kNoLoop && output != 0) {
    *out_index =
        first_requested(query, list, [&](int32_t, guf_dtype type) { return type == output; });
  }
  if (*out_index != kNoLoop) return GUF_OK;
  return output_decides ? fail_types(query, error) : fail_signature(query, error);
}

bool is_of_numbers(const TypeQuery &query, const op::LoopList &list, int32_t index) {
  if (index == kNoLoop) return false;
  const auto first = list.loops[static_cast<size_t>(index)]->types.begin();
  return std::none_of(first, first + query.ufunc->nin(), is_time);
}

guf_status take_loop(const TypeQuery &query, const op::LoopList &list, int32_t index,
                     DatetimeLoop *out) {
  out->index = static_cast<uint32_t>(index);
  std::copy_n(list.loops[out->index]->types.begin(), query.ufunc->noperands(), out->types);
  return GUF_OK;
}

// ---- ufuncs of programs. The first loop whose types have the classes of the operands is chosen,
// and all operands are converted to one unit.

bool accepts_class(const TypeQuery &query, int32_t i, guf_dtype type) {
  if (!is_time(type)) {
    if (query.weak[i]) return adopts(query.call->operand[i].kind, type);
    return dtype::can_cast(query.operand_dtype[i], type, GUF_CASTING_SAFE);
  }
  return is_time(query.operand_dtype[i]) && class_of(query.operand_dtype[i]) == type;
}

guf_status search_program_loops(const TypeQuery &query, const op::LoopList &list, DatetimeLoop *out,
                                guf_error *error) {
  const int32_t count = query.ufunc->noperands();
  for (uint32_t k = 0; k < list.loops.size(); ++k) {
    const op::Loop &loop = *list.loops[k];
    bool fits = true;
    guf_dtype unit = 0;
    guf_status status = GUF_OK;
    for (int32_t i = 0; i < count && fits; ++i) {
      const guf_dtype type = loop.types[static_cast<size_t>(i)];
      if (query.fixed[i] != 0 && query.fixed[i] != type) fits = false;
      if (!query.searches(i)) continue;
      fits = fits && (query.operand_dtype[i] == type || accepts_class(query, i, type));
      if (!fits || !is_time(query.operand_dtype[i]) || status != GUF_OK) continue;
      const guf_dtype own = query.operand_dtype[i];
      if (unit == 0) {
        unit = own;
      } else {
        status = dtype::common_type(unit, own, &unit, error);
      }
    }
    if (!fits) continue;
    GUF_TRY(status);
    out->index = k;
    for (int32_t i = 0; i < count; ++i) {
      const guf_dtype type = loop.types[static_cast<size_t>(i)];
      const bool any_unit = is_time(type) && type == dtype::time_class(type) && unit != 0;
      out->types[i] =
          any_unit ? dtype::make_time(type, dtype::unit(unit), dtype::multiple(unit)) : type;
    }
    return GUF_OK;
  }
  if (!query.any_fixed) return fail_inputs(query, error);
  int32_t requested = kNoLoop;
  GUF_TRY(find_requested(query, list, &requested, error));
  if (is_of_numbers(query, list, requested)) return take_loop(query, list, requested, out);
  return fail_signature(query, error);
}

// Handles calls in which only signature= or dtype= has datetime types. NumPy requires a loop with
// the requested types but then ignores the request.
guf_status search_requested_datetime(const TypeQuery &query, const op::LoopList &list,
                                     DatetimeLoop *out, guf_error *error) {
  TypeQuery plain = query;
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) plain.fixed[i] = 0;
  plain.any_fixed = plain.any_input_fixed = false;
  int32_t requested = kNoLoop;
  GUF_TRY(find_requested(query, list, &requested, error));
  Found found = {};
  GUF_TRY(search(plain, list, &found, error));
  return take_loop(query, list, static_cast<int32_t>(found.index), out);
}

}  // namespace

bool has_datetime(const TypeQuery &query) {
  if (query.ufunc->type_rule == TypeRule::kLogical) return false;  // converts every type to bool
  if (query.ufunc->type_rule == TypeRule::kIsNaT) return true;
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    if (is_time(query.fixed[i]) || (query.searches(i) && is_time(query.operand_dtype[i])))
      return true;
  }
  return false;
}

guf_status search_datetime(const TypeQuery &query, const op::LoopList &list, DatetimeLoop *out,
                           guf_error *error) {
  const TypeRule rule = query.ufunc->type_rule;
  if (rule == TypeRule::kSearch) return search_program_loops(query, list, out, error);
  if (rule == TypeRule::kIsNaT && !is_time(query.operand_dtype[0])) return fail_isnat(query, error);
  if (!any_input_is_time(query)) return search_requested_datetime(query, list, out, error);
  int32_t requested = kNoLoop;
  if (query.any_fixed) GUF_TRY(find_requested(query, list, &requested, error));
  if (is_of_numbers(query, list, requested)) {
    if (rule == TypeRule::kComparison && !query.any_input_fixed) GUF_TRY(check_int(query, error));
    return take_loop(query, list, requested, out);
  }
  // If the requested loop has datetime types, NumPy still determines the types from the operands.
  Types types;
  GUF_TRY(resolve_types(query, &types, error));
  const int32_t count = query.ufunc->noperands();
  for (uint32_t k = 0; k < list.loops.size(); ++k) {
    bool same = true;
    for (int32_t i = 0; i < count && same; ++i)
      same = list.loops[k]->types[static_cast<size_t>(i)] == class_of(types.type[i]);
    if (!same) continue;
    out->index = k;
    std::copy_n(types.type, count, out->types);
    return GUF_OK;
  }
  return fail_types(query, error);
}

guf_status check_int_to_datetime(const TypeQuery &query, const op::Loop &loop, guf_error *error) {
  if (query.call->casting != GUF_CASTING_EQUIV) return GUF_OK;
  for (int32_t i = 0; i < query.ufunc->nin(); ++i) {
    const guf_dtype type = loop.types[static_cast<size_t>(i)];
    if (query.weak[i] && is_time(type)) return fail_weak(query, i, class_of(type), error);
  }
  return GUF_OK;
}

guf_status check_units(const TypeQuery &query, const op::Loop &loop, guf_error *error) {
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    const guf_dtype type = loop.types[static_cast<size_t>(i)];
    const op::OperandView &operand = query.call->operand[i];
    if (query.weak[i] || (operand.flags & (op::kMissing | op::kHasSeparateOutput)) != 0) continue;
    if (query.searches(i)) GUF_TRY(dtype::check_cast(query.operand_dtype[i], type, error));
    if (!query.ufunc->signature.writes(i)) continue;
    GUF_TRY(dtype::check_cast(type, dtype::resolve_unit(query.operand_dtype[i], type), error));
  }
  return GUF_OK;
}

}  // namespace gufunc::resolve

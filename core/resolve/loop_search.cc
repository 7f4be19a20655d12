// SPDX-License-Identifier: Apache-2.0
// The search for a loop. It tries a loop with exactly the given types, then the special rules of a
// few ufuncs, and then the first loop to which the inputs cast safely.
#include "core/resolve/loop_search.h"

#include <algorithm>

#include "core/dtype/time_dtype.h"
#include "core/resolve/resolution_errors.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::resolve {
namespace {

using op::TypeRule;

constexpr int32_t kNotFound = -1;

guf_dtype type_at(const op::Loop &loop, int32_t i) {
  return loop.types[static_cast<size_t>(i)];
}

// Returns the rank of a dtype: 0 for bool, 1 for integers, 2 for all others. Python scalars are
// weak if their highest rank does not exceed the highest rank of the arrays.
int rank(guf_dtype type) {
  if (type == GUF_BOOL) return 0;
  return dtype::is_integer(type) ? 1 : 2;
}

int weak_rank(int32_t kind) {
  return kind == GUF_OPERAND_WEAK_FLOAT || kind == GUF_OPERAND_WEAK_COMPLEX ? 2 : 1;
}

// Returns whether the loop has every requested type (TypeQuery::fixed), and `accepts` is true for
// all other inputs.
template <class Accepts>
bool matches(const TypeQuery &query, const op::Loop &loop, Accepts accepts) {
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    if (query.fixed[i] != 0) {
      if (query.fixed[i] != type_at(loop, i)) return false;
    } else if (query.searches(i) && !accepts(i, type_at(loop, i))) {
      return false;
    }
  }
  return true;
}

template <class Accepts>
int32_t first_match(const TypeQuery &query, const op::LoopList &list, Accepts accepts) {
  for (size_t k = 0; k < list.loops.size(); ++k) {
    if (matches(query, *list.loops[k], accepts)) return static_cast<int32_t>(k);
  }
  return kNotFound;
}

int32_t find_exact(const TypeQuery &query, const op::LoopList &list) {
  return first_match(query, list, [&](int32_t i, guf_dtype type) {
    return query.operand_dtype[i] == type && !query.weak[i];
  });
}

int32_t find_safe(const TypeQuery &query, const op::LoopList &list) {
  return first_match(query, list, [&](int32_t i, guf_dtype type) {
    if (query.weak[i] && query.adopts_array_dtype) return adopts(query.call->operand[i].kind, type);
    if (dtype::is_time(type)) return false;  // unit_search.cc handles datetime types
    return dtype::can_cast(query.operand_dtype[i], type, GUF_CASTING_SAFE);
  });
}

// Finds the loop in which every searched operand without a fixed type has dtype `type`.
int32_t find_uniform(const TypeQuery &query, const op::LoopList &list, guf_dtype type) {
  return first_match(query, list, [&](int32_t, guf_dtype found) { return found == type; });
}

// Returns the type that is requested for all outputs, or 0 if there is none.
guf_dtype fixed_output(const TypeQuery &query) {
  guf_dtype common = 0;
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    if (query.searches(i)) continue;
    if (query.fixed[i] == 0 || (common != 0 && common != query.fixed[i])) return 0;
    common = query.fixed[i];
  }
  return common;
}

// Returns the type that is requested for the whole call, or 0 if there is none: the type is
// requested for all outputs, and no other type is requested for an input.
guf_dtype requested_of_all(const TypeQuery &query) {
  const guf_dtype type = fixed_output(query);
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    if (query.searches(i) && query.fixed[i] != 0 && query.fixed[i] != type) return 0;
  }
  return type;
}

bool all_inputs_have_rank(const TypeQuery &query, int most) {
  for (int32_t i = 0; i < query.ufunc->nin(); ++i) {
    if (rank(query.operand_dtype[i]) > most) return false;
  }
  return true;
}

// Returns whether an input has a structured dtype, whose elements cannot be compared with zero.
bool any_structured(const TypeQuery &query) {
  const int32_t nin = query.ufunc->nin();
  return std::any_of(query.operand_dtype, query.operand_dtype + nin,
                     [](guf_dtype type) { return dtype::is_structured(type); });
}

// Applies the type rule of the ufunc. Except in logical ufuncs, a rule applies only if no
// operand has a fixed type, or if the same type is requested for all operands.
// `*out_index` stays kNotFound if no rule applies.
guf_status search_by_rule(const TypeQuery &query, const op::LoopList &list, int32_t *out_index,
                          guf_error *error) {
  const guf_dtype requested = requested_of_all(query);
  const bool free = !query.any_fixed;
  switch (query.ufunc->type_rule) {
    case TypeRule::kDivide:  // even small integers are divided as float64
      if (free && all_inputs_have_rank(query, 1)) {
        *out_index = find_uniform(query, list, GUF_F64);
      }
      return GUF_OK;
    case TypeRule::kLogical: {  // inputs of different types are first converted to bool
      const guf_dtype output = fixed_output(query);
      if ((output == 0 || output == GUF_BOOL) && !any_structured(query)) {
        *out_index = find_uniform(query, list, GUF_BOOL);
      }
      return GUF_OK;
    }
    case TypeRule::kNegative:
    case TypeRule::kSubtract:
      if (requested == GUF_BOOL || (free && all_inputs_have_rank(query, 0))) {
        return fail_bool(query.ufunc->type_rule, error);
      }
      return GUF_OK;
    case TypeRule::kSign: {
      if (!free && requested == 0) return GUF_OK;
      const guf_dtype type = free ? query.operand_dtype[0] : requested;
      *out_index = find_uniform(query, list, type);
      return *out_index == kNotFound ? fail_types(query, error) : GUF_OK;
    }
    default:
      return GUF_OK;
  }
}

// Finds a loop whose inputs have the type that is requested for all outputs. This search is used if
// no loop accepts the inputs by a safe cast.
int32_t find_by_outputs(const TypeQuery &query, const op::LoopList &list) {
  const guf_dtype type = fixed_output(query);
  return type == 0 ? kNotFound : find_uniform(query, list, type);
}

guf_status fail_search(const TypeQuery &query, guf_error *error) {
  if (!query.any_fixed) return fail_inputs(query, error);
  const bool real =
      query.ufunc->type_rule == TypeRule::kAbsolute && !dtype::is_complex(query.operand_dtype[0]);
  if (real && dtype::is_complex(requested_of_all(query))) return fail_types(query, error);
  return fail_signature(query, error);
}

void fix(TypeQuery *query, int32_t i, guf_dtype type) {
  query->fixed[i] = type;
  if (type == 0) return;
  query->any_fixed = true;
  if (query->searches(i)) query->any_input_fixed = true;
}

guf_status fix_types(const op::CallView &call, TypeQuery *query, guf_error *error) {
  const guf_call_args &args = *call.args;
  if (args.signature == nullptr && args.dtype == 0) return GUF_OK;
  if (args.signature != nullptr && args.dtype != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "cannot specify both 'signature' and 'dtype'");
  }
  if (args.signature != nullptr && args.nsignature != call.noperands) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "a type-tuple must be specified of length %d for ufunc '%s'", call.noperands,
                      query->ufunc->name.c_str());
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    guf_dtype type = 0;
    if (args.signature != nullptr) {
      type = args.signature[i];
    } else if (i >= query->ufunc->nin() ||
               (query->ufunc->nout() == 0 && query->ufunc->signature.writes(i))) {
      type = args.dtype;
    }
    GUF_TRY(check_requested_type(type, i, error));
    fix(query, i, type);
  }
  return GUF_OK;
}

// Returns the type of a Python scalar before a cast to a type of a lower kind: the default type of
// the scalar's kind, in the precision of `type`. Returns the operand's own dtype if the operand has
// one.
guf_dtype type_before_cast(const TypeQuery &query, int32_t i, guf_dtype type) {
  const bool single = dtype::is_real_float(type) && dtype::itemsize(type) <= 4;
  const bool complex = query.call->operand[i].kind == GUF_OPERAND_WEAK_COMPLEX;
  return single && complex ? guf_dtype{GUF_C64} : query.operand_dtype[i];
}

// Returns whether input `i` is an integer. If signature= names a type for the input, that type is
// tested instead of the input's own type.
bool is_integer_side(const TypeQuery &query, int32_t i) {
  if (query.fixed[i] != 0) return dtype::is_integer(query.fixed[i]);
  return query.weak[i] ? is_weak_int(query.call->operand[i])
                       : dtype::is_integer(query.operand_dtype[i]);
}

}  // namespace

bool compares_integers(const TypeQuery &query) {
  return query.ufunc->type_rule == TypeRule::kComparison && is_integer_side(query, 0) &&
         is_integer_side(query, 1);
}

guf_status check_requested_type(guf_dtype type, int32_t i, guf_error *error) {
  if (type != 0 && !dtype::valid(type)) {
    return base::fail(error, GUF_E_DTYPE, i, base::kNone, "0x%08x is not a data type", type);
  }
  if (!dtype::is_time(type) || type == dtype::time_class(type)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, i, base::kNone,
                    "The `dtype` and `signature` arguments to ufuncs only select the general DType "
                    "and not details such as the byte order or time unit. You can avoid this error "
                    "by using the scalar types `np.float64` or the dtype string notation.; got %s",
                    dtype::name(type));
}

guf_status make_query(const op::CallView &call, TypeQuery *out, guf_error *error) {
  out->ufunc = call.ufunc;
  out->call = &call;
  out->any_fixed = false;
  out->any_input_fixed = false;
  int highest_array = -1;
  int highest_scalar = -1;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const op::OperandView &operand = call.operand[i];
    out->fixed[i] = 0;
    out->weak[i] = is_weak(operand);
    out->operand_dtype[i] = out->weak[i] ? default_dtype(operand, false) : operand.layout.dtype;
    if (!out->searches(i)) continue;
    int &highest = out->weak[i] ? highest_scalar : highest_array;
    const int own = out->weak[i] ? weak_rank(operand.kind) : rank(out->operand_dtype[i]);
    if (own > highest) highest = own;
  }
  out->adopts_array_dtype = highest_array >= highest_scalar;
  GUF_TRY(fix_types(call, out, error));
  // Ints are compared with integer dtypes exactly, even if signature= fixes the other type.
  if (out->any_input_fixed && compares_integers(*out)) out->adopts_array_dtype = true;
  return GUF_OK;
}

guf_status search(const TypeQuery &query, const op::LoopList &list, Found *out, guf_error *error) {
  const bool logical = query.ufunc->type_rule == TypeRule::kLogical;
  int32_t index = find_exact(query, list);
  if (index == kNotFound) GUF_TRY(search_by_rule(query, list, &index, error));
  if (index == kNotFound) index = find_safe(query, list);
  if (index == kNotFound && query.any_fixed) index = find_by_outputs(query, list);
  if (index == kNotFound) return fail_search(query, error);
  const op::Loop &loop = *list.loops[static_cast<size_t>(index)];
  *out = {static_cast<uint32_t>(index), logical && type_at(loop, 0) == GUF_BOOL};
  return GUF_OK;
}

guf_status check_weak(const TypeQuery &query, const op::Loop &loop, bool unchecked_inputs,
                      guf_error *error) {
  if (query.call->casting != GUF_CASTING_EQUIV) return GUF_OK;
  const bool only_named = unchecked_inputs || compares_integers(query);
  for (int32_t i = 0; i < query.ufunc->nin(); ++i) {
    const guf_dtype type = type_at(loop, i);
    const bool named = query.fixed[i] != 0;
    if (!query.weak[i] || (only_named && !named)) continue;
    // A scalar that `type` cannot represent at all is rejected later, after the
    // values of the other scalars have been checked.
    const bool adopted = named || adopts(query.call->operand[i].kind, type);
    const guf_dtype first = adopted ? type : type_before_cast(query, i, type);
    if (query.operand_dtype[i] != first) return fail_weak(query, i, first, error);
  }
  return GUF_OK;
}

guf_status check_casts(const TypeQuery &query, const op::Loop &loop, InputCheck input_check,
                       guf_error *error) {
  const op::CallView &call = *query.call;
  const auto wrong_order = [&](int32_t i) {
    return call.casting == GUF_CASTING_NO && (call.operand[i].flags & op::kSwapped) != 0;
  };
  for (int32_t i = 0; i < query.ufunc->noperands() && input_check != InputCheck::kNothing; ++i) {
    if (!query.searches(i)) continue;
    const guf_dtype type = type_at(loop, i);
    const bool named = query.fixed[i] != 0;
    const bool adopted = query.weak[i] && (named || adopts(call.operand[i].kind, type));
    const bool any_type = adopted || input_check == InputCheck::kByteOrderOnly;
    if (wrong_order(i) ||
        !(any_type || dtype::can_cast(query.operand_dtype[i], type, call.casting))) {
      return fail_cast(query, i, type_before_cast(query, i, type), type, false, error);
    }
  }
  for (int32_t i = 0; i < query.ufunc->noperands(); ++i) {
    if (!query.ufunc->signature.writes(i)) continue;
    if ((call.operand[i].flags & (op::kMissing | op::kHasSeparateOutput)) != 0) continue;
    if (wrong_order(i) ||
        !dtype::can_cast(type_at(loop, i), query.operand_dtype[i], call.casting)) {
      return fail_cast(query, i, type_at(loop, i), query.operand_dtype[i], true, error);
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::resolve

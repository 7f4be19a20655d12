// SPDX-License-Identifier: Apache-2.0
// The search for a loop. It tries a loop with exactly the given types, then the special rules of a
// few ufuncs, and then the first loop to which the inputs cast safely. Types without a loop and
// forbidden casts are reported with NumPy's messages.
#include "core/resolve/loop_search.h"

#include <algorithm>

#include "core/dtype/time_dtype.h"
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
    case TypeRule::kInteger:  // two bools are not cast to an integer type
      return free && all_inputs_have_rank(query, 0) ? fail_types(query, error) : GUF_OK;
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
  const bool uniform = !query.any_input_fixed || requested_of_all(query) != 0;
  if (query.ufunc->type_rule == TypeRule::kInteger && uniform) return fail_types(query, error);
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

using base::kNone;

// Appends the class of a dtype in NumPy's notation, such as <class 'numpy.dtypes.Float64DType'>.
void add_class(base::Text *text, guf_dtype type, int32_t kind) {
  switch (kind) {
    case GUF_OPERAND_WEAK_INT:
    case GUF_OPERAND_WEAK_INT_HUGE:
      text->add("<class 'numpy.dtypes._PyLongDType'>");
      return;
    case GUF_OPERAND_WEAK_FLOAT:
      text->add("<class 'numpy.dtypes._PyFloatDType'>");
      return;
    case GUF_OPERAND_WEAK_COMPLEX:
      text->add("<class 'numpy.dtypes._PyComplexDType'>");
      return;
    default:
      break;
  }
  if (type == 0) {
    text->add("None");
    return;
  }
  if (dtype::is_time(type)) {
    text->add("<class 'numpy.dtypes.%sDType'>",
              dtype::is_datetime(type) ? "DateTime64" : "TimeDelta64");
    return;
  }
  const char *const name = dtype::name(type);
  if (dtype::is_structured(type)) {
    text->add("structured dtype '%s'", name);
    return;
  }
  // In class names such as UInt8DType and BFloat16DType, the letter after the prefix is also a
  // capital.
  const bool two = dtype::is_unsigned(type) || dtype::kind(type) == GUF_KIND_BFLOAT;
  const auto upper = [](char c) { return static_cast<char>(c - 'a' + 'A'); };
  text->add("<class 'numpy.dtypes.%c", upper(name[0]));
  if (two) {
    text->add("%c%sDType'>", upper(name[1]), name + 2);
  } else {
    text->add("%sDType'>", name + 1);
  }
}

// Appends the class of an operand. NumPy's promotion treats a Python int as an int64; other Python
// scalars have classes of their own.
void add_own_class(base::Text *text, const TypeQuery &query, int32_t i) {
  const int32_t kind = query.call->operand[i].kind;
  add_class(text, query.operand_dtype[i], kind == GUF_OPERAND_WEAK_INT ? GUF_OPERAND_NONE : kind);
}

void add_classes(base::Text *text, const TypeQuery &query, int32_t first, int32_t last) {
  if (last - first != 1) text->add("(");
  for (int32_t i = first; i < last; ++i) {
    if (i > first) text->add(", ");
    const bool named = query.fixed[i] != 0 || i >= query.ufunc->nin();
    add_class(text, named ? query.fixed[i] : query.operand_dtype[i],
              named ? GUF_OPERAND_NONE : query.call->operand[i].kind);
  }
  if (last - first != 1) text->add(")");
}

const char *type_text(const TypeQuery &query, int32_t i) {
  switch (query.call->operand[i].kind) {
    case GUF_OPERAND_WEAK_INT:
    case GUF_OPERAND_WEAK_INT_HUGE:
      return "a Python int";
    case GUF_OPERAND_WEAK_FLOAT:
      return "a Python float";
    case GUF_OPERAND_WEAK_COMPLEX:
      return "a Python complex";
    default:
      return dtype::name(query.operand_dtype[i]);
  }
}

// Appends the types of the inputs, which NumPy's messages omit: "; got float32 and int64".
void add_found(base::Text *text, const TypeQuery &query) {
  const int32_t nin = query.ufunc->nin();
  for (int32_t i = 0; i < nin; ++i)
    text->add("%s%s", i == 0 ? "; got " : i + 1 < nin ? ", " : " and ", type_text(query, i));
}

// Appends as many loops as fit on a line, in gufcc's type letters.
void add_loops(base::Text *text, const op::Ufunc &ufunc) {
  constexpr size_t kMax = 100;  // maximal number of letters
  size_t used = 0;
  text->add("; loops:");
  for (const op::Loop *const loop : ufunc.loops().loops) {
    used += static_cast<size_t>(ufunc.noperands()) + 3;
    if (used > kMax) {
      text->add(" ...");
      return;
    }
    text->add(" ");
    for (int32_t i = 0; i < ufunc.noperands(); ++i) {
      const char letter = dtype::letter(loop->types[static_cast<size_t>(i)]);
      text->add("%s%c", i == ufunc.nin() ? "->" : "", letter == '\0' ? 'V' : letter);
    }
  }
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

guf_status fail_inputs(const TypeQuery &query, guf_error *error) {
  base::Text details;
  for (int32_t i = 0; i < query.ufunc->nin(); ++i) {
    if (!dtype::is_structured(query.operand_dtype[i])) continue;
    details.add("; argument %d is of structured dtype '%s'", i,
                dtype::name(query.operand_dtype[i]));
  }
  add_found(&details, query);
  add_loops(&details, *query.ufunc);
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "ufunc '%s' not supported for the input types, and the inputs could not be "
                    "safely coerced to any supported types according to the casting rule "
                    "''safe''%s",
                    query.ufunc->name.c_str(), details.c_str());
}

guf_status fail_operands(const TypeQuery &query, guf_error *error) {
  base::Text types[2];
  for (int32_t i = 0; i < 2; ++i) {
    const bool swapped = (query.call->operand[i].flags & op::kSwapped) != 0;
    dtype::spell(query.operand_dtype[i], swapped, &types[i]);
  }
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "ufunc '%s' cannot use operands with types dtype('%s') and dtype('%s')",
                    query.ufunc->name.c_str(), types[0].c_str(), types[1].c_str());
}

guf_status fail_promotion(const TypeQuery &query, guf_error *error) {
  base::Text first, second;
  add_own_class(&first, query, 0);
  add_own_class(&second, query, 1);
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "The DType %s could not be promoted by %s. This means that no common DType "
                    "exists for the given inputs.",
                    first.c_str(), second.c_str());
}

guf_status fail_isnat(const TypeQuery &query, guf_error *error) {
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64. Found %s",
                    type_text(query, 0));
}

guf_status fail_signature(const TypeQuery &query, guf_error *error) {
  base::Text loops;
  add_loops(&loops, *query.ufunc);
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "No loop matching the specified signature and casting was found for ufunc %s%s",
                    query.ufunc->name.c_str(), loops.c_str());
}

guf_status fail_types(const TypeQuery &query, guf_error *error) {
  base::Text types;
  add_classes(&types, query, 0, query.ufunc->nin());
  types.add(" -> ");
  add_classes(&types, query, query.ufunc->nin(), query.ufunc->noperands());
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "ufunc '%s' did not contain a loop with signature matching types %s",
                    query.ufunc->name.c_str(), types.c_str());
}

guf_status fail_type(const TypeQuery &query, guf_dtype type, guf_error *error) {
  base::Text name;
  dtype::spell(type, false, &name);
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "ufunc '%s' did not contain a loop with signature matching types dtype('%s') "
                    "-> dtype('%s')",
                    query.ufunc->name.c_str(), name.c_str(), name.c_str());
}

guf_status fail_bool(op::TypeRule rule, guf_error *error) {
  if (rule == op::TypeRule::kSubtract) {
    return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                      "numpy boolean subtract, the `-` operator, is not supported, use the "
                      "bitwise_xor, the `^` operator, or the logical_xor function instead.");
  }
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "The numpy boolean negative, the `-` operator, is not supported, use the `~` "
                    "operator or the logical_not function instead.");
}

guf_status fail_weak(const TypeQuery &query, int32_t i, guf_dtype to, guf_error *error) {
  const int32_t kind = query.call->operand[i].kind;
  const char *const python = kind == GUF_OPERAND_WEAK_FLOAT     ? "float"
                             : kind == GUF_OPERAND_WEAK_COMPLEX ? "complex"
                                                                : "int";
  return base::fail(error, GUF_E_CASTING, i, kNone,
                    "cannot cast Python %s to %s under the casting rule '%s'", python,
                    dtype::name(to), dtype::casting_name(query.call->casting));
}

guf_status fail_cast(const TypeQuery &query, int32_t i, guf_dtype from, guf_dtype to, bool output,
                     guf_error *error) {
  const int32_t count = output ? query.ufunc->nout() : query.ufunc->nin();
  const bool swapped = (query.call->operand[i].flags & op::kSwapped) != 0;
  base::Text which, source, target;
  which.add(output ? "output" : "input");
  if (count > 1) which.add(" %d", i);
  dtype::spell(from, swapped && !output, &source);
  dtype::spell(to, swapped && output, &target);
  return base::fail(
      error, GUF_E_CASTING, i, kNone,
      "Cannot cast ufunc '%s' %s from dtype('%s') to dtype('%s') with casting rule '%s'",
      query.ufunc->name.c_str(), which.c_str(), source.c_str(), target.c_str(),
      dtype::casting_name(query.call->casting));
}

}  // namespace gufunc::resolve

// SPDX-License-Identifier: Apache-2.0
// NumPy's error messages for types without a loop and for forbidden casts.
#include "core/resolve/resolution_errors.h"

#include "core/resolve/weak_scalar.h"

namespace gufunc::resolve {
namespace {

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
  // In class names such as UInt8DType and BFloat16DType, the letter after the prefix is a capital,
  // too.
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

// SPDX-License-Identifier: Apache-2.0
// Creates the ufuncs of the standard library from ops.def.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/dtype/dtype.h"
#include "core/op/ufunc_registry.h"

namespace gufunc::op {
namespace {

struct Row {
  const char *name;
  int32_t nin;
  int32_t nout;
  const char *signature;
  int32_t identity;
  uint32_t flags;
  const char *loops;
  const char *doc;
};

constexpr Row kRows[] = {
#define GUF_OP(name, nin, nout, signature, identity, flags, loops, doc) \
  {#name, nin, nout, signature, GUF_IDENTITY_##identity, flags, loops, doc},
#include <gufunc/ops.def>
};

constexpr Row kParts[] = {
#define GUF_OP_PART(name, nin, nout, loops, doc) \
  {#name, nin, nout, nullptr, GUF_IDENTITY_NONE, 0, loops, doc},
#include <gufunc/ops.def>
};

// A block function and the names of the other parts of its reduction.
struct Reduction {
  Row block_function;
  const char *merge;
  const char *finish;
};

constexpr Reduction kReductions[] = {
#define GUF_OP_REDUCTION(name, nin, nout, signature, flags, loops, merge, finish, doc) \
  {{#name, nin, nout, signature, GUF_IDENTITY_NONE, flags, loops, doc}, #merge, #finish},
#include <gufunc/ops.def>
};

struct Alias {
  const char *alias;
  const char *name;
};

constexpr Alias kAliases[] = {
#define GUF_OP_ALIAS(alias, name) {#alias, #name},
#include <gufunc/ops.def>
};

struct DimensionRule {
  std::string_view name;
  const char *rules;
};

constexpr DimensionRule kDimensionRules[] = {
#define GUF_OP_RULE(name, rules) {#name, rules},
#include <gufunc/ops.def>
};

const char *dimension_rules_of(std::string_view name) {
  for (const DimensionRule &rule : kDimensionRules) {
    if (rule.name == name) return rule.rules;
  }
  return "";
}

struct RuledName {
  std::string_view name;
  TypeRule rule;
};

constexpr RuledName kRuledNames[] = {
    {"absolute", TypeRule::kAbsolute},   {"add", TypeRule::kAdd},
    {"divide", TypeRule::kDivide},       {"floor_divide", TypeRule::kFloorDivide},
    {"equal", TypeRule::kComparison},    {"not_equal", TypeRule::kComparison},
    {"less", TypeRule::kComparison},     {"less_equal", TypeRule::kComparison},
    {"greater", TypeRule::kComparison},  {"greater_equal", TypeRule::kComparison},
    {"fmax", TypeRule::kExtreme},        {"fmin", TypeRule::kExtreme},
    {"gcd", TypeRule::kInteger},         {"lcm", TypeRule::kInteger},
    {"isfinite", TypeRule::kIsFinite},   {"isinf", TypeRule::kIsFinite},
    {"isnan", TypeRule::kIsFinite},      {"isnat", TypeRule::kIsNaT},
    {"maximum", TypeRule::kExtreme},     {"minimum", TypeRule::kExtreme},
    {"multiply", TypeRule::kMultiply},   {"logical_and", TypeRule::kLogical},
    {"logical_or", TypeRule::kLogical},  {"logical_xor", TypeRule::kLogical},
    {"negative", TypeRule::kNegative},   {"positive", TypeRule::kSign},
    {"remainder", TypeRule::kRemainder}, {"sign", TypeRule::kSign},
    {"subtract", TypeRule::kSubtract},   {"divmod", TypeRule::kDivmod}};

TypeRule rule_of(std::string_view name) {
  for (const RuledName &ruled : kRuledNames) {
    if (ruled.name == name) return ruled.rule;
  }
  return TypeRule::kSearch;
}

// Parses loops in the notation of ops.def, such as "ee->e EE->E ...".
std::vector<std::unique_ptr<Loop>> parse_loops(const char *text) {
  std::vector<std::unique_ptr<Loop>> loops;
  auto loop = std::make_unique<Loop>();
  size_t operand = 0;
  for (const char *c = text;; ++c) {
    if (const guf_dtype type = dtype::from_letter(*c); *c != '\0' && type != 0) {
      loop->types[operand++] = type;
    } else if (*c == ' ' || *c == '\0') {
      loop->flags = GUF_LOOP_ANY_THREAD;
      loops.push_back(std::exchange(loop, std::make_unique<Loop>()));
      operand = 0;
      if (*c == '\0') return loops;
    }
  }
}

base::Ref<Ufunc> make(const Row &row) {
  auto ufunc = base::Ref<Ufunc>::adopt(new Ufunc);
  ufunc->name = row.name;
  ufunc->full_name = row.name;
  ufunc->doc = row.doc;
  ufunc->identity = row.identity;
  ufunc->flags = row.flags;
  ufunc->type_rule = rule_of(row.name);
  // The calls below and in make_reduction cannot fail: the table is part of the library, and
  // tests/unit/op parses every row.
  if (row.signature == nullptr) {
    static_cast<void>(make_elementwise(row.nin, row.nout, nullptr, 0, &ufunc->signature, nullptr));
  } else {
    static_cast<void>(parse_signature(row.signature, dimension_rules_of(row.name), nullptr, 0,
                                      &ufunc->signature, nullptr));
  }
  static_cast<void>(ufunc->add_loops(parse_loops(row.loops), nullptr));
  return ufunc;
}

// Returns the merge or finish function of a reduction: a new one, or the ordinary ufunc with the
// name. Returns an empty reference for an empty name.
base::Ref<Ufunc> find_part(std::string_view name, const std::vector<StandardName> &ordinary) {
  for (const Row &part : kParts) {
    if (part.name == name) return make(part);
  }
  for (const StandardName &known : ordinary) {
    if (known.name == name) return known.ufunc;
  }
  return {};
}

base::Ref<Ufunc> make_reduction(const Reduction &row, const std::vector<StandardName> &ordinary) {
  base::Ref<Ufunc> ufunc = make(row.block_function);
  static_cast<void>(ufunc->set_state_reduction(
      {find_part(row.merge, ordinary), find_part(row.finish, ordinary)}, nullptr));
  return ufunc;
}

}  // namespace

std::vector<StandardName> make_standard_ufuncs() {
  std::vector<StandardName> names;
  names.reserve(std::size(kRows) + std::size(kReductions) + std::size(kAliases));
  for (const Row &row : kRows) names.push_back({row.name, make(row), false});
  for (const Reduction &row : kReductions) {
    names.push_back({row.block_function.name, make_reduction(row, names), false});
  }
  for (const Alias &alias : kAliases) {
    for (const StandardName &known : names) {
      if (known.name != alias.name) continue;
      names.push_back({alias.alias, known.ufunc, true});
      break;
    }
  }
  std::sort(names.begin(), names.end(),
            [](const StandardName &a, const StandardName &b) { return a.name < b.name; });
  return names;
}

}  // namespace gufunc::op

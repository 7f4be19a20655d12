// SPDX-License-Identifier: Apache-2.0
// Computes the sizes of core dimensions. The sources are, in this order, frozen sizes, the inputs,
// dims=, the rules, the outputs that the caller passed, and the program's core_dims hook.
#include <algorithm>

#include "core/base/caller_state.h"
#include "core/base/utf8.h"
#include "core/broadcast/core_dims.h"

namespace gufunc::broadcast {
namespace {

using base::kNone;

int32_t dim_at(const op::Signature &signature, int32_t operand, int32_t j) {
  return signature
      .operand_dims[static_cast<size_t>(signature.core_offset[static_cast<size_t>(operand)] + j)];
}
int32_t core_count(const op::Signature &signature, int32_t operand) {
  return signature.core_ndim[static_cast<size_t>(operand)];
}
const op::CoreDim &dim_of(const op::Signature &signature, int32_t dim) {
  return signature.dims[static_cast<size_t>(dim)];
}

// `j` is the position among the core dimensions that are present in the operand.
guf_status fail_mismatch(const op::CallView &call, int32_t operand, int32_t j, int64_t found,
                         int64_t expected, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const auto f = static_cast<long long>(found);
  const auto w = static_cast<long long>(expected);
  return base::fail(
      error, GUF_E_SHAPE, operand, j,
      "%s: %s operand %d has a mismatch in its core dimension %d, with gufunc signature %s (size "
      "%lld is different from %lld); argument %d, axis %d: expected %lld, got %lld",
      call.ufunc->name.c_str(), role_name(signature, operand), role_index(signature, operand), j,
      signature.text.c_str(), f, w, operand, j, w, f);
}

// Marks the operand's first optional dimension that is not yet missing as missing in all operands.
// Returns false if the operand has no such dimension.
bool drop_optional(const op::Signature &signature, int32_t operand, int32_t noperands,
                   LoopShape *loop) {
  for (int32_t j = 0; j < core_count(signature, operand); ++j) {
    const int32_t dim = dim_at(signature, operand, j);
    if (!dim_of(signature, dim).optional || (loop->missing >> dim & 1U) != 0) continue;
    loop->missing |= 1U << dim;
    for (int32_t other = 0; other < noperands; ++other) {
      for (int32_t k = 0; k < core_count(signature, other); ++k) {
        if (dim_at(signature, other, k) == dim) --loop->core_ndim[other];
      }
    }
    return true;
  }
  return false;
}

// Compares the core sizes of one operand with the known sizes, and records new sizes.
guf_status fold_operand(const op::CallView &call, int32_t operand, LoopShape *loop,
                        guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const array::Layout &layout = call.operand[operand].layout;
  const int32_t first = layout.ndim - loop->core_ndim[operand];
  int32_t present = 0;  // number of core dimensions that are present so far
  for (int32_t j = 0; j < core_count(signature, operand); ++j) {
    const int32_t dim = dim_at(signature, operand, j);
    const bool missing = (loop->missing >> dim & 1U) != 0;
    const int64_t found = missing ? 1 : layout.shape[first + present++];
    int64_t &size = loop->core_size[dim];
    if (size == found) continue;
    const bool stretches = dim_of(signature, dim).broadcastable && !signature.writes(operand);
    if (size == kUnknown || (size == 1 && stretches && dim_of(signature, dim).frozen < 0)) {
      size = found;
    } else if (!(stretches && found == 1)) {
      return fail_mismatch(call, operand, present - 1, found, size, error);
    }
  }
  return GUF_OK;
}

guf_status apply_dims(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t k = 0; k < call.args->ndims; ++k) {
    const guf_dim &given = call.args->dims[k];
    size_t dim = 0;
    while (dim < signature.dims.size() && signature.dims[dim].name != given.name) ++dim;
    if (dim == signature.dims.size()) {
      return base::fail(error, GUF_E_ARG, kNone, kNone,
                        "%s: dims= names %.*s, which is not a core dimension of %s",
                        call.ufunc->name.c_str(), base::utf8_prefix(given.name, GUF_MAX_NAME),
                        given.name, signature.text.c_str());
    }
    int64_t &size = loop->core_size[dim];
    if (given.size < 0 || (size != kUnknown && size != given.size)) {
      return base::fail(
          error, GUF_E_SHAPE, kNone, kNone,
          "%s: dims= sets %.63s to %lld; expected %s%lld, got %lld", call.ufunc->name.c_str(),
          given.name, static_cast<long long>(given.size), size == kUnknown ? "at least " : "",
          static_cast<long long>(std::max<int64_t>(size, 0)), static_cast<long long>(given.size));
    }
    size = given.size;
  }
  return GUF_OK;
}

guf_status set_by_rule(const op::CallView &call, const op::DimRule &rule, int64_t value,
                       LoopShape *loop, guf_error *error) {
  int64_t &size = loop->core_size[rule.dim];
  if (size != kUnknown && size != value) {
    return base::fail(error, GUF_E_SHAPE, kNone, kNone,
                      "%s: the rule %s evaluates to %lld, but the core dimension %s has size %lld; "
                      "expected %lld, got %lld",
                      call.ufunc->name.c_str(), rule.text.c_str(), static_cast<long long>(value),
                      dim_of(call.ufunc->signature, rule.dim).name.c_str(),
                      static_cast<long long>(size), static_cast<long long>(value),
                      static_cast<long long>(size));
  }
  size = value;
  return GUF_OK;
}

bool ready(const op::DimRule &rule, const LoopShape &loop) {
  return std::all_of(rule.program.begin(), rule.program.end(), [&](const op::DimRule::Step &step) {
    return step.op != op::DimRule::Step::Op::kDim || loop.core_size[step.constant] != kUnknown;
  });
}

// Applies the rules that use only known sizes. An expression may use a size that a later rule sets,
// so the list of rules is processed as many times as it has rules.
guf_status apply_rules(const op::CallView &call, LoopShape *loop, uint64_t *done,
                       guf_error *error) {
  const std::vector<op::DimRule> &rules = call.ufunc->signature.rules;
  for (size_t round = 0; round < rules.size(); ++round) {
    for (size_t k = 0; k < rules.size(); ++k) {
      const op::DimRule &rule = rules[k];
      if ((*done >> k & 1U) != 0) continue;
      int64_t value = 0;
      if (rule.kind == op::DimRule::Kind::kValue) {
        GUF_TRY(read_size(call, rule, &value, error));
      } else if (ready(rule, *loop)) {
        GUF_TRY(op::evaluate(call.ufunc->name.c_str(), call.ufunc->signature, rule, loop->core_size,
                             &value, error));
      } else {
        continue;
      }
      GUF_TRY(set_by_rule(call, rule, value, loop, error));
      *done |= uint64_t{1} << k;
    }
  }
  return GUF_OK;
}

// Reports an error of the program's core_dims hook with the hook's message, which may lack a
// terminating NUL.
[[gnu::cold, gnu::noinline]] guf_status fail_hook(const op::CallView &call, guf_status status,
                                                  guf_error *details, guf_error *error) {
  const char *const name = call.ufunc->name.c_str();
  details->message[sizeof details->message - 1] = '\0';
  if (status < 100 || status > 9999) {  // errors have three or four digits
    return base::fail_native(error, GUF_E_LOOP, kNone, kNone, status,
                             "%s: the hook for core dimensions returned %d, which is not an error",
                             name, status);
  }
  if (details->message[0] == '\0') {
    return base::fail(error, status, kNone, kNone,
                      "%s: the hook for core dimensions refused the sizes", name);
  }
  return base::fail(error, status, details->argument, details->axis, "%s", details->message);
}

// Calls the program's hook with a copy of the sizes. The hook may set only unknown sizes.
guf_status call_hook(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Ufunc &ufunc = *call.ufunc;
  if (__builtin_expect(ufunc.core_dims == nullptr, 1)) return GUF_OK;
  const size_t count = ufunc.signature.dims.size();
  int64_t sizes[GUF_MAX_CORE_NAMES];
  std::copy_n(loop->core_size, count, sizes);
  guf_error details = {};
  details.struct_size = sizeof details;
  details.argument = details.axis = kNone;
  const base::CallerState kept;
  const guf_status status =
      ufunc.core_dims(static_cast<int32_t>(count), sizes, ufunc.core_dims_user, &details);
  if (status != GUF_OK) return fail_hook(call, status, &details, error);
  for (size_t dim = 0; dim < count; ++dim) {
    int64_t &size = loop->core_size[dim];
    if (sizes[dim] == size) continue;
    if (size != kUnknown || sizes[dim] < 0) {
      return base::fail(
          error, GUF_E_SHAPE, kNone, kNone,
          "%s: the hook for core dimensions set %s to %lld; expected %s%lld, got %lld",
          ufunc.name.c_str(), ufunc.signature.dims[dim].name.c_str(),
          static_cast<long long>(sizes[dim]), size == kUnknown ? "at least " : "",
          static_cast<long long>(std::max<int64_t>(size, 0)), static_cast<long long>(sizes[dim]));
    }
    size = sizes[dim];
  }
  return GUF_OK;
}

guf_status check_all_known(const op::CallView &call, const LoopShape &loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t i = 0; i < call.noperands; ++i) {
    for (int32_t j = 0; j < core_count(signature, i); ++j) {
      if (loop.core_size[dim_at(signature, i, j)] != kUnknown) continue;
      return base::fail(
          error, GUF_E_SHAPE, i, j,
          "%s: Output operand %d has core dimension %d unspecified, with gufunc signature %s",
          call.ufunc->name.c_str(), role_index(signature, i), j, signature.text.c_str());
    }
  }
  return GUF_OK;
}

}  // namespace

guf_status count_core_axes(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  loop->missing = 0;
  for (int32_t i = 0; i < call.noperands; ++i) loop->core_ndim[i] = core_count(signature, i);
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (is_missing(call, i)) continue;
    const int32_t ndim = call.operand[i].layout.ndim;
    while (ndim < loop->core_ndim[i] && drop_optional(signature, i, call.noperands, loop)) {
    }
    if (ndim < loop->core_ndim[i]) {
      return base::fail(error, GUF_E_SHAPE, i, kNone,
                        "%s: %s operand %d does not have enough dimensions (has %d, gufunc core "
                        "with signature %s requires %d); argument %d: expected %d, got %d",
                        call.ufunc->name.c_str(), role_name(signature, i), role_index(signature, i),
                        ndim, signature.text.c_str(), loop->core_ndim[i], i, loop->core_ndim[i],
                        ndim);
    }
  }
  return GUF_OK;
}

guf_status find_core_sizes(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  for (size_t dim = 0; dim < signature.dims.size(); ++dim) {
    const bool missing = (loop->missing >> dim & 1U) != 0;
    loop->core_size[dim] = missing ? 1 : signature.dims[dim].frozen;  // frozen may be kUnknown
  }
  for (int32_t i = 0; i < signature.nin; ++i) GUF_TRY(fold_operand(call, i, loop, error));
  GUF_TRY(apply_dims(call, loop, error));
  uint64_t done = 0;
  GUF_TRY(apply_rules(call, loop, &done, error));
  for (int32_t i = signature.nin; i < call.noperands; ++i) {
    if (!is_missing(call, i)) GUF_TRY(fold_operand(call, i, loop, error));
  }
  GUF_TRY(apply_rules(call, loop, &done, error));
  GUF_TRY(call_hook(call, loop, error));
  return check_all_known(call, *loop, error);
}

}  // namespace gufunc::broadcast

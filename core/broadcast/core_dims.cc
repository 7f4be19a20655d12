// SPDX-License-Identifier: Apache-2.0
// The core dimensions of a call. axes=, axis= and keepdims= are applied first, after which the core
// axes of every operand are its last axes. Then the sizes are computed. Their sources are, in this
// order, frozen sizes, the inputs, dims=, the rules, the outputs that the caller passed, and the
// program's core_dims hook. Except for value rules such as "n=value(1)", no step of an ordinary
// call reads elements before the launch.
#include "core/broadcast/core_dims.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/caller_state.h"
#include "core/base/utf8.h"

namespace gufunc::broadcast {
namespace {

using base::kNone;

// An element, converted to an integer if its value is an integer.
struct Number {
  bool whole;
  bool is_negative;
  int64_t value;  // valid if `whole`
};

template <class T>
T load(const unsigned char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Number from_signed(int64_t value) {
  return {true, value < 0, value};
}
Number from_unsigned(uint64_t value) {
  return {value <= static_cast<uint64_t>(INT64_MAX), false, static_cast<int64_t>(value)};
}
Number from_double(double value) {
  const bool whole = value == std::floor(value) && std::fabs(value) < 0x1p62;
  return {whole, value < 0, whole ? static_cast<int64_t>(value) : 0};
}

// Decodes an element. Returns false for dtypes that cannot be sizes, like complex and float16.
bool decode(guf_dtype dtype, const unsigned char *bytes, Number *out) {
  switch (dtype) {
    case GUF_BOOL:
    case GUF_U8:
      *out = from_unsigned(bytes[0]);
      return true;
    case GUF_I8:
      *out = from_signed(static_cast<signed char>(bytes[0]));
      return true;
    case GUF_I16:
      *out = from_signed(load<int16_t>(bytes));
      return true;
    case GUF_U16:
      *out = from_unsigned(load<uint16_t>(bytes));
      return true;
    case GUF_I32:
      *out = from_signed(load<int32_t>(bytes));
      return true;
    case GUF_U32:
      *out = from_unsigned(load<uint32_t>(bytes));
      return true;
    case GUF_I64:
      *out = from_signed(load<int64_t>(bytes));
      return true;
    case GUF_U64:
      *out = from_unsigned(load<uint64_t>(bytes));
      return true;
    case GUF_F32:
      *out = from_double(static_cast<double>(load<float>(bytes)));
      return true;
    case GUF_F64:
      *out = from_double(load<double>(bytes));
      return true;
    default:
      return false;
  }
}

uint64_t count(const array::Layout &layout) {
  uint64_t size = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis)
    size *= static_cast<uint64_t>(layout.shape[axis]);
  return size;
}

// Reads the size that a value rule such as "n=value(1)" obtains from an operand.
// Errors  GUF_E_VALUE, GUF_E_DEVICE_MISMATCH as in `broadcast_operands`
guf_status read_size(const op::CallView &call, const op::DimRule &rule, int64_t *out,
                     guf_error *error) {
  const op::OperandView &operand = call.operand[rule.operand];
  const char *const name = call.ufunc->name.c_str();
  if ((operand.flags & op::kDeviceMemory) != 0) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, rule.operand, kNone,
                      "%s: the rule %s reads argument %d, which is in device memory", name,
                      rule.text.c_str(), rule.operand);
  }
  if (count(operand.layout) != 1) {
    return base::fail(error, GUF_E_VALUE, rule.operand, kNone,
                      "%s: the rule %s needs one value; argument %d: expected 1 values, got %llu",
                      name, rule.text.c_str(), rule.operand,
                      static_cast<unsigned long long>(count(operand.layout)));
  }
  Number number = {false, false, 0};
  if (operand.kind == GUF_OPERAND_WEAK_INT) {
    number = from_signed(static_cast<int64_t>(operand.value[0]));
  } else if (operand.kind == GUF_OPERAND_WEAK_FLOAT) {
    number = from_double(std::bit_cast<double>(operand.value[0]));
  } else {
    unsigned char bytes[16] = {};
    // An element of a structured dtype may be larger than `bytes`, but it is never a size.
    const uint32_t size = std::min<uint32_t>(dtype::itemsize(operand.layout.dtype), sizeof bytes);
    const auto *const from = reinterpret_cast<const unsigned char *>(operand.layout.address);
    const bool swapped = (operand.flags & op::kSwapped) != 0;
    for (uint32_t k = 0; k < size; ++k) bytes[k] = from[swapped ? size - 1 - k : k];
    if (!decode(operand.layout.dtype, bytes, &number)) number.whole = false;
  }
  if (!number.whole || number.is_negative) {
    return base::fail(error, GUF_E_VALUE, rule.operand, kNone,
                      "%s: the rule %s needs a size; argument %d: expected an integer in 0..2**62",
                      name, rule.text.c_str(), rule.operand);
  }
  *out = number.value;
  return GUF_OK;
}

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
guf_status match_core_sizes(const op::CallView &call, int32_t operand, LoopShape *loop,
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

// Finds the first operand whose core dimensions do not permit keepdims=. As in NumPy, the
// dimensions of the signature are checked first, and then the dimensions that are present. Returns
// kNone if every operand permits keepdims=.
int32_t find_mismatch(const op::CallView &call, const LoopShape &loop) {
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const int32_t expected = i < signature.nin ? signature.core_ndim[0] : 0;
    if (signature.core_ndim[static_cast<size_t>(i)] != expected) return i;
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (loop.core_ndim[i] != (i < signature.nin ? loop.core_ndim[0] : 0)) return i;
  }
  return kNone;
}

guf_status check_keepdims(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t expected = signature.nin > 0 ? loop->core_ndim[0] : 0;
  const int32_t mismatch = find_mismatch(call, *loop);
  if (mismatch != kNone) {
    const bool input = mismatch < signature.nin;
    return base::fail(
        error, GUF_E_ARG, mismatch, kNone,
        "%s does not support keepdims: its signature %s requires %s %d to have %d core dimensions, "
        "but keepdims can only be used when all inputs have the same number of core dimensions and "
        "all "
        "outputs have no core dimensions.",
        call.ufunc->name.c_str(), signature.text.c_str(), input ? "input" : "output",
        role_index(signature, mismatch), signature.core_ndim[static_cast<size_t>(mismatch)]);
  }
  for (int32_t i = signature.nin; i < call.noperands; ++i) {
    loop->core_ndim[i] = expected;
    if (is_missing(call, i) || call.operand[i].layout.ndim >= expected) continue;
    return base::fail(error, GUF_E_SHAPE, i, kNone,
                      "%s: Output operand %d does not have enough dimensions (has %d, gufunc core "
                      "with signature %s requires %d); with keepdims= it has %d",
                      call.ufunc->name.c_str(), role_index(signature, i),
                      call.operand[i].layout.ndim, signature.text.c_str(), expected, expected);
  }
  loop->keepdims = true;
  return GUF_OK;
}

int32_t loop_ndim(const op::CallView &call, const LoopShape &loop) {
  int32_t ndim = call.has_where ? call.where.layout.ndim : 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!is_missing(call, i))
      ndim = std::max(ndim, call.operand[i].layout.ndim - loop.core_ndim[i]);
  }
  return ndim;
}

// Writes the order of the operand's axes to loop->axis_permutation: first the axes that are not in
// `axes`, then the axes in `axes`.
guf_status order_axes(int32_t operand, int32_t ndim, const int64_t *axes, LoopShape *loop,
                      guf_error *error) {
  uint64_t taken = 0;
  const int32_t ncore = loop->core_ndim[operand];
  for (int32_t j = 0; j < ncore; ++j) {
    if (axes[j] < -ndim || axes[j] >= ndim) {
      return base::fail(error, GUF_E_AXIS, operand, j,
                        "axis %lld is out of bounds for array of dimension %d",
                        static_cast<long long>(axes[j]), ndim);
    }
    const auto axis = static_cast<int32_t>(axes[j] < 0 ? axes[j] + ndim : axes[j]);
    if ((taken >> axis & 1U) != 0) {
      return base::fail(error, GUF_E_AXIS, operand, axis, "axes item %d has value %d repeated",
                        operand, axis);
    }
    taken |= uint64_t{1} << axis;
    loop->axis_permutation[operand][ndim - ncore + j] = static_cast<int8_t>(axis);
  }
  int32_t place = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if ((taken >> axis & 1U) == 0)
      loop->axis_permutation[operand][place++] = static_cast<int8_t>(axis);
  }
  return GUF_OK;
}

void permute(op::CallView &call, int32_t operand, LoopShape *loop) {
  array::Layout &layout = call.operand[operand].layout;
  int64_t strides[GUF_MAX_NDIM];
  for (int32_t k = 0; k < layout.ndim; ++k) {
    loop->shape_buffer[operand][k] = layout.shape[loop->axis_permutation[operand][k]];
    strides[k] = layout.strides[loop->axis_permutation[operand][k]];
  }
  std::copy_n(strides, layout.ndim, call.stride_buffer[operand]);
  layout.shape = loop->shape_buffer[operand];
  layout.strides = call.stride_buffer[operand];
}

// Checks that axes= has an entry for each operand, or for each input if the signature has no core
// dimensions in outputs.
guf_status check_entries(const op::CallView &call, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t found = call.args->naxes;
  if (found == call.noperands) return GUF_OK;
  const auto outputs = signature.core_ndim.begin() + signature.nin;
  const bool optional =
      std::all_of(outputs, outputs + signature.nout, [](int32_t ncore) { return ncore == 0; });
  if (found == signature.nin && optional) return GUF_OK;
  return base::fail(
      error, GUF_E_ARG, kNone, kNone,
      "axes should be a list with an entry for all %d inputs and outputs; entries for outputs "
      "can only be omitted if none of them has core axes.; naxes: expected %d, got %d",
      call.noperands, call.noperands, found);
}

guf_status fail_entry(const op::CallView &call, const LoopShape &loop, int32_t operand,
                      guf_error *error) {
  return base::fail(error, GUF_E_AXIS, operand, kNone,
                    "%s: operand %d has %d core dimensions, but %d dimensions are specified by "
                    "axes tuple.",
                    call.ufunc->name.c_str(), operand, loop.core_ndim[operand],
                    call.args->axes[operand].naxis);
}

guf_status check_axis(const op::CallView &call, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  if (call.args->axes != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "cannot specify both 'axis' and 'axes'");
  }
  bool single = signature.dims.size() == 1;
  for (int32_t i = 0; i < call.noperands; ++i) {
    single = single && signature.core_ndim[static_cast<size_t>(i)] <= 1;
  }
  if (single) return GUF_OK;
  return base::fail(error, GUF_E_ARG, kNone, kNone,
                    "%s: axis can only be used with a single shared core dimension, not with the "
                    "%d distinct ones "
                    "implied by signature %s.",
                    call.ufunc->name.c_str(), static_cast<int>(signature.dims.size()),
                    signature.text.c_str());
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
  for (int32_t i = 0; i < signature.nin; ++i) GUF_TRY(match_core_sizes(call, i, loop, error));
  GUF_TRY(apply_dims(call, loop, error));
  uint64_t done = 0;
  GUF_TRY(apply_rules(call, loop, &done, error));
  for (int32_t i = signature.nin; i < call.noperands; ++i) {
    if (!is_missing(call, i)) GUF_TRY(match_core_sizes(call, i, loop, error));
  }
  GUF_TRY(apply_rules(call, loop, &done, error));
  GUF_TRY(call_hook(call, loop, error));
  GUF_TRY(check_all_known(call, *loop, error));
  // A block function has one core dimension, and reads its first element unconditionally.
  return call.ufunc->state_reduction() == nullptr
             ? GUF_OK
             : op::check_elements(*call.ufunc, loop->core_size[0], error);
}

guf_status permute_operands(op::CallView &call, LoopShape *loop, guf_error *error) {
  const guf_call_args &args = *call.args;
  if ((args.flags & GUF_CALL_KEEPDIMS) != 0) GUF_TRY(check_keepdims(call, loop, error));
  if (args.axes == nullptr && args.axis == nullptr) return GUF_OK;
  GUF_TRY(args.axis != nullptr ? check_axis(call, error) : check_entries(call, error));
  loop->permuted = true;
  const int32_t common = loop_ndim(call, *loop);
  for (int32_t i = 0; i < call.noperands; ++i) {
    const int32_t ncore = loop->core_ndim[i];
    const bool missing = is_missing(call, i);
    const int32_t ndim = missing ? common + ncore : call.operand[i].layout.ndim;
    if (ndim > GUF_MAX_NDIM) {
      return base::fail(error, GUF_E_SHAPE, i, kNone,
                        "argument %d would have %d dimensions, more than %d", i, ndim,
                        static_cast<int>(GUF_MAX_NDIM));
    }
    int64_t last[GUF_MAX_NDIM];  // the axes of an output without an entry in axes=
    for (int32_t j = 0; j < ncore; ++j) last[j] = j - ncore;
    const int64_t *axes = args.axis;
    if (axes == nullptr && i < args.naxes) {
      if (args.axes[i].naxis != ncore) return fail_entry(call, *loop, i, error);
      axes = args.axes[i].axis;
    }
    GUF_TRY(order_axes(i, ndim, axes != nullptr ? axes : last, loop, error));
    if (!missing) permute(call, i, loop);
  }
  return GUF_OK;
}

}  // namespace gufunc::broadcast

// SPDX-License-Identifier: Apache-2.0
// The checks of a call. The cheapest checks are first.
#include "core/validate/validate_call.h"

#include "core/array/overlap.h"
#include "core/base/checked.h"

namespace gufunc::validate {
namespace {

using base::kNone;

bool fits(int32_t value, int32_t last) {
  return value >= 0 && value <= last;
}

[[gnu::cold, gnu::noinline]] guf_status fail_count(const op::Ufunc &ufunc, const char *what,
                                                   int32_t found, int32_t expected,
                                                   guf_error *error) {
  return base::fail(error, GUF_E_ARG, kNone, kNone, "%s of %s(): expected %d, got %d", what,
                    ufunc.name.c_str(), expected, found);
}

// Returns the number of operands that may have a separate output, for a signature without outputs.
int32_t count_written_inputs(const op::Signature &signature) {
  int32_t count = 0;
  for (int32_t i = 0; i < signature.nin; ++i) count += signature.writes(i) ? 1 : 0;
  return count;
}

guf_status check_counts(const op::Ufunc &ufunc, const guf_call_args &args, guf_error *error) {
  if (args.ninputs != ufunc.nin())
    return fail_count(ufunc, "inputs", args.ninputs, ufunc.nin(), error);
  if (args.noutputs != ufunc.nout() && args.noutputs != 0) {
    const int32_t separate =
        ufunc.nout() == 0 ? count_written_inputs(ufunc.signature) : ufunc.nout();
    if (args.noutputs != separate)
      return fail_count(ufunc, "outputs", args.noutputs, separate, error);
  }
  if (args.ninputs > 0 && args.inputs == nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "args->inputs is NULL");
  }
  if (args.noutputs > 0 && args.outputs == nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "args->outputs is NULL");
  }
  return GUF_OK;
}

// Returns whether the count is in range, and the list is not NULL unless the count is 0.
bool well_formed(int32_t count, const void *list, int32_t most) {
  return fits(count, most) && (count == 0 || list != nullptr);
}

[[gnu::cold, gnu::noinline]] guf_status fail_list(const char *name, int32_t count, int32_t most,
                                                  guf_error *error) {
  if (fits(count, most)) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "args->%s is NULL, and args->n%s is %d", name,
                      name, count);
  }
  return base::fail(error, GUF_E_ARG, kNone, kNone, "args->n%s: expected 0..%d, got %d", name, most,
                    count);
}

// PERF. Checks the axes of a tensor in one pass: no extent is negative, the size does not overflow
// (even if another extent is 0), and no element is outside the lower half of the address space. No
// system maps the upper half, and differences of addresses in the lower half fit in int64. Writes
// C-contiguous strides to `stride_buffer` if the tensor has no strides. Returns false on any
// violation; the caller then determines which check failed.
bool measure(const guf_tensor &tensor, int64_t *stride_buffer, bool *out_empty) {
  int64_t nbytes = dtype::itemsize(tensor.dtype);
  int64_t low = 0;
  int64_t high = nbytes;
  bool wrong = false;
  *out_empty = false;
  for (int32_t axis = tensor.ndim - 1; axis >= 0; --axis) {
    const int64_t extent = tensor.shape[axis];
    int64_t stride = nbytes;
    if (tensor.strides == nullptr) {
      stride_buffer[axis] = stride;
    } else {
      stride = tensor.strides[axis];
    }
    if (__builtin_expect(extent <= 0, 0)) {
      wrong = wrong || extent < 0;
      *out_empty = true;
      continue;
    }
    int64_t reach = 0;
    wrong = !base::checked_mul(nbytes, extent, &nbytes) || wrong;
    wrong = !base::checked_mul(stride, extent - 1, &reach) || wrong;
    int64_t &end = reach < 0 ? low : high;
    wrong = !base::checked_add(end, reach, &end) || wrong;
  }
  if (*out_empty) return !wrong;
  const auto address = static_cast<int64_t>(tensor.address);
  int64_t end = 0;
  return !wrong && address >= 0 && base::checked_add(address, high, &end) && address + low >= 0;
}

// Returns whether every stride is at least the number of bytes that all inner axes span, in which
// case no two elements share memory. If the result is false, elements may or may not share memory.
bool is_plainly_apart(const array::Layout &layout) {
  int64_t reach = dtype::itemsize(layout.dtype);
  for (int32_t axis = layout.ndim - 1; axis >= 0; --axis) {
    if (layout.shape[axis] <= 1) continue;
    if (layout.strides[axis] < reach) return false;
    reach += layout.strides[axis] * (layout.shape[axis] - 1);
  }
  return true;
}

guf_status check_axes(const guf_call_args &args, guf_error *error) {
  if (!well_formed(args.naxes, args.axes, GUF_MAX_OPERANDS))
    return fail_list("axes", args.naxes, GUF_MAX_OPERANDS, error);
  for (int32_t i = 0; i < args.naxes; ++i) {
    const guf_core_axes &entry = args.axes[i];
    if (!fits(entry.naxis, GUF_MAX_NDIM)) {
      return base::fail(error, GUF_E_ARG, i, kNone, "args->axes[%d].naxis: expected 0..%d, got %d",
                        i, static_cast<int>(GUF_MAX_NDIM), entry.naxis);
    }
    if (entry.naxis > 0 && entry.axis == nullptr)
      return base::fail(error, GUF_E_ARG, i, kNone, "args->axes[%d].axis is NULL", i);
    if (entry.reserved != 0) {
      return base::fail(error, GUF_E_ARG, i, kNone, "args->axes[%d].reserved: expected 0, got %u",
                        i, entry.reserved);
    }
  }
  return GUF_OK;
}

}  // namespace

[[gnu::cold]] guf_status fail_value(const char *field, const char *expected, int64_t found,
                                    guf_error *error) {
  return base::fail(error, GUF_E_ARG, kNone, kNone, "args->%s: expected %s, got %lld", field,
                    expected, static_cast<long long>(found));
}

guf_status check_options(const guf_call_options &options, guf_error *error) {
  constexpr uint32_t kFlags =
      GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID | GUF_FP_INTEGER_DIVIDE;
  if ((options.fp_report & ~kFlags) != 0)
    return fail_value("options.fp_report", "flags of guf_fp_flag", options.fp_report, error);
  if ((options.fp_fail & ~kFlags) != 0)
    return fail_value("options.fp_fail", "flags of guf_fp_flag", options.fp_fail, error);
  if (options.reserved != 0) return fail_value("options.reserved", "0", options.reserved, error);
  if (options.fp_report == 0 || options.fp_flags != nullptr) return GUF_OK;
  return base::fail(error, GUF_E_ARG, kNone, kNone, "args->options.fp_flags is NULL");
}

guf_status check_args(const op::Ufunc &ufunc, const guf_call_args &args, guf_error *error) {
  GUF_TRY(check_counts(ufunc, args, error));
  if ((args.flags & ~static_cast<uint32_t>(GUF_CALL_KEEPDIMS)) != 0)
    return fail_value("flags", "0 or GUF_CALL_KEEPDIMS", args.flags, error);
  GUF_TRY(check_options(args.options, error));
  if (!fits(args.casting, GUF_CASTING_UNSAFE))
    return fail_value("casting", "a guf_casting", args.casting, error);
  if (!fits(args.order, GUF_ORDER_ANY))
    return fail_value("order", "a guf_order", args.order, error);
  if (!fits(args.host_policy, GUF_HOST_COPY_AND_WARN))
    return fail_value("host_policy", "a guf_host_policy", args.host_policy, error);
  if (args.reserved != 0) return fail_value("reserved", "0", args.reserved, error);
  if (!well_formed(args.nsignature, args.signature, GUF_MAX_OPERANDS)) {
    return fail_list("signature", args.nsignature, GUF_MAX_OPERANDS, error);
  }
  if (args.signature != nullptr && args.nsignature != ufunc.noperands()) {
    return fail_count(ufunc, "types in a signature", args.nsignature, ufunc.noperands(), error);
  }
  GUF_TRY(check_axes(args, error));
  if (!well_formed(args.ndims, args.dims, GUF_MAX_CORE_NAMES))
    return fail_list("dims", args.ndims, GUF_MAX_CORE_NAMES, error);
  for (int32_t k = 0; k < args.ndims; ++k) {
    if (args.dims[k].name == nullptr)
      return base::fail(error, GUF_E_ARG, k, kNone, "args->dims[%d].name is NULL", k);
  }
  return GUF_OK;
}

guf_status check_tensor(const guf_tensor &tensor, int32_t operand, int64_t *stride_buffer,
                        array::Layout *out, guf_error *error) {
  constexpr uint32_t kKnown = GUF_TENSOR_READ_ONLY | GUF_TENSOR_SWAPPED;
  if (!dtype::valid(tensor.dtype)) {
    return base::fail(error, GUF_E_DTYPE, operand, kNone, "argument %d: 0x%08x is not a dtype",
                      operand, static_cast<unsigned>(tensor.dtype));
  }
  if ((tensor.flags & ~kKnown) != 0) {
    return base::fail(error, GUF_E_ARG, operand, kNone,
                      "argument %d: the tensor has unknown flags 0x%x", operand,
                      static_cast<unsigned>(tensor.flags));
  }
  if (dtype::is_structured(tensor.dtype) && (tensor.flags & GUF_TENSOR_SWAPPED) != 0) {
    return base::fail(error, GUF_E_DTYPE, operand, kNone,
                      "argument %d: the structured dtype '%s' has no byte order to swap", operand,
                      dtype::name(tensor.dtype));
  }
  if (!fits(tensor.ndim, GUF_MAX_NDIM)) {
    return base::fail(error, GUF_E_SHAPE, operand, kNone,
                      "argument %d: ndim: expected 0..%d, got %d", operand,
                      static_cast<int>(GUF_MAX_NDIM), tensor.ndim);
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    return base::fail(error, GUF_E_ARG, operand, kNone, "argument %d: the tensor's shape is NULL",
                      operand);
  }
  bool empty = false;
  if (__builtin_expect(!measure(tensor, stride_buffer, &empty), 0)) {
    uint64_t size = 0;
    const guf_status status =
        array::count_elements(tensor.dtype, tensor.ndim, tensor.shape, &size, error);
    if (status != GUF_OK) {
      if (error != nullptr) error->argument = operand;
      return status;
    }
    return base::fail(error, GUF_E_SHAPE, operand, kNone,
                      "argument %d: the addresses of the tensor's elements overflow", operand);
  }
  if (!empty && tensor.address == 0) {
    return base::fail(error, GUF_E_ARG, operand, kNone, "argument %d: the tensor's address is 0",
                      operand);
  }
  *out = {tensor.dtype, tensor.ndim, tensor.shape,
          tensor.strides == nullptr ? stride_buffer : tensor.strides, tensor.address};
  if (__builtin_expect(empty, 0)) {
    array::bound_strides(*out, stride_buffer);
    out->strides = stride_buffer;
  }
  return GUF_OK;
}

guf_status check_operands(const op::CallView &call, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t count = call.noperands + call.nseparate;
  for (int32_t i = 0; i < count; ++i) {
    const op::OperandView &operand = call.operand[i];
    const bool written = i >= call.noperands || signature.writes(i);
    if (!written || (operand.flags & (op::kMissing | op::kHasSeparateOutput)) != 0) continue;
    if ((operand.flags & op::kScalar) != 0) {
      return base::fail(error, GUF_E_ARG, i, kNone,
                        "return arrays must be of ArrayType; argument %d is written: expected an "
                        "array or a tensor, got a scalar",
                        i);
    }
    if ((operand.flags & op::kReadOnly) != 0) {
      return base::fail(error, GUF_E_READ_ONLY, i, kNone, "output array is read-only; argument %d",
                        i);
    }
    if (!is_plainly_apart(operand.layout) && array::overlaps_itself(operand.layout)) {
      return base::fail(error, GUF_E_OVERLAP, i, kNone,
                        "argument %d is written, and elements of it share memory with one another",
                        i);
    }
  }
  if (call.has_where && call.where.layout.dtype != GUF_BOOL) {
    base::Text found;
    dtype::spell(call.where.layout.dtype, (call.where.flags & op::kSwapped) != 0, &found);
    return base::fail(error, GUF_E_CASTING, call.noperands, kNone,
                      "Cannot cast %s from dtype('%s') to dtype('bool') according to the rule "
                      "'safe'; where: expected bool, got %s",
                      call.where.layout.ndim == 0 ? "scalar" : "array data", found.c_str(),
                      found.c_str());
  }
  return GUF_OK;
}

}  // namespace gufunc::validate

// SPDX-License-Identifier: Apache-2.0
// Converts axes to launch blocks. Kept dimensions may be traversed in any order. The order and the
// extents of the reduced dimensions influence the bits of the result, so they must not change
// unless the loop is exact (every order produces the same bits).
//
// Each reduced axis has its own reduction tree, and a block can store eight axes. If more than
// eight axes of extent > 1 are reduced, the last seven are reduced separately, and all earlier ones
// are reduced as a single axis. This rule depends only on the shape.
#include "core/method/geometry.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/call/requested_fp_flags.h"
#include "core/geometry/launch.h"
#include "core/memory/memory.h"
#include "core/memory/transfer.h"
#include "core/method/method.h"
#include "core/method/result.h"

namespace gufunc::method {
namespace {

// Computes the strides of a copy. The innermost axis is the last reduced axis, followed by the
// other reduced axes and then by the kept axes.
void strides_of_copy(guf_dtype dtype, int32_t ndim, const int64_t *shape,
                     const array::AxisSet &reduced, int64_t *out) {
  int64_t stride = dtype::itemsize(dtype);
  for (const bool is_reduced : {true, false}) {
    for (int32_t axis = ndim - 1; axis >= 0; --axis) {
      if (reduced.test(static_cast<size_t>(axis)) != is_reduced) continue;
      out[axis] = stride;
      stride *= std::max<int64_t>(shape[axis], 1);
    }
  }
}

guf_status copy_operand(op::CallView &call, const int64_t *shape, int32_t ndim,
                        const array::AxisSet &reduced, op::OperandView *operand,
                        call::Temporaries *arrays, guf_error *error) {
  const array::Layout from = operand->layout;
  int64_t strides[GUF_MAX_NDIM];
  strides_of_copy(from.dtype, ndim, shape, reduced, strides);
  GUF_TRY(arrays->check_capture(error));
  base::Ref<array::Array> copy;
  GUF_TRY(
      memory::allocate(*call.device, from.dtype, ndim, shape, strides, GUF_ORDER_C, &copy, error));
  if (call.stream != nullptr && operand->array != nullptr) {
    arrays->keep(base::Ref<array::Array>::share(operand->array));
  }
  const memory::CopyOperand source = {from, (operand->flags & op::kSwapped) != 0};
  GUF_TRY(memory::convert(*call.device, call.stream, {copy->layout(), false}, source, error));
  call::point_at(copy, operand);
  arrays->keep(std::move(copy));
  return GUF_OK;
}

// Returns whether the pairwise tree may be used. The tree regroups and reorders the elements, so
// the ufunc must be associative and commutative.
bool reorders(const op::Ufunc &ufunc) {
  const uint32_t both = GUF_FUNCTION_ASSOCIATIVE | GUF_FUNCTION_COMMUTATIVE;
  return (ufunc.flags & both) == both;
}

bool is_exact(const op::Ufunc &ufunc, guf_dtype type) {
  return (type == GUF_BOOL || dtype::is_integer(type)) && reorders(ufunc);
}

uint32_t operand_flags(const op::OperandView &operand) {
  return (operand.flags & op::kSwapped) != 0 ? uint32_t{GUF_LAUNCH_OPERAND_SWAPPED} : 0U;
}

void drop_single(int32_t *count, Axis *axes) {
  Axis *const end =
      std::remove_if(axes, axes + *count, [](const Axis &a) { return a.extent == 1; });
  *count = static_cast<int32_t>(end - axes);
}

void flip_negative(Geometry *geometry) {
  guf_method_block &block = geometry->block;
  for (int32_t k = 0; k < geometry->nkept; ++k) {
    Axis &axis = geometry->kept[k];
    const bool positive = axis.input_step > 0 || axis.output_step > 0 || axis.mask_step > 0;
    const bool negative = axis.input_step < 0 || axis.output_step < 0 || axis.mask_step < 0;
    if (positive || !negative || axis.extent == 0) continue;
    const int64_t last = axis.extent - 1;
    block.input += base::offset_of(axis.input_step, last);
    block.output += base::offset_of(axis.output_step, last);
    block.mask += base::offset_of(axis.mask_step, last);
    axis = {axis.extent, base::negated(axis.input_step), base::negated(axis.output_step),
            base::negated(axis.mask_step)};
  }
}

// Returns whether dimension `a` should be inside dimension `b`. Compares the output's steps first,
// then the input's steps.
bool belongs_inside(const Axis &a, const Axis &b) {
  const uint64_t steps[2][2] = {{base::magnitude(a.output_step), base::magnitude(b.output_step)},
                                {base::magnitude(a.input_step), base::magnitude(b.input_step)}};
  for (const auto &[own, other] : steps) {
    if (own != 0 && other != 0 && own != other) return own < other;
  }
  return false;
}

template <class Inside>
void sort(int32_t count, Axis *axes, Inside inside) {
  for (int32_t k = 1; k < count; ++k) {
    for (int32_t j = k; j > 0 && inside(axes[j], axes[j - 1]); --j) std::swap(axes[j], axes[j - 1]);
  }
}

bool continues(const Axis &inner, const Axis &outer) {
  return base::is_product(outer.input_step, inner.input_step, inner.extent) &&
         base::is_product(outer.output_step, inner.output_step, inner.extent) &&
         base::is_product(outer.mask_step, inner.mask_step, inner.extent);
}

void coalesce(int32_t *count, Axis *axes) {
  int32_t last = 0;
  for (int32_t k = 1; k < *count; ++k) {
    int64_t merged = 0;
    if (continues(axes[last], axes[k]) &&
        base::checked_mul(axes[last].extent, axes[k].extent, &merged)) {
      axes[last].extent = merged;
    } else {
      axes[++last] = axes[k];
    }
  }
  *count = std::min(*count, last + 1);
}

void flag_alignment(const Geometry &geometry, guf_method_block *block) {
  uint64_t input = block->input | geometry.input_bits;
  uint64_t output =
      block->output | geometry.output_bits | static_cast<uint64_t>(block->fold_output_step);
  const auto add = [&](const Axis &axis) {
    input |= static_cast<uint64_t>(axis.input_step);
    output |= static_cast<uint64_t>(axis.output_step);
  };
  std::for_each(geometry.kept, geometry.kept + geometry.nkept, add);
  std::for_each(geometry.reduced, geometry.reduced + geometry.nreduced, add);
  if ((input & (dtype::alignment(block->input_dtype) - 1)) != 0)
    block->input_flags |= GUF_LAUNCH_OPERAND_UNALIGNED;
  if ((output & (dtype::alignment(block->output_dtype) - 1)) != 0)
    block->output_flags |= GUF_LAUNCH_OPERAND_UNALIGNED;
}

void write_axes(const Geometry &geometry, guf_method_block *block) {
  block->nkept = std::min<int32_t>(geometry.nkept, GUF_MAX_LOOP_NDIM);
  block->nfold = geometry.nreduced;
  block->items = 1;
  for (int32_t k = 0; k < block->nkept; ++k) {
    const Axis &axis = geometry.kept[k];
    block->items *= static_cast<uint64_t>(axis.extent);
    block->kept_size[k] = axis.extent;
    block->kept_input_step[k] = axis.input_step;
    block->kept_output_step[k] = axis.output_step;
    block->kept_mask_step[k] = axis.mask_step;
  }
  for (int32_t k = 0; k < block->nfold; ++k) {
    const Axis &axis = geometry.reduced[k];
    block->fold_size[k] = axis.extent;
    block->fold_input_step[k] = axis.input_step;
    block->fold_mask_step[k] = axis.mask_step;
  }
}

[[gnu::cold, gnu::noinline]] guf_status fail_reduced_axes(int32_t found, guf_error *error) {
  return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                    "a method reduces %d axes, expected at most %d", found,
                    static_cast<int>(GUF_MAX_LOOP_NDIM));
}

// Completes the block of the first launch from the dimensions that the caller added.
// Errors  GUF_E_INTERNAL <= too many reduced dimensions for a block, or an overfull geometry
guf_status fill_block(Geometry *geometry, guf_error *error) {
  if (__builtin_expect(geometry->nreduced > GUF_MAX_LOOP_NDIM, 0))
    return fail_reduced_axes(geometry->nreduced, error);
  if (__builtin_expect(geometry->overfull, 0)) {
    return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                      "a method has more than %d axes", static_cast<int>(GUF_MAX_NDIM));
  }
  drop_single(&geometry->nkept, geometry->kept);
  flip_negative(geometry);
  sort(geometry->nkept, geometry->kept, belongs_inside);
  coalesce(&geometry->nkept, geometry->kept);
  flag_alignment(*geometry, &geometry->block);
  write_axes(*geometry, &geometry->block);
  return GUF_OK;
}

// Advances the addresses of a block along a kept dimension that does not fit into the block.
void advance(const Axis &axis, int64_t steps, guf_method_block *block) {
  if (block->input != 0) block->input += base::offset_of(axis.input_step, steps);
  block->output += base::offset_of(axis.output_step, steps);
  if (block->mask != 0) block->mask += base::offset_of(axis.mask_step, steps);
}

[[gnu::cold]] guf_status check_structured(const op::CallView &call, guf_dtype structured,
                                          guf_error *error) {
  const backend::Device &device = *call.device;
  const guf_backend_api &api = device.backend->api;
  if ((api.features & GUF_BACKEND_METHOD_STRUCTURED) != 0) return GUF_OK;
  return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                    "%s: methods of backend %s do not accept elements of structured dtype '%s'",
                    device.spec.c_str(), api.name, dtype::name(structured));
}

}  // namespace

bool exceeds_reduced_axis_limit(const array::Layout &input, const array::AxisSet &reduced) {
  if (input.ndim <= GUF_MAX_LOOP_NDIM) return false;
  int32_t count = 0;
  for (int32_t axis = 0; axis < input.ndim; ++axis) {
    if (input.shape[axis] == 0) return false;  // no elements to reduce
    if (reduced.test(static_cast<size_t>(axis)) && input.shape[axis] != 1) ++count;
  }
  return count > GUF_MAX_LOOP_NDIM;
}

void set_contiguous_layout(op::CallView &call, const array::AxisSet &reduced,
                           ContiguousBuffer *buffer) {
  const array::Layout input = call.operand[kInput].layout;
  std::copy_n(input.shape, input.ndim, buffer->shape);
  const auto lay_out = [&](op::OperandView &operand, int64_t *strides) {
    const guf_dtype dtype = operand.layout.dtype;
    strides_of_copy(dtype, input.ndim, buffer->shape, reduced, strides);
    operand.layout = {dtype, input.ndim, buffer->shape, strides, geometry::kDummyAddress};
    operand.flags = 0;
  };
  lay_out(call.operand[kInput], buffer->strides);
  if (call.has_where) lay_out(call.where, buffer->mask_strides);
}

guf_status make_reduced_axes_contiguous(op::CallView &call, const array::AxisSet &reduced,
                                        call::Temporaries *arrays, guf_error *error) {
  op::OperandView &input = call.operand[kInput];
  const int32_t ndim = input.layout.ndim;
  int64_t shape[GUF_MAX_NDIM];
  std::copy_n(input.layout.shape, ndim, shape);
  GUF_TRY(copy_operand(call, shape, ndim, reduced, &input, arrays, error));
  if (!call.has_where) return GUF_OK;
  return copy_operand(call, shape, ndim, reduced, &call.where, arrays, error);
}

uint32_t method_flags(int32_t method, const op::CallView &call, const op::Loop &loop) {
  uint32_t flags = 0;
  // A loop (X, Y) -> X cannot combine two partial results, which both have dtype X.
  const bool mixed = method == GUF_METHOD_REDUCE && loop.types[kInput] != loop.types[kLeft];
  if (mixed) flags |= GUF_METHOD_MIXED;
  if (!mixed && reorders(*call.ufunc)) flags |= GUF_METHOD_TREE;
  if (!mixed && is_exact(*call.ufunc, loop.types[kLeft])) flags |= GUF_METHOD_EXACT;
  if (loop.host == nullptr || (loop.flags & GUF_LOOP_ANY_THREAD) != 0)
    flags |= GUF_METHOD_ANY_THREAD;
  const int32_t kind = loop.kind.load(std::memory_order_relaxed);
  if (kind != GUF_LOOP_NUMPY) flags |= GUF_METHOD_STATUS;
  if (kind == GUF_LOOP_ERROR) flags |= GUF_METHOD_ERROR;
  if (call.has_where) flags |= GUF_METHOD_MASKED;
  return flags;
}

void begin(int32_t method, const op::CallView &call, const op::Loop &loop,
           const op::OperandView *input, const op::OperandView &output, Geometry *out) {
  out->nkept = 0;
  out->nreduced = 0;
  out->overfull = false;
  out->input_bits = 0;
  out->output_bits = 0;
  out->structured_initial = nullptr;
  guf_method_block &block = out->block;
  block.method = method;
  block.flags = method_flags(method, call, loop);
  block.loop_dtype = loop.types[kLeft];
  const bool mixed = (block.flags & GUF_METHOD_MIXED) != 0;
  block.element_dtype = mixed ? loop.types[kInput] : 0;
  block.input = input == nullptr ? 0 : input->layout.address;
  block.input_dtype = input == nullptr ? loop.types[0] : input->layout.dtype;
  block.input_flags = GUF_LAUNCH_OPERAND_READ;
  if (input != nullptr) block.input_flags |= operand_flags(*input);
  block.output = output.layout.address;
  block.output_dtype = output.layout.dtype;
  block.output_flags = GUF_LAUNCH_OPERAND_WRITTEN | operand_flags(output);
  if (method == GUF_METHOD_AT) block.output_flags |= GUF_LAUNCH_OPERAND_READ;
  block.mask = call.has_where ? call.where.layout.address : 0;
  block.fold_output_step = 0;
  block.indices = nullptr;
  block.operand_indices = nullptr;
  block.nindices = 0;
}

void merge_folds(Geometry *geometry) {
  drop_single(&geometry->nreduced, geometry->reduced);
  if ((geometry->block.flags & GUF_METHOD_MIXED) != 0) {
    // A mixed loop, (X, Y) -> X, reduces strictly in C order. Merging contiguous neighbours
    // preserves this order.
    coalesce(&geometry->nreduced, geometry->reduced);
    return;
  }
  if ((geometry->block.flags & GUF_METHOD_EXACT) == 0) {
    // If there are more dimensions than a block can store, the outermost dimensions are merged. The
    // caller has made the outermost dimensions contiguous with each other.
    constexpr int32_t kApart = GUF_MAX_LOOP_NDIM - 1;
    int32_t rest = geometry->nreduced - kApart;
    if (rest < 2) return;
    coalesce(&rest, geometry->reduced + kApart);
    geometry->nreduced = kApart + rest;
    return;
  }
  if (geometry->nreduced < 2) return;
  sort(geometry->nreduced, geometry->reduced, [](const Axis &a, const Axis &b) {
    return base::magnitude(a.input_step) < base::magnitude(b.input_step);
  });
  coalesce(&geometry->nreduced, geometry->reduced);
}

guf_status run(const op::CallView &call, const op::Loop &loop, const MethodKernels &kernels,
               Geometry *geometry, guf_error *error) {
  guf_method_block &block = geometry->block;
  GUF_TRY(fill_block(geometry, error));
  backend::ErrorRecord record(error);
  guf_fp_status fp_status;
  const bool has_fp_status = call::requests_fp_flags(call);
  if (has_fp_status)
    GUF_TRY(call::make_fp_status(call, GUF_BACKEND_METHOD_FP_FLAGS, &fp_status, record.get()));
  call::FpFailure failure(record.get());
  int64_t index[GUF_MAX_NDIM];  // position in the kept dimensions that do not fit into the block
  std::fill_n(index, geometry->nkept, 0);
  for (;;) {
    GUF_TRY(failure.keep(backend::run_method(
        *call.device, call.stream, {kernels.kernel, kernels.fold, geometry->structured_initial},
        loop, call.args->options.threads, block, has_fp_status ? &fp_status : nullptr,
        failure.error())));
    int32_t k = GUF_MAX_LOOP_NDIM;
    for (; k < geometry->nkept; ++k) {
      const Axis &axis = geometry->kept[k];
      advance(axis, 1, &block);
      if (++index[k] < axis.extent) break;
      advance(axis, -axis.extent, &block);
      index[k] = 0;
    }
    if (k >= geometry->nkept) return failure.status();
  }
}

guf_status find_kernels(const op::CallView &call, const op::Loop &loop, MethodKernels *out,
                        guf_error *error) {
  const guf_dtype *const end = loop.types.data() + call.noperands;
  const guf_dtype *const structured = std::find_if(loop.types.data(), end, dtype::is_structured);
  if (__builtin_expect(structured != end, 0)) GUF_TRY(check_structured(call, *structured, error));
  GUF_TRY(backend::load_kernel(*call.ufunc, loop, *call.device, &out->kernel, error));
  out->fold = nullptr;
  if (call.noperands < 3) return GUF_OK;
  return backend::load_fold(*call.ufunc, loop, *call.device, &out->fold, error);
}

guf_status describe_nothing(std::string *out) {
  *out += "no elements: nothing is launched\n";
  return GUF_OK;
}

guf_status describe(const op::CallView &call, const op::Loop &loop, const MethodKernels &kernels,
                    Geometry *geometry, std::string *out, guf_error *error) {
  GUF_TRY(fill_block(geometry, error));
  guf_fp_status fp_status;
  const bool has_fp_status = call::requests_fp_flags(call);
  if (has_fp_status)
    GUF_TRY(call::make_fp_status(call, GUF_BACKEND_METHOD_FP_FLAGS, &fp_status, error));
  uint64_t launches = 1;
  for (int32_t k = GUF_MAX_LOOP_NDIM; k < geometry->nkept; ++k)
    launches *= static_cast<uint64_t>(geometry->kept[k].extent);
  if (launches > 1) {
    *out += "launches: one for each of " + std::to_string(launches) +
            " positions in the outer dimensions\n";
  }
  *out += backend::describe_method(
      *call.device, {kernels.kernel, kernels.fold, geometry->structured_initial}, loop,
      call.args->options.threads, geometry->block, has_fp_status ? &fp_status : nullptr);
  return GUF_OK;
}

}  // namespace gufunc::method

// SPDX-License-Identifier: Apache-2.0
// The method at: an unbuffered operation on indexed elements. If an index occurs several times, the
// operation is applied once for each occurrence, in the order of the indices.
#include <algorithm>
#include <vector>

#include "core/call/pipeline.h"
#include "core/call/placement.h"
#include "core/call/requested_fp_flags.h"
#include "core/method/decide.h"
#include "core/method/geometry.h"
#include "core/method/result.h"
#include "core/resolve/weak_scalar.h"
#include "core/validate/validate_call.h"

namespace gufunc::method {
namespace {

using base::kNone;

guf_status check_ufunc(const AtView &view, guf_error *error) {
  const op::Ufunc &ufunc = *view.call.ufunc;
  if (ufunc.signature.generalized) {
    return base::fail(error, GUF_E_DTYPE, kNone, kNone,
                      "%s.at does not support ufunc with non-trivial signature: %s has signature "
                      "%s.",
                      ufunc.name.c_str(), ufunc.name.c_str(), ufunc.signature.text.c_str());
  }
  const char *why = nullptr;
  if (ufunc.nin() < 1 || ufunc.nin() > 2) {
    why = "Only unary and binary ufuncs supported at this time";
  } else if (ufunc.nout() != 1) {
    why = "Only single output ufuncs supported at this time";
  } else if (ufunc.nin() == 2 && !view.has_operand) {
    why = "second operand needed for ufunc";
  } else if (ufunc.nin() == 1 && view.has_operand) {
    why = "second operand provided when ufunc is unary";
  }
  return why == nullptr ? GUF_OK : base::fail(error, GUF_E_VALUE, kNone, kNone, "%s", why);
}

guf_status prepare_at(AtView &view, guf_error *error) {
  op::CallView &call = view.call;
  call.noperands = call.ufunc->noperands();
  call.operand[0] = view.array;
  call.operand[call.noperands - 1] = view.array;
  if (view.has_operand) {
    GUF_TRY(resolve::convert_to_default(&view.operand, kInput, error));
    call.operand[kInput] = view.operand;
    if ((view.operand.flags & op::kScalar) != 0) {
      // A scalar's value is inside the operand struct, so its address must point into the copy.
      const uint64_t offset =
          view.operand.layout.address - reinterpret_cast<uint64_t>(&view.operand);
      call.operand[kInput].layout.address =
          reinterpret_cast<uint64_t>(&call.operand[kInput]) + offset;
    }
  }
  GUF_TRY(validate::check_operands(call, error));
  return call::place(call, error);
}

// Fills in the geometry of a launch. If the indices were not read, the block contains the number of
// index offsets, but no pointer to them.
void make_geometry(const AtView &view, const op::Loop &loop, const IndexOffsets &offsets,
                   Geometry *out) {
  const op::CallView &call = view.call;
  const array::Layout &array = view.array.layout;
  Geometry &geometry = *out;
  begin(GUF_METHOD_AT, call, loop, view.has_operand ? &call.operand[kInput] : nullptr, view.array,
        &geometry);
  for (int32_t axis = view.nindices; axis < array.ndim; ++axis) {
    const int32_t k = offsets.ndim + axis - view.nindices;
    const int64_t step =
        view.has_operand ? operand_step(view, call.operand[kInput].layout, offsets, k) : 0;
    geometry.keep({array.shape[axis], step, array.strides[axis], 0});
  }
  geometry.output_bits |= offsets.array_bits;
  geometry.input_bits |= offsets.operand_bits;
  geometry.block.nindices = 1;
  for (int32_t k = 0; k < offsets.ndim; ++k) geometry.block.nindices *= offsets.shape[k];
  if (offsets.array.empty()) return;
  geometry.block.indices = offsets.array.data();
  geometry.block.operand_indices = view.has_operand ? offsets.operand.data() : nullptr;
}

guf_status launch_uniform(const AtView &view, const resolve::Choice &choice,
                          const IndexOffsets &offsets, guf_error *error) {
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(view.call, *choice.loop, &kernels, error));
  Geometry geometry;
  make_geometry(view, *choice.loop, offsets, &geometry);
  return run(view.call, *choice.loop, kernels, &geometry, error);
}

// Runs one ordinary launch per index offset. This is needed for a loop whose result
// dtype differs from its operand dtypes, because backend methods do not support such a
// loop. One launch per offset is slow, but such loops are rare (isnan.at, ldexp.at).
guf_status launch_mixed(AtView &view, const resolve::Choice &choice, const IndexOffsets &offsets,
                        void *kernel, guf_error *error) {
  op::CallView &call = view.call;
  const array::Layout &array = view.array.layout;
  const int32_t nown = array.ndim - view.nindices;
  broadcast::LoopShape loop;
  loop.ndim = nown;
  loop.items = 1;
  std::fill_n(loop.core_ndim, call.noperands, 0);
  int64_t steps[GUF_MAX_NDIM];
  for (int32_t k = 0; k < nown; ++k) {
    loop.extent[k] = array.shape[view.nindices + k];
    loop.items *= static_cast<uint64_t>(loop.extent[k]);
    if (view.has_operand)
      steps[k] = operand_step(view, call.operand[kInput].layout, offsets, offsets.ndim + k);
  }
  const uint64_t from = call.operand[kInput].layout.address;
  if (view.has_operand) {
    op::OperandView &operand = call.operand[kInput];
    operand.layout = {operand.layout.dtype, nown, loop.extent, steps, from};
  }
  guf_fp_status fp_status;
  const bool has_fp_status = call::requests_fp_flags(call);
  if (has_fp_status) GUF_TRY(call::make_fp_status(call, GUF_BACKEND_FP_FLAGS, &fp_status, error));
  call::FpFailure failure(error);
  for (size_t n = 0; n < offsets.array.size(); ++n) {
    for (const int32_t i : {0, call.noperands - 1}) {
      call.operand[i].layout = {array.dtype, nown, loop.extent, array.strides + view.nindices,
                                array.address + static_cast<uint64_t>(offsets.array[n])};
    }
    if (view.has_operand) {
      call.operand[kInput].layout.address = from + static_cast<uint64_t>(offsets.operand[n]);
    }
    geometry::Launch geometry;
    GUF_TRY(geometry::make_launch({call, loop, choice}, &geometry, error));
    GUF_TRY(failure.keep(call::run(*call.device, call.stream, kernel, *choice.loop,
                                   call.args->options.threads, has_fp_status ? &fp_status : nullptr,
                                   &geometry, failure.error())));
  }
  return failure.status();
}

// Copies the array and the operand to the device, and computes the index offsets of the copies.
guf_status upload_offsets(AtView &view, IndexOffsets *offsets, call::Temporaries *arrays,
                          guf_error *error) {
  op::CallView &call = view.call;
  if (view.has_operand) GUF_TRY(arrays->transfer_input(&call.operand[kInput], error));
  GUF_TRY(arrays->transfer_output(&view.array, true, call::Temporaries::kUnmasked, error));
  call.operand[0] = call.operand[call.noperands - 1] = view.array;
  IndexOffsets brought;
  GUF_TRY(find_offsets(view, Elements::kRead, &brought, error));
  *offsets = std::move(brought);
  return GUF_OK;
}

}  // namespace

bool is_uniform(const op::CallView &call, const op::Loop &loop) {
  return std::all_of(loop.types.begin(), loop.types.begin() + call.noperands,
                     [&](guf_dtype type) { return type == loop.types[0]; });
}

guf_status decide_at(AtView &view, Elements elements, resolve::Choice *choice,
                     IndexOffsets *offsets, guf_error *error) {
  GUF_TRY(check_ufunc(view, error));
  GUF_TRY(prepare_at(view, error));
  GUF_TRY(resolve::choose(view.call, choice, error));
  GUF_TRY(find_offsets(view, elements, offsets, error));
  GUF_TRY(check_operand(view, *offsets, error));
  const auto result = static_cast<size_t>(view.call.noperands - 1);
  return dtype::check_cast(choice->loop->types[result], view.array.layout.dtype, error);
}

guf_status at(AtView &view, guf_error *error) {
  op::CallView &call = view.call;
  resolve::Choice choice;
  IndexOffsets offsets;
  GUF_TRY(decide_at(view, Elements::kRead, &choice, &offsets, error));
  void *kernel = nullptr;
  GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &kernel, error));
  if (is_empty(view.array.layout) || offsets.array.empty()) return GUF_OK;
  backend::ErrorRecord record(error);
  call::Temporaries arrays(call);
  GUF_TRY(arrays.open(record.get()));
  if (view.has_operand && overlaps_output(call, call.operand[kInput])) {
    GUF_TRY(arrays.replace_by_copy(&call.operand[kInput], 0, record.get()));
  }
  if (call.host_copies != op::HostCopies::kNone) {
    GUF_TRY(upload_offsets(view, &offsets, &arrays, record.get()));
  }
  if (needs_device_scalars(call)) GUF_TRY(arrays.copy_scalars_to_device(record.get()));
  if (view.has_operand) set_operand_offsets(view, call.operand[kInput].layout, &offsets);
  const guf_status status = is_uniform(call, *choice.loop)
                                ? launch_uniform(view, choice, offsets, record.get())
                                : launch_mixed(view, choice, offsets, kernel, record.get());
  return finish_fold(status, &arrays, record.get());
}

guf_status describe_at(AtView &view, const resolve::Choice &choice, const IndexOffsets &offsets,
                       std::string *out, guf_error *error) {
  const op::CallView &call = view.call;
  const int32_t ndim = offsets.ndim;
  const bool none = std::find(offsets.shape, offsets.shape + ndim, 0) != offsets.shape + ndim;
  if (is_empty(view.array.layout) || none) return describe_nothing(out);
  if (!is_uniform(call, *choice.loop)) return GUF_OK;
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(call, *choice.loop, &kernels, error));
  Geometry geometry;
  make_geometry(view, *choice.loop, offsets, &geometry);
  return describe(call, *choice.loop, kernels, &geometry, out, error);
}

}  // namespace gufunc::method

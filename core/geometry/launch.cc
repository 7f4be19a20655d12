// SPDX-License-Identifier: Apache-2.0
// Computes the loop dimensions of a launch, and the strides of its core dimensions.
#include "core/geometry/launch.h"

#include <algorithm>

#include "core/geometry/loop_axes.h"

namespace gufunc::geometry {
namespace {

guf_status make_elementwise(const Request &request, Launch *out, guf_error *error) {
  GUF_TRY(write_loop(request, out, error));
  out->block.ncore = 0;
  out->block.ncorestrides = 0;
  for (int32_t i = 0; i < out->block.noperands; ++i)
    flag_alignment(&out->block, i, out->stride_bits[i]);
  return GUF_OK;
}

// Returns the stride of core axis `axis`, or 0 if it is a broadcast "|1" dimension.
int64_t core_step(const array::Layout &layout, int32_t axis, int64_t size) {
  return layout.shape[axis] == 1 && size != 1 ? 0 : layout.strides[axis];
}

// Returns whether an operand has no elements. Such an operand may have address 0 and arbitrary
// strides, so loops receive strides of 0 and never compute another address.
bool has_no_elements(const array::Layout &layout) {
  return std::find(layout.shape, layout.shape + layout.ndim, 0) != layout.shape + layout.ndim;
}

[[gnu::cold, gnu::noinline]] void stay_in_place(const array::Layout &layout, int32_t operand,
                                                int32_t ncore, Launch *out) {
  guf_launch_block &block = out->block;
  block.address[operand] = layout.address;
  block.step[operand] = 0;
  for (int32_t k = 1; k < block.nloop; ++k) block.outer_step[k - 1][operand] = 0;
  for (int32_t k = 0; k < out->nexcess; ++k) out->excess_step[k][operand] = 0;
  int64_t *const core_steps = block.step + block.noperands + block.ncorestrides;
  std::fill_n(core_steps - ncore, ncore, 0);
  out->stride_bits[operand] = 0;
}

[[gnu::cold, gnu::noinline]] guf_status fail_core(const op::CallView &call, guf_error *error) {
  return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                    "%s: expected at most %d core dimensions, %d of them distinct",
                    call.ufunc->name.c_str(), static_cast<int>(GUF_MAX_CORE_STRIDES),
                    static_cast<int>(GUF_MAX_CORE_NAMES));
}

guf_status make_generalized(const Request &request, Launch *out, guf_error *error) {
  const op::Signature &signature = request.call.ufunc->signature;
  const broadcast::LoopShape &loop = request.loop;
  guf_launch_block &block = out->block;
  if (__builtin_expect(signature.dims.size() > GUF_MAX_CORE_NAMES, 0))
    return fail_core(request.call, error);
  GUF_TRY(write_loop(request, out, error));
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = static_cast<int32_t>(signature.dims.size());
  for (int32_t dim = 0; dim < block.ncore; ++dim) block.size[1 + dim] = loop.core_size[dim];
  block.ncorestrides = 0;
  for (int32_t i = 0; i < block.noperands; ++i) {
    const auto index = static_cast<size_t>(i);
    const array::Layout &layout = request.call.operand[i].layout;
    int32_t axis = layout.ndim - loop.core_ndim[i];
    block.core_ndim[i] = signature.core_ndim[index];
    if (__builtin_expect(block.core_ndim[i] > GUF_MAX_CORE_STRIDES - block.ncorestrides, 0))
      return fail_core(request.call, error);
    for (int32_t j = 0; j < block.core_ndim[i]; ++j) {
      const int32_t dim =
          signature.operand_dims[static_cast<size_t>(signature.core_offset[index] + j)];
      const bool missing = (loop.missing >> dim & 1U) != 0;
      const int64_t step = missing ? 0 : core_step(layout, axis++, loop.core_size[dim]);
      block.step[block.noperands + block.ncorestrides] = step;
      block.core_name[block.ncorestrides++] = static_cast<uint8_t>(dim);
      if (loop.core_size[dim] > 1) out->stride_bits[i] |= static_cast<uint64_t>(step);
    }
    if (__builtin_expect(has_no_elements(layout), 0))
      stay_in_place(layout, i, block.core_ndim[i], out);
    flag_alignment(&block, i, out->stride_bits[i]);
  }
  return GUF_OK;
}

}  // namespace

guf_status make_launch(const Request &request, Launch *out, guf_error *error) {
  return request.call.ufunc->signature.generalized ? make_generalized(request, out, error)
                                                   : make_elementwise(request, out, error);
}

}  // namespace gufunc::geometry

// SPDX-License-Identifier: Apache-2.0
// Generalized calls: a loop over items, and for each operand the strides of its core dimensions.
#include "core/plan/loop_axes.h"

namespace gufunc::plan {
namespace {

const char *refuse_generalized(const op::CallView &call) {
  return call.ufunc->signature.generalized ? nullptr : "the ufunc is elementwise";
}

// The stride with which a kernel walks core axis `axis`; 0 where a "|1" dimension is stretched.
int64_t core_step(const array::Layout &layout, int32_t axis, int64_t size) {
  return layout.shape[axis] == 1 && size != 1 ? 0 : layout.strides[axis];
}

guf_status make_generalized(const Request &request, Launch *out, guf_error *) {
  const op::Signature &signature = request.call.ufunc->signature;
  const broadcast::LoopShape &loop = request.loop;
  guf_launch_block &block = out->block;
  write_loop(request, out);
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = static_cast<int32_t>(signature.dims.size());
  for (int32_t dim = 0; dim < block.ncore; ++dim) block.size[1 + dim] = loop.core_size[dim];
  int32_t place = 0;
  for (int32_t i = 0; i < block.noperands; ++i) {
    const auto index = static_cast<size_t>(i);
    const array::Layout &layout = request.call.operand[i].layout;
    int32_t axis = layout.ndim - loop.core_ndim[i];
    block.core_ndim[i] = signature.core_ndim[index];
    for (int32_t j = 0; j < signature.core_ndim[index]; ++j, ++place) {
      const int32_t dim =
          signature.operand_dims[static_cast<size_t>(signature.core_offset[index] + j)];
      const bool missing = (loop.missing >> dim & 1U) != 0;
      const int64_t step = missing ? 0 : core_step(layout, axis++, loop.core_size[dim]);
      block.step[block.noperands + place] = step;
      block.core_name[place] = static_cast<uint8_t>(dim);
      if (loop.core_size[dim] > 1) out->stride_bits[i] |= static_cast<uint64_t>(step);
    }
    flag_alignment(&block, i, out->stride_bits[i]);
  }
  block.ncorestrides = place;
  return GUF_OK;
}

}  // namespace

const Planner kGufunc = {"gufunc", refuse_generalized, make_generalized};

}  // namespace gufunc::plan

// SPDX-License-Identifier: Apache-2.0
// Planner of elementwise calls. A launch has loop dimensions only.
#include "core/geometry/loop_axes.h"

namespace gufunc::geometry {
namespace {

const char *refuse_elementwise(const op::CallView &call) {
  return call.ufunc->signature.generalized ? "the ufunc has core dimensions" : nullptr;
}

guf_status make_elementwise(const Request &request, Launch *out, guf_error *error) {
  GUF_TRY(write_loop(request, out, error));
  out->block.ncore = 0;
  out->block.ncorestrides = 0;
  for (int32_t i = 0; i < out->block.noperands; ++i)
    flag_alignment(&out->block, i, out->stride_bits[i]);
  return GUF_OK;
}

}  // namespace

const Planner kElementwise = {"elementwise", refuse_elementwise, make_elementwise};

}  // namespace gufunc::geometry

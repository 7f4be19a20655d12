// SPDX-License-Identifier: Apache-2.0
// The list of planners, in the order in which they are tried.
#include "core/geometry/planner.h"

namespace gufunc::geometry {

std::span<const Planner *const> planners() {
  static constexpr const Planner *kOrder[] = {&kElementwise, &kGufunc};
  return kOrder;
}

guf_status choose(const op::CallView &call, const Planner **out, guf_error *error) {
  for (const Planner *planner : planners()) {
    if (planner->refusal(call) != nullptr) continue;
    *out = planner;
    return GUF_OK;
  }
  return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                    "%s: no planner takes this call", call.ufunc->name.c_str());
}

}  // namespace gufunc::geometry

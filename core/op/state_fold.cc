// SPDX-License-Identifier: Apache-2.0
// The check whether the signatures of three ufuncs form a reduction.
#include "core/op/state_fold.h"

#include <string>

#include "core/op/ufunc.h"

namespace gufunc::op {
namespace {

guf_status fail_part(const char *part, const Signature &found, int32_t nin, const char *outputs,
                     guf_error *error) {
  return base::fail(
      error, GUF_E_SIGNATURE, base::kNone, base::kNone,
      "not a reduction: %s must be elementwise, with %d inputs and %s outputs; got %d "
      "inputs and %d outputs%s",
      part, nin, outputs, found.nin, found.nout, found.generalized ? ", and a signature" : "");
}

bool is_leaf(const Signature &leaf) {
  if (!leaf.generalized || leaf.nin < 1 || leaf.nin > 3 || leaf.nout < 1 || !leaf.rules.empty())
    return false;
  if (leaf.dims.size() != 1 || leaf.dims[0].frozen >= 0 || leaf.dims[0].optional ||
      leaf.dims[0].broadcastable) {
    return false;
  }
  for (int32_t i = 0; i < leaf.nin + leaf.nout; ++i) {
    const bool has_elements = i < leaf.nin && i != kLeafFirst;
    const auto index = static_cast<size_t>(i);
    if (leaf.core_ndim[index] != (has_elements ? 1 : 0)) return false;
    if (leaf.role[index] != (i < leaf.nin ? GUF_ROLE_IN : GUF_ROLE_OUT)) return false;
  }
  return true;
}

bool is_plain(const Signature &signature) {
  for (int32_t i = 0; i < signature.nin + signature.nout; ++i) {
    const int32_t expected = i < signature.nin ? GUF_ROLE_IN : GUF_ROLE_OUT;
    if (signature.role[static_cast<size_t>(i)] != expected) return false;
  }
  return !signature.generalized;
}

}  // namespace

int32_t StateFold::nresults() const {
  return finish ? finish->nout() : merge->nout();
}

guf_status check_state_fold(const Signature &leaf, const Signature &merge, const Signature *finish,
                            guf_error *error) {
  if (!is_leaf(leaf)) {
    return base::fail(error, GUF_E_SIGNATURE, base::kNone, base::kNone,
                      "not a reduction: the leaf must have the signature (n)->(),... or "
                      "(n),()->(),... or (n),(),(n)->(),..., without sizes, rules or roles");
  }
  if (!is_plain(merge) || merge.nin != 2 * leaf.nout || merge.nout != leaf.nout) {
    const std::string outputs = std::to_string(leaf.nout);
    return fail_part("merge", merge, 2 * leaf.nout, outputs.c_str(), error);
  }
  if (finish != nullptr && (!is_plain(*finish) || finish->nin != leaf.nout || finish->nout < 1)) {
    return fail_part("finish", *finish, leaf.nout, "one or more", error);
  }
  return GUF_OK;
}

}  // namespace gufunc::op

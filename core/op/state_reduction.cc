// SPDX-License-Identifier: Apache-2.0
// Checks whether the signatures of three ufuncs form a reduction.
#include "core/op/state_reduction.h"

#include <string>

#include "core/op/ufunc.h"

namespace gufunc::op {
namespace {

guf_status fail_part(const char *part, const Signature &found, const char *least, int32_t nin,
                     const char *outputs, guf_error *error) {
  return base::fail(error, GUF_E_SIGNATURE, base::kNone, base::kNone,
                    "not a reduction: %s must be elementwise, with %s%d inputs and %s outputs; got "
                    "%d inputs and %d outputs%s",
                    part, least, nin, outputs, found.nin, found.nout,
                    found.generalized ? ", and a signature" : "");
}

bool is_block_function(const Signature &block_function) {
  if (!block_function.generalized || block_function.nin < 1 || block_function.nin > 3 ||
      block_function.nout < 1 || !block_function.rules.empty())
    return false;
  const BlockInputs inputs = block_inputs(block_function);
  if (block_function.nin == 3 && inputs.first == base::kNone) return false;
  if (block_function.dims.size() != 1 || block_function.dims[0].frozen >= 0 ||
      block_function.dims[0].optional || block_function.dims[0].broadcastable) {
    return false;
  }
  for (int32_t i = 0; i < block_function.nin + block_function.nout; ++i) {
    const bool has_elements = i < block_function.nin && i != inputs.first;
    const auto index = static_cast<size_t>(i);
    if (block_function.core_ndim[index] != (has_elements ? 1 : 0)) return false;
    if (block_function.role[index] != (i < block_function.nin ? GUF_ROLE_IN : GUF_ROLE_OUT))
      return false;
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

BlockInputs block_inputs(const Signature &block_function) {
  BlockInputs inputs;
  for (int32_t i = 1; i < block_function.nin; ++i) {
    const bool is_first = i == 1 && block_function.core_ndim[1] == 0;
    (is_first ? inputs.first : inputs.mask) = i;
  }
  return inputs;
}

int32_t StateReduction::nresults() const {
  return finish ? finish->nout() : merge->nout();
}

int32_t StateReduction::nparameters() const {
  return finish ? finish->nin() - merge->nout() : 0;
}

guf_status check_state_reduction(const Signature &block_function, const Signature &merge,
                                 const Signature *finish, guf_error *error) {
  if (!is_block_function(block_function)) {
    return base::fail(error, GUF_E_SIGNATURE, base::kNone, base::kNone,
                      "not a reduction: the block function must have the signature (n)->(),... or "
                      "(n),()->(),... or (n),(n)->(),... or (n),(),(n)->(),..., without sizes, "
                      "rules or roles");
  }
  if (!is_plain(merge) || merge.nin != 2 * block_function.nout ||
      merge.nout != block_function.nout) {
    const std::string outputs = std::to_string(block_function.nout);
    return fail_part("merge", merge, "", 2 * block_function.nout, outputs.c_str(), error);
  }
  if (finish != nullptr &&
      (!is_plain(*finish) || finish->nin < block_function.nout || finish->nout < 1)) {
    return fail_part("finish", *finish, "at least ", block_function.nout, "one or more", error);
  }
  return GUF_OK;
}

guf_status check_elements(const Ufunc &block_function, int64_t n, guf_error *error) {
  if (n != 0 || (block_function.flags & GUF_FUNCTION_ACCEPTS_EMPTY) != 0) return GUF_OK;
  // If the block function has an input for the index of the first element, the message is NumPy's
  // for argmax.
  if (block_inputs(block_function.signature).first != base::kNone) {
    return base::fail(error, GUF_E_VALUE, base::kNone, base::kNone,
                      "attempt to get %s of an empty sequence", block_function.name.c_str());
  }
  return base::fail(error, GUF_E_VALUE, base::kNone, base::kNone,
                    "zero-size array to reduction operation %s which has no identity",
                    block_function.name.c_str());
}

}  // namespace gufunc::op

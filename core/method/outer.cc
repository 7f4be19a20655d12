// SPDX-License-Identifier: Apache-2.0
// The method outer. It appends one axis of extent 1 to the first input for each axis of the second
// input, and then runs an ordinary call.
#include <algorithm>

#include "core/call/pipeline.h"
#include "core/method/decide.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::method {

using base::kNone;

guf_status check_outer(const op::Ufunc &ufunc, guf_error *error) {
  if (ufunc.signature.generalized) {
    return base::fail(error, GUF_E_DTYPE, kNone, kNone,
                      "method outer is not allowed in ufunc with non-trivial signature");
  }
  if (ufunc.nin() == 2) return GUF_OK;
  return base::fail(error, GUF_E_VALUE, kNone, kNone,
                    "outer product only supported for binary functions");
}

guf_status spread_outer(op::CallView &call, OuterBuffer *buffer, guf_error *error) {
  // NumPy first converts both inputs to arrays, so no scalar is weak.
  for (int32_t i = 0; i < 2; ++i) GUF_TRY(resolve::convert_to_default(&call.operand[i], i, error));
  array::Layout &first = call.operand[0].layout;
  const int32_t own = first.ndim;
  const int32_t more = call.operand[1].layout.ndim;
  if (own + more > GUF_MAX_NDIM) {
    return base::fail(error, GUF_E_SHAPE, kNone, kNone,
                      "maximum supported dimension for an ndarray is %d, but `%s.outer()` result "
                      "would have %d.",
                      static_cast<int>(GUF_MAX_NDIM), call.ufunc->name.c_str(), own + more);
  }
  std::copy_n(first.shape, own, buffer->shape);
  std::copy_n(first.strides, own, buffer->strides);
  std::fill_n(buffer->shape + own, more, 1);
  std::fill_n(buffer->strides + own, more, 0);
  first.ndim = own + more;
  first.shape = buffer->shape;
  first.strides = buffer->strides;
  return GUF_OK;
}

guf_status outer(op::CallView &call, guf_operand *outputs, guf_error *error) {
  OuterBuffer buffer;
  GUF_TRY(spread_outer(call, &buffer, error));
  return call::call(call, outputs, error);
}

}  // namespace gufunc::method

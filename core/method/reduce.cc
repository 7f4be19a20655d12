// SPDX-License-Identifier: Apache-2.0
// reduce.
#include "core/method/method.h"

namespace gufunc::method {

guf_status reduce(FoldView &, guf_operand *, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, -1, -1, "reduce");
}
guf_status accumulate(FoldView &, guf_operand *, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, -1, -1, "accumulate");
}
guf_status reduceat(FoldView &, guf_operand *, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, -1, -1, "reduceat");
}
guf_status at(AtView &, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, -1, -1, "at");
}

}  // namespace gufunc::method

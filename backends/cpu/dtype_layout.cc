// SPDX-License-Identifier: Apache-2.0
// The numbering of the builtin dtypes in the plugin's tables.
#include "backends/cpu/dtype_layout.h"

namespace gufunc::cpu {

int dtype_index(guf_dtype dtype) {
  switch (dtype) {
    case GUF_BOOL:
      return 0;
    case GUF_I8:
      return 1;
    case GUF_U8:
      return 2;
    case GUF_I16:
      return 3;
    case GUF_U16:
      return 4;
    case GUF_I32:
      return 5;
    case GUF_U32:
      return 6;
    case GUF_I64:
      return 7;
    case GUF_U64:
      return 8;
    case GUF_F16:
      return 9;
    case GUF_BF16:
      return 10;
    case GUF_F32:
      return 11;
    case GUF_F64:
      return 12;
    case GUF_C64:
      return 13;
    case GUF_C128:
      return 14;
    default:
      return -1;
  }
}

}  // namespace gufunc::cpu

// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/element_layout.h"

namespace gufunc::gpu {

namespace dev = guf::device;

uint32_t element_kind_of(guf_dtype dtype) {
  if (is_time(dtype)) return dev::kKindI64;
  switch (dtype) {
    case GUF_BOOL:
      return dev::kKindBool;
    case GUF_I8:
      return dev::kKindI8;
    case GUF_U8:
      return dev::kKindU8;
    case GUF_I16:
      return dev::kKindI16;
    case GUF_U16:
      return dev::kKindU16;
    case GUF_I32:
      return dev::kKindI32;
    case GUF_U32:
      return dev::kKindU32;
    case GUF_I64:
      return dev::kKindI64;
    case GUF_U64:
      return dev::kKindU64;
    case GUF_F16:
      return dev::kKindF16;
    case GUF_BF16:
      return dev::kKindBF16;
    case GUF_F32:
      return dev::kKindF32;
    case GUF_F64:
      return dev::kKindF64;
    case GUF_C64:
      return dev::kKindC64;
    case GUF_C128:
      return dev::kKindC128;
    default:
      return dev::kKinds;
  }
}

}  // namespace gufunc::gpu

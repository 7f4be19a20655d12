// SPDX-License-Identifier: Apache-2.0
// The index of each dtype in the plugin's tables, and the size of its partial results.
#include "backends/cpu/loops/dtype_layout.h"

#include <gufunc/kernel/partial.hpp>

namespace gufunc::cpu {
namespace {

enum Index {
#define GUF_DTYPE(NAME, ...) kIndexOf##NAME,
#include <gufunc/dtypes.def>
};

}  // namespace

int dtype_index(guf_dtype dtype) {
  switch (dtype) {
#define GUF_DTYPE(NAME, ...) \
  case GUF_##NAME:           \
    return kIndexOf##NAME;
#include <gufunc/dtypes.def>
    default:
      return -1;
  }
}

uint32_t partial_bytes(guf_dtype dtype) {
  switch (dtype) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return sizeof(guf::partial_of<guf::element>::type);
#include <gufunc/dtypes.def>
    default:
      return dtype_size(dtype);
  }
}

}  // namespace gufunc::cpu

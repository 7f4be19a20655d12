// SPDX-License-Identifier: Apache-2.0
// The error paths of struct_size.h, which are kept out of line.
#include "core/base/struct_size.h"

namespace gufunc::base {

guf_status check_struct(const void *in, const char *name, uint32_t first, uint32_t known,
                        guf_error *error) {
  if (in == nullptr) return fail(error, GUF_E_ARG, kNone, kNone, "%s is NULL", name);
  uint32_t size = 0;
  std::memcpy(&size, in, sizeof size);
  if (size < first || size > kMaxStructSize) {
    return fail(error, GUF_E_STRUCT, kNone, kNone,
                "%s->struct_size: expected the size of the struct, at least %u, got %u", name,
                first, size);
  }
  const auto *const bytes = static_cast<const unsigned char *>(in);
  for (uint32_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      return fail(
          error, GUF_E_STRUCT, kNone, kNone,
          "byte %u of %s, a struct of %u bytes, is set; this version of the library knows %u", i,
          name, size, known);
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::base

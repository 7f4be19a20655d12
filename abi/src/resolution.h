// SPDX-License-Identifier: Apache-2.0
// Builds a guf_resolution and copies it to the caller.
#ifndef GUFUNC_ABI_SRC_RESOLUTION_H
#define GUFUNC_ABI_SRC_RESOLUTION_H

#include <gufunc/call.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/struct_size.h"

namespace gufunc::capi {

// A guf_resolution that is filled here and then copied to the caller.
// PERF  The array of 32 shapes with 64 dimensions has 16 KB. A typical result uses a few bytes of
//       it. Clearing and copying the whole array took four times as long as the resolution itself.
class Resolution {
 public:
  // The shapes stay uninitialised until they are set.
  Resolution() { std::memset(&result_, 0, kShapes); }

  guf_resolution *get() { return &result_; }

  // Errors  GUF_E_STRUCT <= out->struct_size
  guf_status copy_to(guf_resolution *out, guf_error *error) const {
    GUF_TRY(base::check_struct(out, "out_resolution", base::kFirstSize<guf_resolution>,
                               base::kMaxStructSize, error));
    const uint32_t size = out->struct_size;
    std::memcpy(out, &result_, kShapes);
    out->struct_size = size;
    for (int32_t k = 0; k < GUF_MAX_OPERANDS; ++k) {
      std::copy_n(result_.output_shapes[k], result_.output_ndims[k], out->output_shapes[k]);
    }
    if (size > sizeof result_) {
      std::memset(reinterpret_cast<char *>(out) + sizeof result_, 0, size - sizeof result_);
    }
    return GUF_OK;
  }

 private:
  static constexpr size_t kShapes = offsetof(guf_resolution, output_shapes);
  guf_resolution result_;
};

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_SRC_RESOLUTION_H

// SPDX-License-Identifier: Apache-2.0
// A device image in the form that plugins receive: a single, uncompressed image.
#ifndef GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H
#define GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H

#include <gufunc/module_table.h>

#include <cstddef>
#include <memory>

#include "core/base/error.h"

namespace gufunc::backend {

class PlainImage {
 public:
  // Decompresses the image and appends a NUL, which text images such as PTX require. `image` is a
  // device image of a checked table.
  // Errors  GUF_E_BAD_FILE <= the data is not a zstd frame, or its size differs;  GUF_E_NO_MEMORY
  guf_status open(const guf_module_image &image, guf_error *error);

  // Returns the image, which is valid as long as this object exists.
  const guf_module_image &image() const { return image_; }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  guf_module_image image_ = {};
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H

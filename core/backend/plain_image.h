// SPDX-License-Identifier: Apache-2.0
// A device image as a plugin receives it: by itself, not compressed.
#ifndef GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H
#define GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H

#include <gufunc/module_table.h>

#include <cstddef>
#include <memory>

#include "core/base/error.h"

namespace gufunc::backend {

class PlainImage {
 public:
  // Copies the image out of its frame, with a NUL behind it, which texts need. `image` is of a
  // checked table and no host image.
  // Errors  GUF_E_BAD_FILE <= its data is no frame, or one of another size;  GUF_E_NO_MEMORY
  guf_status open(const guf_module_image &image, guf_error *error);

  // Valid while this lives.
  const guf_module_image &image() const { return image_; }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  guf_module_image image_ = {};
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_PLAIN_IMAGE_H

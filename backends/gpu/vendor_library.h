// SPDX-License-Identifier: Apache-2.0
// A vendor's library, opened by the name that carries its ABI and never closed.
#ifndef GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H
#define GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H

#include <gufunc/status.h>

#include <cstddef>

namespace gufunc::gpu {

class VendorLibrary {
 public:
  // The first of the names that opens.  Errors  GUF_E_NO_DRIVER <= none: the message has the
  // loader's reason for the first that is there, else for the first
  guf_status open(const char *const *names, size_t count, guf_error *error);

  const char *name() const { return name_; }
  void *symbol(const char *name) const;  // NULL: it has none

 private:
  void *handle_ = nullptr;
  const char *name_ = "";
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H

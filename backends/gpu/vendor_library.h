// SPDX-License-Identifier: Apache-2.0
// A vendor's library: the copy that the process has loaded, or else the one that the loader finds
// by the name that carries its ABI. Never closed.
#ifndef GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H
#define GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H

#include <gufunc/status.h>

#include <cstddef>

namespace gufunc::gpu {

class VendorLibrary {
 public:
  // Opens the first of the names that is loaded, else a loaded file whose name begins as theirs do
  // ("libamdhip64-1a2b3c.so"), else the first of the names that the loader finds.
  // Errors  GUF_E_NO_DRIVER <= none: the message has the loader's reason for the first file that
  //         exists, else for the first name;  GUF_E_NO_MEMORY <= the loader lacks memory for one
  guf_status open(const char *const *names, size_t count, guf_error *error);

  const char *name() const { return name_; }
  void *symbol(const char *name) const;  // NULL: it has none

 private:
  // GUF_OK without a handle: none is.
  guf_status find_loaded(const char *const *names, size_t count, guf_error *error);

  void *handle_ = nullptr;
  char name_[256] = "";
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_VENDOR_LIBRARY_H

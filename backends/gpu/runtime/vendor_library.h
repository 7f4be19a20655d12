// SPDX-License-Identifier: Apache-2.0
// A vendor's library: the copy that the process has loaded, or else the file that the loader finds
// by its name with the ABI version. The library is never closed.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_VENDOR_LIBRARY_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_VENDOR_LIBRARY_H

#include <gufunc/status.h>

#include <cstddef>

namespace gufunc::gpu {

class VendorLibrary {
 public:
  // Opens the first of the names that is already loaded, else a loaded file with a similar name
  // ("libamdhip64-1a2b3c.so"), else the first of the names that the loader finds.
  // Errors  GUF_E_NO_DRIVER <= no name can be opened; the message is the loader's reason for the
  //         first file that exists, or for the first name if no file exists;
  //         GUF_E_NO_MEMORY <= the loader has no memory;
  //         GUF_E_IO <= the loader has no file descriptor; the native code is EMFILE or ENFILE
  guf_status open(const char *const *names, size_t count, guf_error *error);

  const char *name() const { return name_; }
  void *symbol(const char *name) const;  // NULL: the library does not contain the symbol

 private:
  // Finds a loaded copy of the library. Returns GUF_OK without a handle if none is loaded.
  guf_status find_loaded(const char *const *names, size_t count, guf_error *error);

  void *handle_ = nullptr;
  char name_[256] = "";
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_VENDOR_LIBRARY_H

// SPDX-License-Identifier: Apache-2.0
// RTLD_LOCAL: the program's own copy of the same library is another one, and stays apart from ours.
#include "backends/gpu/vendor_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "backends/gpu/gpu_host.h"

namespace gufunc::gpu {

guf_status VendorLibrary::open(const char *const *names, size_t count, guf_error *error) {
  char reason[400] = "", others[80] = "";
  bool telling = false;  // the reason is of a file that is there
  for (size_t i = 0; i < count; ++i) {
    handle_ = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ != nullptr) {
      name_ = names[i];
      return GUF_OK;
    }
    const char *const text = dlerror();
    if (text == nullptr || telling) continue;
    telling = std::strstr(text, "No such file") == nullptr;
    if (telling || i == 0) std::snprintf(reason, sizeof(reason), "%s", text);
  }
  if (telling) {
    return fail(error, GUF_E_NO_DRIVER, "the driver's library cannot be opened: %s", reason);
  }
  for (size_t i = 1; i < count; ++i) {
    const size_t length = std::strlen(others);
    std::snprintf(others + length, sizeof(others) - length, "%s%s",
                  i == 1 ? "; nor is there " : ", ", names[i]);
  }
  return fail(error, GUF_E_NO_DRIVER, "the driver's library cannot be opened: %s%s", reason,
              others);
}

void *VendorLibrary::symbol(const char *name) const {
  return dlsym(handle_, name);
}

}  // namespace gufunc::gpu

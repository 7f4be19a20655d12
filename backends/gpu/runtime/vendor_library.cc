// SPDX-License-Identifier: Apache-2.0
// A process must use only one copy of a vendor's library, because handles and pointers of one copy
// are invalid in another one. A copy that the program has already loaded is therefore preferred.
#include "backends/gpu/runtime/vendor_library.h"

#include <dlfcn.h>
#include <link.h>
#include <gufunc/float_control.hpp>
#include <gufunc/loader_memory.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {
namespace {

constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

struct Search {
  const char *stem;  // such as "libcuda"
  char *path;        // receives the path of the first matching object
  size_t path_size;
};

// Returns whether a file name belongs to a library.
// "libcuda.so.1" and "libcuda-1a2b3c.so.1" are copies of libcuda, "libcudart.so.12" is not.
bool is_copy_of(const char *path, const char *stem) {
  const char *const slash = std::strrchr(path, '/');
  const char *const name = slash == nullptr ? path : slash + 1;
  const size_t length = std::strlen(stem);
  if (std::strncmp(name, stem, length) != 0) return false;
  return (name[length] == '.' || name[length] == '-') &&
         std::strstr(name + length, ".so") != nullptr;
}

int match_object(dl_phdr_info *object, size_t, void *argument) {
  auto &search = *static_cast<Search *>(argument);
  const char *const path = object->dlpi_name;
  if (path == nullptr || std::strlen(path) >= search.path_size) return 0;
  if (!is_copy_of(path, search.stem)) return 0;
  std::strcpy(search.path, path);
  return 1;
}

// Calls dlopen. If dlopen fails, `*out_reason` is the loader's message or NULL. `*out_shortage` is
// ENOMEM, EMFILE or ENFILE if memory or a file descriptor was lacking, else 0.
void *try_open(const char *name, int how, const char **out_reason, int *out_shortage) {
  errno = 0;
  void *const handle = dlopen(name, how);
  if (handle != nullptr) return handle;
  const int code = errno;
  *out_reason = dlerror();
  *out_shortage = loader_shortage(code, *out_reason);
  return nullptr;
}

guf_status fail_shortage(const char *name, int shortage, guf_error *error) {
  const guf_status status = shortage == ENOMEM ? GUF_E_NO_MEMORY : GUF_E_IO;
  return fail_native(error, status, shortage, "the dynamic loader cannot open %s: %s", name,
                     std::strerror(shortage));
}

}  // namespace

guf_status VendorLibrary::find_loaded(const char *const *names, size_t count, guf_error *error) {
  const char *reason = nullptr;
  int shortage = 0;
  for (size_t i = 0; i < count; ++i) {
    handle_ = try_open(names[i], kHow | RTLD_NOLOAD, &reason, &shortage);
    if (shortage != 0) return fail_shortage(names[i], shortage, error);
    if (handle_ == nullptr) continue;
    std::snprintf(name_, sizeof(name_), "%s", names[i]);
    return GUF_OK;
  }
  // Some packages contain copies of the library with their own file names.
  char stem[64] = "", path[4096] = "";
  std::snprintf(stem, sizeof(stem), "%.*s", static_cast<int>(std::strcspn(names[0], ".")),
                names[0]);
  Search search = {stem, path, sizeof(path)};
  if (dl_iterate_phdr(match_object, &search) == 0) return GUF_OK;
  handle_ = try_open(path, kHow | RTLD_NOLOAD, &reason, &shortage);
  if (shortage != 0) return fail_shortage(path, shortage, error);
  std::snprintf(name_, sizeof(name_), "%.*s", static_cast<int>(sizeof(name_) - 1), path);
  return GUF_OK;
}

guf_status VendorLibrary::open(const char *const *names, size_t count, guf_error *error) {
  GUF_BACKEND_TRY(find_loaded(names, count, error));
  if (handle_ != nullptr) return GUF_OK;
  char reason[400] = "", others[80] = "";
  bool telling = false;         // the reason concerns an existing file
  const KeepFloatControl keep;  // undoes changes by the constructors of the library
  for (size_t i = 0; i < count; ++i) {
    const char *text = nullptr;
    int shortage = 0;
    handle_ = try_open(names[i], kHow, &text, &shortage);
    if (handle_ != nullptr) {
      std::snprintf(name_, sizeof(name_), "%s", names[i]);
      return GUF_OK;
    }
    // The next name has a different ABI version. If that library were loaded, this process could no
    // longer use the library with the current name.
    if (shortage != 0) return fail_shortage(names[i], shortage, error);
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
                  i == 1 ? "; also not found: " : ", ", names[i]);
  }
  return fail(error, GUF_E_NO_DRIVER, "the driver's library cannot be opened: %s%s", reason,
              others);
}

void *VendorLibrary::symbol(const char *name) const {
  return dlsym(handle_, name);
}

}  // namespace gufunc::gpu

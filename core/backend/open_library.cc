// SPDX-License-Identifier: Apache-2.0
// The loader opens /proc/self/fd/N, so what was checked is what is mapped. It knows its libraries
// by name first: a second file behind a descriptor number that was used before would silently give
// the first library again. Each call therefore spells the same place differently, "//" or "/./" for
// each bit of a counter.
#include "core/backend/open_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "core/backend/float_state.h"
#include "core/backend/search_path.h"

namespace gufunc::backend {
namespace {

std::string unique_name(int descriptor) {
  static constinit std::atomic<uint32_t> calls{0};
  std::string name = "/proc/self/fd";
  for (uint32_t bits = calls.fetch_add(1, std::memory_order_relaxed); bits != 0; bits >>= 1) {
    name += (bits & 1) != 0 ? "/." : "/";
  }
  return name + "/" + std::to_string(descriptor);
}

}  // namespace

guf_status open_library(int descriptor, int flags, const char *path, void **out, guf_error *error) {
  const std::string name = unique_name(descriptor);
  void *library = nullptr;
  {
    const FloatState keep;
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
  }
  if (library == nullptr) {
    const char *reason = dlerror();
    if (reason == nullptr) reason = "no reason given";
    // The loader's text begins with the name above, which says nothing to anybody.
    const std::string text(reason);
    const size_t skip = text.starts_with(name + ": ") ? name.size() + 2 : 0;
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "the dynamic loader refuses %s: %s%s", path, reason + skip,
                      missing_proc().c_str());
  }
  *out = library;
  return GUF_OK;
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
// The services that the library provides to plugins: log, memory and configuration.
#include <cstdlib>

#include "core/base/log.h"
#include "core/plugin/plugin_table.h"

namespace gufunc::plugin {
namespace {

void write_log(void *, int32_t level, const char *message) {
  if (message == nullptr) return;
  const auto last = static_cast<int32_t>(base::LogLevel::kInformation);
  base::log_text(static_cast<base::LogLevel>(level < 0 || level > last ? last : level), message);
}

void *allocate(void *, size_t size, size_t alignment) {
  void *pointer = nullptr;
  const size_t least = alignof(std::max_align_t);
  return posix_memalign(&pointer, alignment < least ? least : alignment, size) == 0 ? pointer
                                                                                    : nullptr;
}

void release(void *, void *pointer) {
  std::free(pointer);
}

// Returns an environment variable, or NULL if it is unset or if the process is privileged.
const char *configuration(void *, const char *name) {
  return name == nullptr ? nullptr : secure_getenv(name);
}

}  // namespace

const guf_host_api &host_services() {
  static constexpr guf_host_api kServices = {
      sizeof(guf_host_api), GUF_BACKEND_ABI_MINOR, nullptr, write_log, allocate, release,
      configuration};
  return kServices;
}

}  // namespace gufunc::plugin

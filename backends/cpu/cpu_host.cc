// SPDX-License-Identifier: Apache-2.0
// Wraps the host's services in plain functions.
#include "backends/cpu/cpu_host.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gufunc::cpu {
namespace {

constinit std::atomic<const guf_host_api *> the_host{nullptr};

const guf_host_api *host() {
  return the_host.load(std::memory_order_acquire);
}

}  // namespace

void set_host(const guf_host_api *host) {
  const guf_host_api *none = nullptr;
  the_host.compare_exchange_strong(none, host, std::memory_order_acq_rel);
}

const char *host_config(const char *name) {
  const guf_host_api *api = host();
  return api == nullptr ? nullptr : api->config(api->context, name);
}

void host_log(LogLevel level, const char *format, ...) {
  const guf_host_api *api = host();
  if (api == nullptr) return;
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  api->log(api->context, static_cast<int32_t>(level), message);
}

void *host_alloc(size_t size, size_t alignment) {
  const guf_host_api *api = host();
  return api == nullptr ? nullptr : api->alloc(api->context, size, alignment);
}

void host_free(void *pointer) {
  const guf_host_api *api = host();
  if (api != nullptr && pointer != nullptr) api->free(api->context, pointer);
}

guf_status fail(guf_error *error, guf_status status, int argument, int axis, const char *format,
                ...) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return status;
  std::memset(error, 0, sizeof(*error));
  error->struct_size = sizeof(*error);
  error->status = status;
  error->argument = argument;
  error->axis = axis;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace gufunc::cpu

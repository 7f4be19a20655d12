// SPDX-License-Identifier: Apache-2.0
// Wraps the host's services in plain functions.
#include "backends/gpu/gpu_host.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gufunc::gpu {
namespace {

constinit std::atomic<const guf_host_api *> the_host{nullptr};

const guf_host_api *services() {
  return the_host.load(std::memory_order_acquire);
}

void write_failure(guf_error *error, guf_status status, int32_t native_code, const char *format,
                   va_list arguments) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return;
  // Formats the message first, because arguments may point into `error` itself.
  char message[sizeof(error->message)];
  std::vsnprintf(message, sizeof(message), format, arguments);
  std::memset(error, 0, sizeof(*error));
  error->struct_size = sizeof(*error);
  error->status = status;
  error->argument = kNone;
  error->axis = kNone;
  error->native_code = native_code;
  std::memcpy(error->message, message, strnlen(message, sizeof(message) - 1));
}

}  // namespace

void set_host(const guf_host_api *host) {
  const guf_host_api *none = nullptr;
  the_host.compare_exchange_strong(none, host, std::memory_order_acq_rel);
}

const char *host_config(const char *name) {
  const guf_host_api *api = services();
  return api == nullptr ? nullptr : api->config(api->context, name);
}

void host_log(LogLevel level, const char *format, ...) {
  const guf_host_api *api = services();
  if (api == nullptr) return;
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  api->log(api->context, static_cast<int32_t>(level), message);
}

void *host_alloc(size_t size, size_t alignment) {
  const guf_host_api *api = services();
  return api == nullptr ? nullptr : api->alloc(api->context, size, alignment);
}

void host_free(void *pointer) {
  const guf_host_api *api = services();
  if (api != nullptr && pointer != nullptr) api->free(api->context, pointer);
}

guf_status fail(guf_error *error, guf_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_failure(error, status, 0, format, arguments);
  va_end(arguments);
  return status;
}

guf_status fail_native(guf_error *error, guf_status status, int32_t native_code, const char *format,
                       ...) {
  va_list arguments;
  va_start(arguments, format);
  write_failure(error, status, native_code, format, arguments);
  va_end(arguments);
  return status;
}

guf_status fail_memory(guf_error *error, const char *what) {
  return fail(error, GUF_E_NO_MEMORY, "no host memory for %s", what);
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// Provides the services of the host (memory, configuration, log) and error reporting to plugins.
// Each plugin has its own pointer to the host's table, because plugins hide their symbols.
#ifndef GUFUNC_BACKEND_HOST_HPP
#define GUFUNC_BACKEND_HOST_HPP

#include <gufunc/backend.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

// Returns from the enclosing function if the expression fails, with the status of the expression.
// The callee has already written the error record.
#define GUF_BACKEND_TRY(expression)                      \
  do {                                                   \
    if (const guf_status guf_try_status = (expression);  \
        __builtin_expect(guf_try_status != GUF_OK, 0)) { \
      return guf_try_status;                             \
    }                                                    \
  } while (false)

namespace gufunc::sdk {

inline constexpr int kNone = -1;  // no argument, or no axis, caused the failure

namespace detail {

[[gnu::visibility("hidden")]] inline std::atomic<const guf_host_api *> host{nullptr};

inline void write_failure(guf_error *error, guf_status status, int argument, int axis,
                          int32_t native_code, const char *format, va_list arguments) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return;
  // Formats the message first, because arguments may point into `error` itself.
  char message[sizeof error->message];
  std::vsnprintf(message, sizeof message, format, arguments);
  std::memset(error, 0, sizeof *error);
  error->struct_size = sizeof *error;
  error->status = status;
  error->argument = argument;
  error->axis = axis;
  error->native_code = native_code;
  std::memcpy(error->message, message, strnlen(message, sizeof message - 1));
}

}  // namespace detail

// Stores the host's function table. Only the first call has an effect;
// the table is used until the process ends. Before that call, the services in this file do nothing.
inline void set_host(const guf_host_api *host) {
  const guf_host_api *none = nullptr;
  detail::host.compare_exchange_strong(none, host, std::memory_order_acq_rel);
}

// Returns the value of an environment variable, or NULL if it
// is unset or the process is privileged.
inline const char *host_config(const char *name) {
  const guf_host_api *const api = detail::host.load(std::memory_order_acquire);
  return api == nullptr ? nullptr : api->config(api->context, name);
}

enum class LogLevel : int32_t { kError = 0, kWarning = 1, kInformation = 2 };

[[gnu::cold, gnu::format(printf, 2, 3)]] inline void host_log(LogLevel level, const char *format,
                                                              ...) {
  const guf_host_api *const api = detail::host.load(std::memory_order_acquire);
  if (api == nullptr) return;
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  api->log(api->context, static_cast<int32_t>(level), message);
}

// Allocates memory with the host's allocator. Returns NULL if there is no memory. `alignment` is a
// power of two.
inline void *host_alloc(size_t size, size_t alignment) {
  const guf_host_api *const api = detail::host.load(std::memory_order_acquire);
  return api == nullptr ? nullptr : api->alloc(api->context, size, alignment);
}

inline void host_free(void *pointer) {
  const guf_host_api *const api = detail::host.load(std::memory_order_acquire);
  if (api != nullptr && pointer != nullptr) api->free(api->context, pointer);
}

// Creates an object in memory of the host's allocator. Returns NULL if there is no memory.
template <class T, class... Args>
T *create(Args &&...args) {
  void *const memory = host_alloc(sizeof(T), alignof(T));
  return memory == nullptr ? nullptr : new (memory) T(std::forward<Args>(args)...);
}

template <class T>
void destroy(T *object) {
  object->~T();
  host_free(object);
}

// Writes a failure to `error`, which may be NULL, and returns `status`. Does not allocate.
[[gnu::cold, gnu::noinline, gnu::format(printf, 5, 6)]] inline guf_status fail(
    guf_error *error, guf_status status, int argument, int axis, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::write_failure(error, status, argument, axis, 0, format, arguments);
  va_end(arguments);
  return status;
}

// Writes a failure that no argument or axis caused to `error`, and returns `status`.
[[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] inline guf_status fail(guf_error *error,
                                                                               guf_status status,
                                                                               const char *format,
                                                                               ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::write_failure(error, status, kNone, kNone, 0, format, arguments);
  va_end(arguments);
  return status;
}

// Writes a failure with the driver's error code `native_code` to `error`, and returns `status`.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] inline guf_status fail_native(
    guf_error *error, guf_status status, int32_t native_code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  detail::write_failure(error, status, kNone, kNone, native_code, format, arguments);
  va_end(arguments);
  return status;
}

[[gnu::cold]] inline guf_status fail_memory(guf_error *error, const char *what) {
  return fail(error, GUF_E_NO_MEMORY, "no host memory for %s", what);
}

// Copies `table` to `out`. A host that is older than the plugin has a shorter table and receives
// only the slots of that table.
inline void copy_table(guf_backend_api table, uint32_t host_minor, guf_backend_api *out) {
  const uint32_t known = out->struct_size;
  table.struct_size = sizeof table;
  table.abi_minor = std::min<uint32_t>(host_minor, GUF_BACKEND_ABI_MINOR);
  std::memcpy(out, &table, std::min<size_t>(known, sizeof table));
}

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_HOST_HPP

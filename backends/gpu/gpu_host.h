// SPDX-License-Identifier: Apache-2.0
// What a GPU plugin asks of its host (memory, configuration, log), and how it reports a failure.
#ifndef GUFUNC_BACKENDS_GPU_GPU_HOST_H
#define GUFUNC_BACKENDS_GPU_GPU_HOST_H

#include <gufunc/backend.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

// Returns a failure to the caller. The details were written where the failure was found.
#define GUF_GPU_TRY(expression)                          \
  do {                                                   \
    if (const guf_status guf_try_status = (expression);  \
        __builtin_expect(guf_try_status != GUF_OK, 0)) { \
      return guf_try_status;                             \
    }                                                    \
  } while (false)

namespace gufunc::gpu {

inline constexpr int kNone = -1;  // no argument or axis is at fault

// The table of the first host that opened the plugin serves for the life of the process.
void set_host(const guf_host_api *host);

// Value of an environment variable; NULL when unset, when the process is privileged, before any
// host.
const char *host_config(const char *name);

enum class LogLevel : int32_t { kError = 0, kWarning = 1, kInformation = 2 };
[[gnu::cold, gnu::format(printf, 2, 3)]] void host_log(LogLevel level, const char *format, ...);

// NULL when memory is out. Alignment is a power of two.
void *host_alloc(size_t size, size_t alignment);
void host_free(void *pointer);

// An object in the host's memory; NULL when memory is out.
template <class T, class... Args>
T *create(Args &&...args) {
  void *memory = host_alloc(sizeof(T), alignof(T));
  return memory == nullptr ? nullptr : new (memory) T(std::forward<Args>(args)...);
}

template <class T>
void destroy(T *object) {
  object->~T();
  host_free(object);
}

// Writes the failure into `error` and returns `status`. Allocates nothing.
[[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] guf_status fail(guf_error *error,
                                                                        guf_status status,
                                                                        const char *format, ...);

// The same with the driver's own code.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] guf_status fail_native(
    guf_error *error, guf_status status, int32_t native_code, const char *format, ...);

[[gnu::cold]] guf_status fail_memory(guf_error *error, const char *what);

// Drivers say one thing of memory that is out, the device's or the host's: here it was the host's.
inline guf_status as_host_memory(guf_status status, guf_error *error) {
  if (__builtin_expect(status != GUF_E_DEVICE_MEMORY, 1)) return status;
  if (error != nullptr) error->status = GUF_E_NO_MEMORY;
  return GUF_E_NO_MEMORY;
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_HOST_H

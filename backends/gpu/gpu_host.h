// SPDX-License-Identifier: Apache-2.0
// The services that a GPU plugin uses from its host (memory, configuration, log), and its error
// reporting.
#ifndef GUFUNC_BACKENDS_GPU_GPU_HOST_H
#define GUFUNC_BACKENDS_GPU_GPU_HOST_H

#include <gufunc/backend.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

// Returns a failure to the caller. The function that failed has already written the details.
#define GUF_GPU_TRY(expression)                          \
  do {                                                   \
    if (const guf_status guf_try_status = (expression);  \
        __builtin_expect(guf_try_status != GUF_OK, 0)) { \
      return guf_try_status;                             \
    }                                                    \
  } while (false)

namespace gufunc::gpu {

inline constexpr int kNone = -1;  // no argument or axis is the cause

// Sets the host's table. Only the first call has an effect; its table is used for the life of the
// process.
void set_host(const guf_host_api *host);

// Returns the value of an environment variable. NULL if the variable is unset, if the process is
// privileged, or before set_host.
const char *host_config(const char *name);

enum class LogLevel : int32_t { kError = 0, kWarning = 1, kInformation = 2 };
[[gnu::cold, gnu::format(printf, 2, 3)]] void host_log(LogLevel level, const char *format, ...);

// Returns NULL if there is no memory. `alignment` is a power of two.
void *host_alloc(size_t size, size_t alignment);
void host_free(void *pointer);

// Creates an object in the host's memory; NULL if there is no memory.
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

// Writes the failure into `error` and returns `status`. Does not allocate.
[[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] guf_status fail(guf_error *error,
                                                                        guf_status status,
                                                                        const char *format, ...);

// The same with the driver's code.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] guf_status fail_native(
    guf_error *error, guf_status status, int32_t native_code, const char *format, ...);

[[gnu::cold]] guf_status fail_memory(guf_error *error, const char *what);

// Drivers use the same code for missing host memory and missing device memory. This function is for
// calls that need host memory.
inline guf_status as_host_memory(guf_status status, guf_error *error) {
  if (__builtin_expect(status != GUF_E_DEVICE_MEMORY, 1)) return status;
  if (error != nullptr) error->status = GUF_E_NO_MEMORY;
  return GUF_E_NO_MEMORY;
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_HOST_H

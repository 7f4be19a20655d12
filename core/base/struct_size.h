// SPDX-License-Identifier: Apache-2.0
// Compatibility of structs with a struct_size field between versions of the library.
#ifndef GUFUNC_CORE_BASE_STRUCT_SIZE_H
#define GUFUNC_CORE_BASE_STRUCT_SIZE_H

#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace gufunc::base {

// The size of T in the first version of the library that contained T. If T has grown since, a
// specialisation contains the old size.
template <class T>
inline constexpr uint32_t kFirstSize = sizeof(T);

// The limit for the size of every struct. A larger struct_size is treated as uninitialised.
inline constexpr uint32_t kMaxStructSize = 1U << 16;

// Checks the struct_size of a caller's struct. `name` is the caller's argument, for error messages.
// Errors  GUF_E_ARG    <= in is NULL
//         GUF_E_STRUCT <= size out of range, or a nonzero byte beyond `known`
guf_status check_struct(const void *in, const char *name, uint32_t first, uint32_t known,
                        guf_error *error);

// Reads a caller's struct as this version's T. A struct of the same size is used in place. A
// smaller struct (of at least the first version's size) is copied into `buffer` and extended with
// zeros. In a larger struct, all bytes beyond sizeof(T) must be zero.
// Errors  as check_struct
template <class T>
guf_status read_struct(const T *in, const char *name, T *buffer, const T **out, guf_error *error) {
  if (__builtin_expect(in != nullptr && in->struct_size == sizeof(T), 1)) {
    *out = in;
    return GUF_OK;
  }
  const guf_status status = check_struct(in, name, kFirstSize<T>, sizeof(T), error);
  if (in == nullptr || status != GUF_OK) return status;
  if (in->struct_size > sizeof(T)) {
    *out = in;
    return GUF_OK;
  }
  std::memset(buffer, 0, sizeof(T));
  std::memcpy(buffer, in, in->struct_size);
  *out = buffer;
  return GUF_OK;
}

// Writes `value` to a caller's struct, truncated to the caller's struct_size. Bytes beyond this
// version's fields become zero. Does not change struct_size. Writes nothing on failure.
// Errors  GUF_E_ARG <= out is NULL
//         GUF_E_STRUCT <= size below the first version's, or not initialised
template <class T>
guf_status write_struct(T *out, const char *name, const T &value, guf_error *error) {
  if (out == nullptr || out->struct_size < kFirstSize<T> || out->struct_size > kMaxStructSize) {
    return check_struct(out, name, kFirstSize<T>, kMaxStructSize, error);
  }
  const uint32_t size = out->struct_size;
  std::memset(out, 0, size);
  std::memcpy(out, &value, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = size;
  return GUF_OK;
}

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_STRUCT_SIZE_H

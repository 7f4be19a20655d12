// SPDX-License-Identifier: Apache-2.0
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_HOST_ARRAY_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_HOST_ARRAY_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {

// An array of uninitialised elements in the host's memory. The destructor frees it.
template <class T>
class HostArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  HostArray() = default;
  HostArray(const HostArray &) = delete;
  HostArray &operator=(const HostArray &) = delete;
  ~HostArray() { host_free(data_); }

  // Allocates the array. Returns false if there is no memory. Must be called only once.
  bool open(uint64_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) return false;
    data_ = static_cast<T *>(host_alloc(static_cast<size_t>(count) * sizeof(T), alignof(T)));
    return data_ != nullptr;
  }
  T *data() { return data_; }
  T &operator[](uint64_t i) { return data_[i]; }

 private:
  T *data_ = nullptr;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_HOST_ARRAY_H

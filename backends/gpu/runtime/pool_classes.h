// SPDX-License-Identifier: Apache-2.0
// The size classes of cached memory: 512 bytes to 64 MiB, with four classes per doubling, so that
// at most a fifth of a block of more than 512 bytes is unused.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_POOL_CLASSES_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_POOL_CLASSES_H

#include <cstdint>

namespace gufunc::gpu {

inline constexpr uint64_t kSmallestBlock = 512;
inline constexpr uint64_t kLargestBlock = uint64_t{64} << 20;
inline constexpr int kPoolClasses = 69;

// Returns the smallest class for `bytes` bytes, or -1 if the largest class is too small.
constexpr int pool_class(uint64_t bytes) {
  if (bytes <= kSmallestBlock) return 0;
  if (bytes > kLargestBlock) return -1;
  const uint64_t last = bytes - 1;
  const int exponent = 63 - __builtin_clzll(last);
  const int quarter = static_cast<int>(last >> (exponent - 2) & 3);
  return (exponent - 9) * 4 + quarter + 1;
}

constexpr uint64_t class_bytes(int number) {
  if (number == 0) return kSmallestBlock;
  const int exponent = 9 + (number - 1) / 4;
  return static_cast<uint64_t>(5 + (number - 1) % 4) << (exponent - 2);
}

// Returns the number of bytes that an allocation uses, or 0 on overflow.
constexpr uint64_t block_bytes(uint64_t bytes) {
  const int number = pool_class(bytes);
  if (number >= 0) return class_bytes(number);
  const uint64_t rounded = (bytes + kSmallestBlock - 1) & ~(kSmallestBlock - 1);
  return rounded < bytes ? 0 : rounded;
}

static_assert(class_bytes(kPoolClasses - 1) == kLargestBlock);
static_assert(pool_class(kLargestBlock) == kPoolClasses - 1);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_POOL_CLASSES_H

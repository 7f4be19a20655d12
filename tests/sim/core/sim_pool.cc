// SPDX-License-Identifier: Apache-2.0
// Implements the attributes of pools.
#include <cstring>

#include "tests/sim/core/sim_device_memory.h"

namespace sim {
namespace {

enum : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kThreshold = 4,
  kReserved = 5,
  kReservedHigh = 6,
  kUsed = 7,
  kUsedHigh = 8
};

}  // namespace

int set_pool_attribute(Pool &pool, int attribute, const void *value) {
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    std::memcpy(&pool.reuse[attribute - kReuseFirst], value, sizeof(int));
    return kSuccess;
  }
  uint64_t number = 0;
  std::memcpy(&number, value, sizeof(number));
  if (attribute == kThreshold) {
    pool.threshold = number;
    return kSuccess;
  }
  if (number != 0) return kInvalidValue;
  if (attribute == kReservedHigh) {
    pool.reserved_high = pool.reserved;
  } else if (attribute == kUsedHigh) {
    pool.used_high = pool.used;
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

int get_pool_attribute(const Pool &pool, int attribute, void *value) {
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    std::memcpy(value, &pool.reuse[attribute - kReuseFirst], sizeof(int));
    return kSuccess;
  }
  const uint64_t *number = attribute == kThreshold      ? &pool.threshold
                           : attribute == kReserved     ? &pool.reserved
                           : attribute == kReservedHigh ? &pool.reserved_high
                           : attribute == kUsed         ? &pool.used
                           : attribute == kUsedHigh     ? &pool.used_high
                                                        : nullptr;
  if (number == nullptr) return kInvalidValue;
  std::memcpy(value, number, sizeof(*number));
  return kSuccess;
}

}  // namespace sim

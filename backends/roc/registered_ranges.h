// SPDX-License-Identifier: Apache-2.0
// The host memory that this library has registered with HIP. Since HIP 6.4, hipHostRegister accepts
// a range that overlaps a registered range. A single call of hipHostUnregister then ends both
// registrations.
#ifndef GUFUNC_BACKENDS_ROC_REGISTERED_RANGES_H
#define GUFUNC_BACKENDS_ROC_REGISTERED_RANGES_H

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace gufunc::roc {

// A set of disjoint address ranges. Any thread may call its functions.
class RegisteredRanges {
 public:
  // Adds a range of `bytes` > 0 bytes. If the range overlaps another range, returns false and does
  // not change the set.
  bool add(uint64_t address, uint64_t bytes) {
    const uint64_t last = address + (bytes - 1);
    const std::lock_guard lock(mutex_);
    const auto next = last_of_.upper_bound(last);
    if (next != last_of_.begin() && std::prev(next)->second >= address) return false;
    last_of_.emplace(address, last);
    return true;
  }

  // Removes the range that begins at `address`, if there is one.
  void remove(uint64_t address) {
    const std::lock_guard lock(mutex_);
    last_of_.erase(address);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> last_of_;  // maps the first address of a range to its last address
};

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_REGISTERED_RANGES_H

// SPDX-License-Identifier: Apache-2.0
// An append-only, bounded cache of resolution results for a list of loops, read without a lock.
#ifndef GUFUNC_CORE_OP_CHOICE_CACHE_H
#define GUFUNC_CORE_OP_CHOICE_CACHE_H

#include <atomic>
#include <cstdint>

namespace gufunc::op {

// Keys and values are 64-bit words whose meaning the caller defines; 0 is not a valid key. Entries
// are never changed or removed, so readers always find complete entries. The table is allocated
// with the first entry, because most ufuncs of a process are never called.
class ChoiceCache {
 public:
  ChoiceCache() = default;
  ChoiceCache(const ChoiceCache &) = delete;
  ChoiceCache &operator=(const ChoiceCache &) = delete;
  ~ChoiceCache() { delete[] table_.load(std::memory_order_relaxed); }

  bool find(uint64_t key, uint64_t *out_value) const {
    const Entry *const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return false;
    for (uint64_t i = hash(key);; ++i) {
      const Entry &entry = table[i % kSize];
      const uint64_t seen = entry.key.load(std::memory_order_acquire);
      if (seen == key) {
        *out_value = entry.value;
        return true;
      }
      if (seen == 0) return false;
    }
  }

  // Adds an entry. Does nothing if another thread is adding one or the table is full; the next call
  // with this key then resolves again.
  void add(uint64_t key, uint64_t value);

  static constexpr uint64_t kSize = 256;
  static constexpr uint64_t kMaxEntries = 192;  // leaves empty entries, which end a search

 private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    uint64_t value = 0;  // written before the key
  };

  static uint64_t hash(uint64_t key) { return (key * 0x9E3779B97F4A7C15ULL) >> 40; }

  std::atomic<Entry *> table_{nullptr};
  std::atomic_flag writing_ = ATOMIC_FLAG_INIT;
  uint64_t nentries_ = 0;
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_CHOICE_CACHE_H

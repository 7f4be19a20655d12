// SPDX-License-Identifier: Apache-2.0
// Addition of entries to the choice cache.
#include "core/op/choice_cache.h"

#include <new>

namespace gufunc::op {

void ChoiceCache::add(uint64_t key, uint64_t value) {
  // If the process forks while another thread holds the flag, the child never adds entries again.
  // The child is then slower but still correct.
  if (writing_.test_and_set(std::memory_order_acquire)) return;
  Entry *table = table_.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = new (std::nothrow) Entry[kSize];
    table_.store(table, std::memory_order_release);
  }
  uint64_t known = 0;
  if (table != nullptr && nentries_ < kMaxEntries && !find(key, &known)) {
    uint64_t i = hash(key);
    while (table[i % kSize].key.load(std::memory_order_relaxed) != 0) ++i;
    table[i % kSize].value = value;
    table[i % kSize].key.store(key, std::memory_order_release);
    ++nentries_;
  }
  writing_.clear(std::memory_order_release);
}

}  // namespace gufunc::op

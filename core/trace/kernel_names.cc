// SPDX-License-Identifier: Apache-2.0
// A hash table of kernel names. A name is added when the kernel is first requested. Every traced
// launch reads the table, without a lock.
#include <cstring>
#include <mutex>
#include <new>

#include "core/trace/recorder.h"

namespace gufunc::trace {
namespace {

// Never freed, because readers may still use a name that was replaced.
struct Name {
  const Name *older;
  char text[sizeof(guf_trace_work::name)];
};

struct Entry {
  std::atomic<const void *> kernel{nullptr};
  std::atomic<const Name *> name{nullptr};
};

constexpr size_t kEntries = 4096;
constinit Entry entries[kEntries];
constinit base::ForkLock naming_lock;

// Returns the kernel's entry, or an unused entry, or nullptr if the table is full.
Entry *find_entry(const void *kernel) {
  const size_t start = (reinterpret_cast<uintptr_t>(kernel) >> 4) * 0x9E3779B97F4A7C15U >> 40;
  for (size_t i = 0; i < kEntries; ++i) {
    Entry &entry = entries[(start + i) % kEntries];
    const void *const found = entry.kernel.load(std::memory_order_acquire);
    if (found == kernel || found == nullptr) return &entry;
  }
  return nullptr;
}

}  // namespace

void name_kernel(const void *kernel, const char *name) {
  if (kernel == nullptr || !on()) return;
  const std::lock_guard<base::ForkLock> hold(naming_lock);
  Entry *const entry = find_entry(kernel);
  if (entry == nullptr) return;
  const Name *const known = entry->name.load(std::memory_order_relaxed);
  if (known != nullptr && std::strncmp(known->text, name, sizeof known->text - 1) == 0) return;
  auto *const fresh = new (std::nothrow) Name;
  if (fresh == nullptr) return;
  fresh->older = known;
  std::strncpy(fresh->text, name, sizeof fresh->text - 1);
  fresh->text[sizeof fresh->text - 1] = '\0';
  entry->name.store(fresh, std::memory_order_release);
  entry->kernel.store(kernel, std::memory_order_release);
}

const char *kernel_name(const void *kernel) {
  if (kernel == nullptr) return nullptr;
  const Entry *const entry = find_entry(kernel);
  if (entry == nullptr || entry->kernel.load(std::memory_order_acquire) != kernel) return nullptr;
  return entry->name.load(std::memory_order_acquire)->text;
}

}  // namespace gufunc::trace

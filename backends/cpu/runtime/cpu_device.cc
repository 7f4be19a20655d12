// SPDX-License-Identifier: Apache-2.0
// The only device of the cpu backend, which is the whole machine, and its memory.
#include "backends/cpu/runtime/cpu_table.h"

#include <cpuid.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/base/thread_pool.h"

namespace gufunc::cpu {
namespace {

constexpr uint64_t kAlignment = 64;
// Allocations of at least this size are mapped directly with huge pages,
// which makes the first access 2.5 times faster.
constexpr uint64_t kHugeFrom = uint64_t{4} << 20;
constexpr uint64_t kHugePage = uint64_t{2} << 20;

struct Device {
} the_device;

// Writes the processor's brand string without its padding blanks.
void write_brand(char *out_name, size_t size) {
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned *w = words + size_t{4} * i;
    if (__get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3]) == 0) break;
  }
  char brand[sizeof(words) + 1] = {};
  std::memcpy(brand, words, sizeof(words));
  const char *begin = brand;
  while (*begin == ' ') ++begin;
  size_t length = std::strlen(begin);
  while (length > 0 && begin[length - 1] == ' ') --length;
  std::snprintf(out_name, size, "%.*s", static_cast<int>(length), begin);
}

void write_driver(char *out_driver, size_t size) {
  utsname system;
  if (uname(&system) == 0) {
    std::snprintf(out_driver, size, "%.20s %.40s", system.sysname, system.release);
  } else {
    std::snprintf(out_driver, size, "Linux");
  }
}

// Rounds up to whole huge pages. Returns 0 on overflow.
uint64_t mapped_size(uint64_t size) {
  const uint64_t rounded = (size + kHugePage - 1) & ~(kHugePage - 1);
  return rounded < size ? 0 : rounded;
}

// Maps memory that starts at a multiple of the size of huge pages. Maps one huge page more than
// `size` bytes and unmaps the excess.
void *map_huge(uint64_t size) {
  const uint64_t requested = size + kHugePage;
  if (requested < size) return nullptr;
  void *base = mmap(nullptr, requested, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uint64_t>(base);
  const uint64_t aligned = (start + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned > start) munmap(base, aligned - start);
  const uint64_t tail = start + requested - (aligned + size);
  if (tail > 0) munmap(reinterpret_cast<void *>(aligned + size), tail);
  auto *memory = reinterpret_cast<void *>(aligned);
  madvise(memory, size, MADV_HUGEPAGE);  // only a hint, which fails if huge pages are disabled
  return memory;
}

}  // namespace

guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *) {
  *out_ndevices = 1;
  if (driver_size > 0) write_driver(out_driver, driver_size);
  return GUF_OK;
}

guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error) {
  if (index != 0) {
    return fail(error, GUF_E_NO_DEVICE, kNone, kNone, "device index: expected 0, got %d", index);
  }
  if (native != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "the cpu has no native device to adopt");
  }
  guf_backend_device_info info = {};
  info.struct_size = sizeof(info);
  info.units = thread_pool().threads();
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    info.memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  write_brand(info.name, sizeof(info.name));
  std::snprintf(info.target, sizeof(info.target), "%s", isa_target(isa_level()));
  write_driver(info.driver, sizeof(info.driver));
  info.host_memory = 1;
  const uint32_t size = std::min<uint32_t>(out_info->struct_size, sizeof(info));
  info.struct_size = out_info->struct_size;
  std::memcpy(out_info, &info, size);
  *out_device = &the_device;
  return GUF_OK;
}

void device_close(void *) {}

guf_status memory_alloc(void *, uint64_t size, int32_t kind, void *, uint64_t *out_address,
                        guf_error *error) {
  if (kind < GUF_MEMORY_DEVICE || kind > GUF_MEMORY_MANAGED) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "memory kind: expected 0..3, got %d", kind);
  }
  void *memory = nullptr;
  if (size < kHugeFrom) {
    const uint64_t rounded = std::max((size + kAlignment - 1) & ~(kAlignment - 1), kAlignment);
    memory = host_alloc(rounded, kAlignment);
  } else if (const uint64_t mapped = mapped_size(size); mapped != 0) {
    memory = map_huge(mapped);
  }
  if (memory == nullptr) {
    return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory for %llu bytes",
                static_cast<unsigned long long>(size));
  }
  *out_address = reinterpret_cast<uint64_t>(memory);
  return GUF_OK;
}

void memory_release(uint64_t address, uint64_t size) {
  if (address == 0) return;
  if (size < kHugeFrom) {
    host_free(reinterpret_cast<void *>(address));
  } else {
    munmap(reinterpret_cast<void *>(address), mapped_size(size));
  }
}

}  // namespace gufunc::cpu

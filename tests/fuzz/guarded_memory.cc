// SPDX-License-Identifier: Apache-2.0
#include "guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gufunc::fuzz {
namespace {

constexpr size_t kPage = 4096;
constexpr unsigned char kPattern = 0xA7;

}  // namespace

GuardedMemory::GuardedMemory() {
  void *const all =
      mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) std::abort();
  base_ = static_cast<unsigned char *>(all) + kPage;
  if (mprotect(base_, kBytes, PROT_READ | PROT_WRITE) != 0) std::abort();
}

GuardedMemory::~GuardedMemory() {
  munmap(base_ - kPage, kBytes + 2 * kPage);
}

unsigned char *GuardedMemory::place(size_t nbytes, bool at_upper_end) {
  if (nbytes > kBytes) std::abort();
  margin_bytes_ = std::min(kMargin, kBytes - nbytes);
  unsigned char *const start = at_upper_end ? base_ + kBytes - nbytes : base_;
  margin_ = at_upper_end ? start - margin_bytes_ : start + nbytes;
  std::memset(margin_, kPattern, margin_bytes_);
  return start;
}

bool GuardedMemory::is_intact() const {
  return std::all_of(margin_, margin_ + margin_bytes_,
                     [](unsigned char byte) { return byte == kPattern; });
}

}  // namespace gufunc::fuzz

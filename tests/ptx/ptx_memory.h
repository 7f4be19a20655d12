// SPDX-License-Identifier: Apache-2.0
// The global memory that a kernel may access.
#ifndef GUFUNC_TESTS_PTX_PTX_MEMORY_H
#define GUFUNC_TESTS_PTX_PTX_MEMORY_H

#include <cstdint>
#include <vector>

namespace ptx {

// Fills local and shared memory that the program has not written.
inline constexpr unsigned char kFresh = 0xCD;

// Bytes that kernels may read and, if `writable` is set, write.
struct Range {
  uint64_t first = 0, end = 0;
  bool writable = true;

  bool has(uint64_t address, uint64_t bytes) const {
    return address >= first && address < end && bytes <= end - address;
  }
};

// Finds the range that contains an address. Returns an empty range if there is none. Threads of
// several launches may call find() at the same time.
class GlobalMemory {
 public:
  virtual ~GlobalMemory() = default;
  virtual Range find(uint64_t address) = 0;
};

// The ranges that one launch has used recently.
class RangeCache {
 public:
  explicit RangeCache(GlobalMemory &memory) : memory_(memory) {}

  // Returns whether the bytes are in one range that permits the access.
  bool allows(uint64_t address, uint64_t bytes, bool writes) {
    if (!last_.has(address, bytes)) search(address, bytes);
    return last_.has(address, bytes) && (last_.writable || !writes);
  }

 private:
  void search(uint64_t address, uint64_t bytes);

  GlobalMemory &memory_;
  Range last_;
  std::vector<Range> known_;
};

// Reads or writes 1, 2, 4 or 8 bytes at an aligned address. These functions are not instrumented,
// because the simulated drivers mark device memory as inaccessible to the host.
uint64_t read_bytes(const unsigned char *from, unsigned bytes);
void write_bytes(unsigned char *to, unsigned bytes, uint64_t value);

// Writes `desired` to 4 or 8 bytes if they are equal to *expected, in one atomic step. Otherwise
// stores the bytes in *expected and returns false.
bool exchange_if_equal(unsigned char *at, unsigned bytes, uint64_t *expected, uint64_t desired);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_MEMORY_H

// SPDX-License-Identifier: Apache-2.0
// Allocates memory between two inaccessible pages. Code that was compiled without a sanitizer, such
// as kernels, faults at the first byte outside its operands.
#ifndef GUFUNC_TESTS_FUZZ_GUARDED_MEMORY_H
#define GUFUNC_TESTS_FUZZ_GUARDED_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace gufunc::fuzz {

class GuardedMemory {
 public:
  static constexpr size_t kBytes = size_t{1} << 16;

  GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  // Returns `nbytes` bytes that end at the upper guard page or begin at the lower guard page. Fills
  // all other accessible bytes with a pattern, which is_intact checks.
  unsigned char *place(size_t nbytes, bool at_upper_end);

  // Returns whether the accessible bytes outside the last placement still contain the pattern.
  bool is_intact() const;

 private:
  static constexpr size_t kMargin = 256;

  unsigned char *base_;
  unsigned char *margin_ = nullptr;
  size_t margin_bytes_ = 0;
};

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_GUARDED_MEMORY_H

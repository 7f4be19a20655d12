// SPDX-License-Identifier: Apache-2.0
// Scratch memory for one piece of a method's work. It is allocated and released like a stack.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_SCRATCH_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_SCRATCH_H

#include <cstddef>
#include <cstdint>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {

// Small requests use an array in this object, which is on the stack.
// A request that does not fit is allocated by the host.
class MethodScratch {
 public:
  MethodScratch() : used_(0), blocks_(nullptr) {}  // stack_ stays uninitialised
  ~MethodScratch() { release(0, nullptr); }
  MethodScratch(const MethodScratch &) = delete;
  MethodScratch &operator=(const MethodScratch &) = delete;

  // Returns memory that is aligned to a cache line, or NULL if there is no memory.
  char *allocate(int64_t bytes) {
    const auto rounded = (static_cast<size_t>(bytes) + kLine - 1) / kLine * kLine;
    if (rounded <= kStackBytes - used_) {
      char *const memory = stack_ + used_;
      used_ += rounded;
      return memory;
    }
    auto *const block = static_cast<Block *>(host_alloc(kLine + rounded, kLine));
    if (block == nullptr) return nullptr;
    block->before = blocks_;
    blocks_ = block;
    return reinterpret_cast<char *>(block) + kLine;
  }

 private:
  struct Block {
    Block *before;
  };

 public:
  // When a Scope is destroyed, it releases everything that was allocated since its construction.
  class Scope {
   public:
    explicit Scope(MethodScratch &scratch)
        : scratch_(scratch), used_(scratch.used_), blocks_(scratch.blocks_) {}
    ~Scope() { scratch_.release(used_, blocks_); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

   private:
    MethodScratch &scratch_;
    const size_t used_;
    Block *const blocks_;
  };

 private:
  void release(size_t used, Block *blocks) {
    used_ = used;
    while (blocks_ != blocks) {
      Block *const last = blocks_;
      blocks_ = last->before;
      host_free(last);
    }
  }

  static constexpr size_t kLine = 64;
  static constexpr size_t kStackBytes = size_t{48} * 1024;

  size_t used_;
  Block *blocks_;
  alignas(kLine) char stack_[kStackBytes];
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_SCRATCH_H

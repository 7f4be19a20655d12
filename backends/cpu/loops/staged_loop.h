// SPDX-License-Identifier: Apache-2.0
// Runs a loop on operands that it cannot access directly,
// because they have a different dtype, byte order or alignment.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_STAGED_LOOP_H
#define GUFUNC_BACKENDS_CPU_LOOPS_STAGED_LOOP_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/loops/host_loop.h"

namespace gufunc::cpu {

// Operands are converted block by block to contiguous, aligned scratch memory.
// The loop runs on the scratch memory, and results are converted back.
// Elementwise functions use blocks of 256 items, which fit in the L1 cache.
// Generalized functions convert the whole core arrays of an item. If the core arrays are small,
// they convert the core arrays of several items at a time. Each chunk of work uses its own object,
// which is on the stack. Larger scratch memory is on the heap.
class StagedLoop {
 public:
  StagedLoop() = default;
  ~StagedLoop();
  StagedLoop(const StagedLoop &) = delete;
  StagedLoop &operator=(const StagedLoop &) = delete;

  // Errors  GUF_E_DTYPE     <= an operand's dtype has no casts
  //         GUF_E_NO_MEMORY <= no scratch memory for one item
  guf_status open(const guf_launch_block &block, const HostLoop &loop, guf_error *error);

  // Runs `count` consecutive items along dimension 0, starting at the addresses in `args`.
  guf_status run_row(char *const *args, int64_t count);

 private:
  static constexpr int64_t kBlockItems = 256;
  static constexpr int64_t kStackBytes = 32 * 1024;
  static constexpr int64_t kLine = 64;

  // The members have no initialisers: add_operand sets the members
  // in use, and most launches use few.
  struct Operand {
    int number;  // index of the operand in the launch
    bool in, out;
    bool constant;  // the whole row uses the same element, which is converted once
    ElementConverter load, store;
    char *scratch;
    int64_t item_bytes;  // size of an item's core array in scratch memory
    int ndim;            // 1 + number of core dimensions; dimension 0 is the items
    int64_t *size, *memory_step, *scratch_step;  // arrays of `ndim` numbers, stored in numbers_
  };

  guf_status add_operand(int number, guf_error *error);
  guf_status place_scratch(guf_error *error);
  void load(Operand &operand, const char *from, int64_t count);
  void store(Operand &operand, char *to, int64_t count);

  const guf_launch_block *block_ = nullptr;
  HostLoop loop_;
  int noperands_ = 0;
  int64_t block_items_ = kBlockItems;
  int64_t dims_[1 + GUF_MAX_CORE_NAMES];
  int64_t step_[GUF_MAX_OPERANDS + GUF_MAX_CORE_STRIDES];
  void *heap_ = nullptr;
  alignas(kLine) char stack_[kStackBytes];
  Operand operand_[GUF_MAX_OPERANDS];
  int64_t numbers_[3 * (GUF_MAX_OPERANDS + GUF_MAX_CORE_STRIDES)];
  int64_t *next_number_ = numbers_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_STAGED_LOOP_H

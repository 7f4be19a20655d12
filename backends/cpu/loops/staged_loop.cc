// SPDX-License-Identifier: Apache-2.0
// Staging: loads a block of items into scratch memory, runs the loop and stores the results.
#include "backends/cpu/loops/staged_loop.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kStagedFlags = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;

bool is_staged(const guf_launch_block &block, int operand) {
  return block.dtype[operand] != block.loop_dtype[operand] ||
         (block.operand_flags[operand] & kStagedFlags) != 0;
}

// Returns the number of core strides that precede the operand's own core strides. block.core_name
// and the part of block.step that follows the loop strides of all operands list the core strides
// in this order.
int first_core_stride(const guf_launch_block &block, int operand) {
  int first = 0;
  for (int i = 0; i < operand; ++i) first += block.core_ndim[i];
  return first;
}

guf_status no_memory(guf_error *error, int operand) {
  return fail(error, GUF_E_NO_MEMORY, operand, kNone,
              "no memory for the converted core items of one loop step");
}

}  // namespace

StagedLoop::~StagedLoop() {
  host_free(heap_);
}

guf_status StagedLoop::open(const guf_launch_block &block, const HostLoop &loop, guf_error *error) {
  block_ = &block;
  loop_ = loop;
  std::copy_n(block.size, 1 + block.ncore, dims_);
  std::copy_n(block.step, block.noperands + block.ncorestrides, step_);
  for (int i = 0; i < block.noperands; ++i) {
    if (is_staged(block, i)) GUF_BACKEND_TRY(add_operand(i, error));
  }
  return place_scratch(error);
}

guf_status StagedLoop::add_operand(int number, guf_error *error) {
  const guf_launch_block &block = *block_;
  Operand &op = operand_[noperands_++];
  op.number = number;
  op.in = (block.operand_flags[number] & GUF_LAUNCH_OPERAND_READ) != 0;
  op.out = (block.operand_flags[number] & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
  const ElementForm memory = {block.dtype[number],
                              (block.operand_flags[number] & GUF_LAUNCH_OPERAND_SWAPPED) != 0,
                              (block.operand_flags[number] & GUF_LAUNCH_OPERAND_UNALIGNED) != 0};
  const ElementForm scratch = {block.loop_dtype[number]};
  // Both directions are checked separately, because some casts exist in only one direction.
  if ((op.in && !op.load.choose(memory, scratch)) ||
      (op.out && !op.store.choose(scratch, memory))) {
    --noperands_;
    return fail(error, GUF_E_DTYPE, number, kNone, "dtype 0x%x has no cast to dtype 0x%x",
                static_cast<unsigned>(memory.dtype), static_cast<unsigned>(scratch.dtype));
  }
  // An item's core array in scratch memory is C-contiguous: its last dimension is innermost.
  const int core_ndim = block.core_ndim[number];
  const int first = first_core_stride(block, number);
  int64_t bytes = dtype_size(scratch.dtype);
  op.ndim = 1 + core_ndim;
  op.size = next_number_;
  op.memory_step = op.size + op.ndim;
  op.scratch_step = op.memory_step + op.ndim;
  next_number_ = op.scratch_step + op.ndim;
  for (int d = core_ndim; d >= 1; --d) {
    const int stride = first + d - 1;
    op.size[d] = block.size[1 + block.core_name[stride]];
    op.memory_step[d] = block.step[block.noperands + stride];
    op.scratch_step[d] = bytes;
    step_[block.noperands + stride] = bytes;
    if (__builtin_mul_overflow(bytes, op.size[d], &bytes)) return no_memory(error, number);
  }
  op.item_bytes = bytes;
  op.memory_step[0] = block.step[number];
  op.scratch_step[0] = bytes;
  op.constant = op.memory_step[0] == 0 && !op.out;
  step_[number] = op.constant ? 0 : bytes;
  return GUF_OK;
}

guf_status StagedLoop::place_scratch(guf_error *error) {
  int64_t item_bytes = 0;
  for (int i = 0; i < noperands_; ++i) {
    if (__builtin_add_overflow(item_bytes, operand_[i].item_bytes, &item_bytes)) {
      return no_memory(error, operand_[i].number);
    }
  }
  const int64_t padding = noperands_ * kLine;
  char *next = stack_;
  if (item_bytes > kStackBytes - padding) {
    int64_t total;
    if (__builtin_add_overflow(item_bytes, padding, &total)) return no_memory(error, kNone);
    heap_ = host_alloc(static_cast<size_t>(total), kLine);
    if (heap_ == nullptr) return no_memory(error, kNone);
    next = static_cast<char *>(heap_);
    block_items_ = 1;
  } else if (item_bytes > 0) {
    block_items_ = std::min(kBlockItems, (kStackBytes - padding) / item_bytes);
  }
  for (int i = 0; i < noperands_; ++i) {
    operand_[i].scratch = next;
    next += (operand_[i].item_bytes * block_items_ + kLine - 1) / kLine * kLine;
  }
  return GUF_OK;
}

void StagedLoop::load(Operand &op, const char *from, int64_t count) {
  op.size[0] = count;
  op.load.convert_nd(op.scratch, op.scratch_step, from, op.memory_step, op.size, op.ndim);
}

void StagedLoop::store(Operand &op, char *to, int64_t count) {
  op.size[0] = count;
  op.store.convert_nd(to, op.memory_step, op.scratch, op.scratch_step, op.size, op.ndim);
}

guf_status StagedLoop::run_row(char *const *args, int64_t count) {
  const int nargs = block_->noperands;
  char *place[GUF_MAX_OPERANDS];
  for (int64_t done = 0; done < count; done += block_items_) {
    const int64_t n = std::min(block_items_, count - done);
    for (int i = 0; i < nargs; ++i) place[i] = args[i] + done * block_->step[i];
    for (int i = 0; i < noperands_; ++i) {
      Operand &op = operand_[i];
      if (op.in && (!op.constant || done == 0)) load(op, place[op.number], op.constant ? 1 : n);
    }
    char *call[GUF_MAX_OPERANDS];
    std::copy_n(place, nargs, call);
    for (int i = 0; i < noperands_; ++i) call[operand_[i].number] = operand_[i].scratch;
    dims_[0] = n;
    GUF_BACKEND_TRY(loop_(call, dims_, step_));
    for (int i = 0; i < noperands_; ++i) {
      if (operand_[i].out) store(operand_[i], place[operand_[i].number], n);
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu

// SPDX-License-Identifier: Apache-2.0
#include "core/trace/layer.h"

#include "core/dtype/dtype.h"

namespace gufunc::trace {
namespace {

// Returns the number of distinct elements along a dimension: 1 if the operand is broadcast.
uint64_t extent(int64_t size, int64_t step) {
  return step == 0 ? 1 : static_cast<uint64_t>(size);
}

uint64_t loop_elements(const guf_launch_block &block, int32_t operand) {
  uint64_t elements = 1;
  if (block.nloop > 0) elements = extent(block.size[0], block.step[operand]);
  for (int32_t d = 1; d < block.nloop; ++d) {
    elements *= extent(block.outer_size[d - 1], block.outer_step[d - 1][operand]);
  }
  return elements;
}

uint64_t mask_elements(const guf_launch_block &block) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nloop; ++d) {
    elements *= extent(d == 0 ? block.size[0] : block.outer_size[d - 1], block.mask_step[d]);
  }
  return elements;
}

// Returns how often each element of an operand is accessed: 1 if it is read or written, 2 for both.
uint64_t passes(const guf_launch_block &block, int32_t operand) {
  const uint32_t flags = block.operand_flags[operand];
  const bool reads = operand < block.nin || (flags & GUF_LAUNCH_OPERAND_READ) != 0;
  const bool writes = operand >= block.nin || (flags & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
  return (reads ? 1 : 0) + (writes ? 1 : 0);
}

uint64_t kept_elements(const guf_method_block &block, const int64_t *steps) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nkept; ++d) elements *= extent(block.kept_size[d], steps[d]);
  return elements;
}

uint64_t folded(const guf_method_block &block) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nfold; ++d) elements *= static_cast<uint64_t>(block.fold_size[d]);
  return elements;
}

}  // namespace

uint64_t bytes_of(const guf_launch_block &block) {
  uint64_t bytes = 0;
  int32_t core = 0;  // index of the core stride; core strides are stored by operand
  for (int32_t i = 0; i < block.noperands; ++i) {
    uint64_t elements = loop_elements(block, i);
    for (int32_t k = 0; k < block.core_ndim[i]; ++k, ++core) {
      elements *= static_cast<uint64_t>(block.size[1 + block.core_name[core]]);
    }
    bytes += elements * dtype::itemsize(block.dtype[i]) * passes(block, i);
  }
  return block.mask == 0 ? bytes : bytes + mask_elements(block);
}

uint64_t items_of(const guf_method_block &block) {
  if (block.method != GUF_METHOD_AT) return block.items * folded(block);
  return block.items * static_cast<uint64_t>(block.nindices);
}

uint64_t bytes_of(const guf_method_block &block) {
  const auto indices = static_cast<uint64_t>(block.nindices);
  const uint64_t in = dtype::itemsize(block.input_dtype), out = dtype::itemsize(block.output_dtype);
  const uint64_t kept_in = kept_elements(block, block.kept_input_step);
  if (block.method == GUF_METHOD_AT) {  // the output is read and written
    return indices *
           (block.input == 0 ? 2 * block.items * out : kept_in * in + 2 * block.items * out);
  }
  uint64_t results = block.items;
  if (block.method == GUF_METHOD_ACCUMULATE) results *= folded(block);
  if (block.method == GUF_METHOD_REDUCEAT) results *= indices;
  const uint64_t masked = block.mask == 0 ? 0 : block.items * folded(block);
  return kept_in * folded(block) * in + results * out + masked;
}

}  // namespace gufunc::trace

// SPDX-License-Identifier: Apache-2.0
// A hash table, by address, of the blocks that a memory pool has allocated.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_TABLE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_TABLE_H

#include <cstddef>
#include <cstdint>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {

// The blocks of a chain are linked by their own `next`. The number of chains doubles when there are
// two blocks per chain. If there is no memory for more chains, the chains become longer instead.
template <class Block>
class BlockTable {
 public:
  BlockTable() = default;
  BlockTable(const BlockTable &) = delete;
  BlockTable &operator=(const BlockTable &) = delete;
  ~BlockTable() {
    if (chains_ != inline_chains_) host_free(chains_);
  }

  void add(Block *block) {
    if (++count_ > 2 * nchains_) grow();
    insert(block);
  }

  // Removes and returns the block at `address`, or returns NULL if there is none.
  Block *remove(uint64_t address) {
    for (Block **link = &chains_[bucket_of(address)]; *link != nullptr; link = &(*link)->next) {
      Block *const block = *link;
      if (block->address != address) continue;
      *link = block->next;
      --count_;
      return block;
    }
    return nullptr;
  }

  // Removes and returns any block, or returns NULL if the table is empty.
  Block *remove_any() {
    for (size_t i = 0; i < nchains_; ++i) {
      Block *const block = chains_[i];
      if (block == nullptr) continue;
      chains_[i] = block->next;
      --count_;
      return block;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kFew = 64;

  size_t bucket_of(uint64_t address) const {
    return static_cast<size_t>(address * 0x9E3779B97F4A7C15u >> 32) & (nchains_ - 1);
  }
  void insert(Block *block) {
    Block **const chain = &chains_[bucket_of(block->address)];
    block->next = *chain;
    *chain = block;
  }
  void grow() {
    const size_t count = 2 * nchains_;
    auto **const chains = static_cast<Block **>(host_alloc(count * sizeof(Block *), 64));
    if (chains == nullptr) return;
    for (size_t i = 0; i < count; ++i) chains[i] = nullptr;
    Block **const old = chains_;
    const size_t nold = nchains_;
    chains_ = chains;
    nchains_ = count;
    for (size_t i = 0; i < nold; ++i) {
      while (old[i] != nullptr) {
        Block *const block = old[i];
        old[i] = block->next;
        insert(block);
      }
    }
    if (old != inline_chains_) host_free(old);
  }

  Block *inline_chains_[kFew] = {};
  Block **chains_ = inline_chains_;
  size_t nchains_ = kFew, count_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_TABLE_H

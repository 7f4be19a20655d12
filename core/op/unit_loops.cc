// SPDX-License-Identifier: Apache-2.0
#include "core/op/unit_loops.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "core/op/ufunc.h"

namespace gufunc::op {

struct UnitLoops::Node {
  Loop loop;
  uint32_t number = kNoNumber;
  const Node *next = nullptr;
};

// A hash table with chaining. New nodes are inserted at the head of a chain. The number of loops is
// unbounded, because dtypes with different multiples of a unit have separate loops.
struct UnitLoops::Table {
  static constexpr size_t kChains = 1024;
  std::atomic<const Node *> chains[kChains] = {};
  std::atomic<const Loop *> numbered[kNumbered] = {};
  uint32_t count = 0;  // number of numbered loops; used by writers only
};

namespace {

size_t chain_of(const Loop &general, const guf_dtype *types, int32_t ntypes) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15U;
  uint64_t hash = reinterpret_cast<uintptr_t>(&general);
  for (int32_t i = 0; i < ntypes; ++i) hash = (hash ^ types[i] ^ hash >> 32) * kOdd;
  return hash >> 54;
}

void copy_loop(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes,
               Loop *out) {
  std::copy_n(types, ntypes, out->types.begin());
  out->general = &general;
  out->general_index = index;
  out->flags = general.flags;
  out->kind.store(general.kind.load(std::memory_order_relaxed), std::memory_order_relaxed);
  out->host = general.host;
  out->user = general.user;
}

}  // namespace

UnitLoops::~UnitLoops() {
  const std::unique_ptr<Table> table(table_.load(std::memory_order_relaxed));
  if (!table) return;
  for (const std::atomic<const Node *> &chain : table->chains) {
    const Node *node = chain.load(std::memory_order_relaxed);
    while (node != nullptr) delete std::exchange(node, node->next);
  }
}

const Loop &UnitLoops::at(uint32_t number) const {
  const Table *const table = table_.load(std::memory_order_acquire);
  return *table->numbered[number].load(std::memory_order_acquire);
}

const UnitLoops::Node *UnitLoops::look_up(const Table *table, const Loop &general,
                                          const guf_dtype *types, int32_t ntypes) const {
  if (table == nullptr) return nullptr;
  const size_t chain = chain_of(general, types, ntypes);
  const Node *node = table->chains[chain].load(std::memory_order_acquire);
  for (; node != nullptr; node = node->next) {
    const Loop &loop = node->loop;
    if (loop.general == &general && std::equal(types, types + ntypes, loop.types.begin())) break;
  }
  return node;
}

UnitLoops::Found UnitLoops::find(const Loop &general, uint32_t index, const guf_dtype *types,
                                 int32_t ntypes) {
  Table *table = table_.load(std::memory_order_acquire);
  const Node *known = look_up(table, general, types, ntypes);
  if (known != nullptr) return {&known->loop, known->number};
  auto fresh = std::make_unique<Node>();
  copy_loop(general, index, types, ntypes, &fresh->loop);
  std::unique_ptr<Table> first = table == nullptr ? std::make_unique<Table>() : nullptr;
  const std::lock_guard<base::ForkLock> hold(lock_);
  table = table_.load(std::memory_order_relaxed);
  known = look_up(table, general, types, ntypes);
  if (known != nullptr) return {&known->loop, known->number};
  if (table == nullptr) {
    table = first.release();
    table_.store(table, std::memory_order_release);
  }
  if (table->count < kNumbered) {
    fresh->number = table->count++;
    table->numbered[fresh->number].store(&fresh->loop, std::memory_order_release);
  }
  std::atomic<const Node *> &chain = table->chains[chain_of(general, types, ntypes)];
  fresh->next = chain.load(std::memory_order_relaxed);
  const Node *const added = fresh.release();
  chain.store(added, std::memory_order_release);
  return {&added->loop, added->number};
}

}  // namespace gufunc::op

// SPDX-License-Identifier: Apache-2.0
// Adds loops to a ufunc, creates loops for datetime types with units, caches resolution results,
// and destroys ufuncs.
#include "core/op/ufunc.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/dtype/dtype.h"
#include "core/op/module_entry.h"

namespace gufunc::op {
namespace {

// Adapts guf_destroy_fn to the callback queue: the function pointer is passed as the value.
void run_destroy(void *user, uint64_t function) {
  reinterpret_cast<guf_destroy_fn>(function)(user);
}

// Returns whether a call cannot distinguish two loops: their input types are equal or, in a ufunc
// without inputs or without outputs, all their types are equal.
bool same_inputs(const Ufunc &ufunc, const Loop &a, const Loop &b) {
  const bool one_side = ufunc.nin() == 0 || ufunc.nout() == 0;
  const int32_t count = one_side ? ufunc.noperands() : ufunc.nin();
  return std::equal(a.types.begin(), a.types.begin() + count, b.types.begin());
}

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

base::Text types_of(const Ufunc &ufunc, const Loop &loop) {
  base::Text text;
  for (int32_t i = 0; i < ufunc.noperands(); ++i) {
    if (i == ufunc.nin()) text.add("->");
    text.add("%c", dtype::letter(loop.types[static_cast<size_t>(i)]));
  }
  return text;
}

guf_status Ufunc::add_loop(std::unique_ptr<Loop> loop, guf_error *error) {
  std::vector<std::unique_ptr<Loop>> loops;
  loops.push_back(std::move(loop));
  return add_loops(std::move(loops), error);
}

guf_status Ufunc::add_loops(std::vector<std::unique_ptr<Loop>> loops, guf_error *error) {
  for (const std::unique_ptr<Loop> &loop : loops) {
    loop->pending_destroy = defer_destroy(loop->destroy, loop->user);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  auto next = std::make_unique<LoopList>();
  next->loops.reserve(loops_.size() + loops.size());
  next->loops = list_.load(std::memory_order_relaxed)->loops;
  for (const std::unique_ptr<Loop> &loop : loops) {
    for (const Loop *const known : next->loops) {
      if (!same_inputs(*this, *known, *loop)) continue;
      return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                        "ufunc '%s' has a loop for these input types already: %s, requested %s",
                        full_name.c_str(), types_of(*this, *known).c_str(),
                        types_of(*this, *loop).c_str());
    }
    next->loops.push_back(loop.get());
  }
  // Nothing throws after these reservations, so either all loops are added or none.
  loops_.reserve(loops_.size() + loops.size());
  lists_.reserve(lists_.size() + 1);
  for (std::unique_ptr<Loop> &loop : loops) loops_.push_back(std::move(loop));
  lists_.push_back(std::move(next));
  list_.store(lists_.back().get(), std::memory_order_release);
  return GUF_OK;
}

base::DeferredCallback defer_destroy(guf_destroy_fn destroy, void *user) {
  if (destroy == nullptr) return {};
  return {run_destroy, user, reinterpret_cast<uint64_t>(destroy)};
}

guf_status Ufunc::set_state_reduction(StateReduction reduction, guf_error *error) {
  const Signature *const finish = reduction.finish ? &reduction.finish->signature : nullptr;
  GUF_TRY(check_state_reduction(signature, reduction.merge->signature, finish, error));
  auto own = std::make_unique<StateReduction>(std::move(reduction));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_state_reduction_ != nullptr) {
    return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                      "ufunc '%s' is a reduction already", full_name.c_str());
  }
  own_state_reduction_ = std::move(own);
  state_reduction_.store(own_state_reduction_.get(), std::memory_order_release);
  return GUF_OK;
}

Ufunc::~Ufunc() {
  if (!core_dims_release.empty()) core_dims_release.queue();
  if (module_entry != nullptr) module_entry->forget(function_index, this);
  for (const std::unique_ptr<Loop> &loop : loops_) {
    if (loop->pending_destroy.empty()) continue;
    if ((loop->flags & GUF_LOOP_ANY_THREAD) != 0) {
      loop->pending_destroy.run_now();
    } else {
      loop->pending_destroy.queue();
    }
  }
}

void ChoiceCache::add(uint64_t key, uint64_t value) {
  // If the process forks while another thread holds the flag, the child never adds entries again.
  // The child is then slower but still correct.
  if (writing_.test_and_set(std::memory_order_acquire)) return;
  Entry *table = table_.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = new (std::nothrow) Entry[kSize];
    table_.store(table, std::memory_order_release);
  }
  uint64_t known = 0;
  if (table != nullptr && nentries_ < kMaxEntries && !find(key, &known)) {
    uint64_t i = hash(key);
    while (table[i % kSize].key.load(std::memory_order_relaxed) != 0) ++i;
    table[i % kSize].value = value;
    table[i % kSize].key.store(key, std::memory_order_release);
    ++nentries_;
  }
  writing_.clear(std::memory_order_release);
}

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

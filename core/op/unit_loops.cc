// SPDX-License-Identifier: Apache-2.0
#include "core/op/unit_loops.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

#include "core/op/ufunc.h"

namespace gufunc::op {

UnitLoops::~UnitLoops() {
  Table *const table = table_.load(std::memory_order_relaxed);
  if (table == nullptr) return;
  const uint32_t count = table->count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) delete table->loops[i].load(std::memory_order_relaxed);
  delete table;
}

bool UnitLoops::look_up(const Loop &general, const guf_dtype *types, int32_t ntypes,
                        uint32_t *out_number) const {
  const Table *const table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return false;
  const uint32_t count = table->count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Loop &loop = *table->loops[i].load(std::memory_order_acquire);
    if (loop.general != &general || !std::equal(types, types + ntypes, loop.types.begin()))
      continue;
    *out_number = i;
    return true;
  }
  return false;
}

guf_status UnitLoops::find(const Loop &general, uint32_t index, const guf_dtype *types,
                           int32_t ntypes, uint32_t *out_number, guf_error *error) {
  if (look_up(general, types, ntypes, out_number)) return GUF_OK;
  auto fresh = std::make_unique<Loop>();
  std::copy_n(types, ntypes, fresh->types.begin());
  fresh->general = &general;
  fresh->general_index = index;
  fresh->flags = general.flags;
  fresh->kind.store(general.kind.load(std::memory_order_relaxed), std::memory_order_relaxed);
  fresh->host = general.host;
  fresh->user = general.user;
  std::unique_ptr<Table> first;
  if (table_.load(std::memory_order_acquire) == nullptr) first = std::make_unique<Table>();
  const std::lock_guard<base::ForkLock> hold(lock_);
  if (look_up(general, types, ntypes, out_number)) return GUF_OK;
  Table *table = table_.load(std::memory_order_relaxed);
  if (table == nullptr) {
    table = first.release();
    table_.store(table, std::memory_order_release);
  }
  const uint32_t number = table->count.load(std::memory_order_relaxed);
  if (number == kMost) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "a ufunc keeps loops for %u sets of time units, and has met as many", kMost);
  }
  table->loops[number].store(fresh.release(), std::memory_order_release);
  table->count.store(number + 1, std::memory_order_release);
  *out_number = number;
  return GUF_OK;
}

}  // namespace gufunc::op

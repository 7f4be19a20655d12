// SPDX-License-Identifier: Apache-2.0
// Loops over times as calls meet them: with units. A ufunc's own loops name classes only.
#ifndef GUFUNC_CORE_OP_UNIT_LOOPS_H
#define GUFUNC_CORE_OP_UNIT_LOOPS_H

#include <gufunc/dtype.h>

#include <atomic>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/fork.h"

namespace gufunc::op {

struct Loop;

// Append-only and bounded; read without a lock. Everything behind resolution sees types with units,
// so that no cast between units is forgotten.
class UnitLoops {
 public:
  UnitLoops() = default;
  UnitLoops(const UnitLoops &) = delete;
  UnitLoops &operator=(const UnitLoops &) = delete;
  ~UnitLoops();

  static constexpr uint32_t kMost = 1024;

  // The number of the loop that runs `general`, number `index` of the ufunc's, on `types`; made
  // when it is not there yet.
  // Errors  GUF_E_UNSUPPORTED <= kMost sets of units were met;  GUF_E_NO_MEMORY
  guf_status find(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes,
                  uint32_t *out_number, guf_error *error);
  const Loop &at(uint32_t number) const {
    return *table_.load(std::memory_order_acquire)->loops[number].load(std::memory_order_acquire);
  }

 private:
  struct Table {
    std::atomic<uint32_t> count{0};
    std::atomic<Loop *> loops[kMost] = {};
  };
  bool look_up(const Loop &general, const guf_dtype *types, int32_t ntypes,
               uint32_t *out_number) const;

  std::atomic<Table *> table_{nullptr};
  base::ForkLock lock_;  // of writers
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UNIT_LOOPS_H

// SPDX-License-Identifier: Apache-2.0
// Loops over datetime types with units, as calls need them. The loops that a ufunc was given have
// datetime types without units.
#ifndef GUFUNC_CORE_OP_UNIT_LOOPS_H
#define GUFUNC_CORE_OP_UNIT_LOOPS_H

#include <gufunc/dtype.h>

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::op {

struct Loop;

// Append-only, and read without a lock. All steps after resolution see types with units, so that no
// cast between units is omitted.
class UnitLoops {
 public:
  UnitLoops() = default;
  UnitLoops(const UnitLoops &) = delete;
  UnitLoops &operator=(const UnitLoops &) = delete;
  ~UnitLoops();

  // The number of loops that have a number for at(). Later loops have none, and every call finds
  // them by their types.
  static constexpr uint32_t kNumbered = 1024;
  static constexpr uint32_t kNoNumber = UINT32_MAX;

  struct Found {
    const Loop *loop;
    uint32_t number;
  };

  // Finds the loop that runs `general`, the ufunc's loop number `index`, on `types`, and creates it
  // if it does not exist. Throws std::bad_alloc.
  Found find(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes);
  const Loop &at(uint32_t number) const;

 private:
  struct Node;
  struct Table;
  const Node *look_up(const Table *table, const Loop &general, const guf_dtype *types,
                      int32_t ntypes) const;

  std::atomic<Table *> table_{nullptr};
  base::ForkLock lock_;  // for writers
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UNIT_LOOPS_H

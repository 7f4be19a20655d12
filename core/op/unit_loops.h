// SPDX-License-Identifier: Apache-2.0
// Loops for datetime types with units, which are created when calls need them. The loops that are
// added to a ufunc have datetime types without units.
#ifndef GUFUNC_CORE_OP_UNIT_LOOPS_H
#define GUFUNC_CORE_OP_UNIT_LOOPS_H

#include <gufunc/dtype.h>

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::op {

struct Loop;

// An append-only set of loops that is read without a lock. All steps after resolution use types
// with units, so that no cast between units is omitted.
class UnitLoops {
 public:
  UnitLoops() = default;
  UnitLoops(const UnitLoops &) = delete;
  UnitLoops &operator=(const UnitLoops &) = delete;
  ~UnitLoops();

  // The maximal number of loops that at() can return. Later loops have no number,
  // so every call finds them by their types.
  static constexpr uint32_t kNumbered = 1024;
  static constexpr uint32_t kNoNumber = UINT32_MAX;

  struct Found {
    const Loop *loop;
    uint32_t number;
  };

  // Finds the loop that runs `general`, which is loop `index` of the ufunc, on `types`. Creates it
  // if it does not exist. Throws std::bad_alloc.
  Found find(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes);
  const Loop &at(uint32_t number) const;

 private:
  struct Node;
  struct Table;
  const Node *look_up(const Table *table, const Loop &general, const guf_dtype *types,
                      int32_t ntypes) const;

  std::atomic<Table *> table_{nullptr};
  base::ForkLock lock_;  // taken by writers only
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UNIT_LOOPS_H

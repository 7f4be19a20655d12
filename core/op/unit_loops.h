// SPDX-License-Identifier: Apache-2.0
// Loops over times as calls meet them: with units. A ufunc's own loops name classes only.
#ifndef GUFUNC_CORE_OP_UNIT_LOOPS_H
#define GUFUNC_CORE_OP_UNIT_LOOPS_H

#include <gufunc/dtype.h>

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::op {

struct Loop;

// Append-only; read without a lock. Everything behind resolution sees types with units, so that no
// cast between units is forgotten.
class UnitLoops {
 public:
  UnitLoops() = default;
  UnitLoops(const UnitLoops &) = delete;
  UnitLoops &operator=(const UnitLoops &) = delete;
  ~UnitLoops();

  // Loops that at() knows by a number. Those met later have none: each call finds them by types.
  static constexpr uint32_t kNumbered = 1024;
  static constexpr uint32_t kNoNumber = UINT32_MAX;

  struct Found {
    const Loop *loop;
    uint32_t number;
  };

  // The loop that runs `general`, number `index` of the ufunc's, on `types`; made when it is not
  // there yet.  Throws std::bad_alloc
  Found find(const Loop &general, uint32_t index, const guf_dtype *types, int32_t ntypes);
  const Loop &at(uint32_t number) const;

 private:
  struct Node;
  struct Table;
  const Node *look_up(const Table *table, const Loop &general, const guf_dtype *types,
                      int32_t ntypes) const;

  std::atomic<Table *> table_{nullptr};
  base::ForkLock lock_;  // of writers
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UNIT_LOOPS_H

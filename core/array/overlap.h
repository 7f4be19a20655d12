// SPDX-License-Identifier: Apache-2.0
// Who shares memory with whom: cheap bounds first, then an exact search within a bounded amount of
// work.
#ifndef GUFUNC_CORE_ARRAY_OVERLAP_H
#define GUFUNC_CORE_ARRAY_OVERLAP_H

#include <algorithm>

#include "core/array/array.h"

namespace gufunc::array {

inline bool meet(const ByteSpan &a, const ByteSpan &b) {
  return std::max(a.first, b.first) < std::min(a.end, b.end);
}

// True when some element of `a` shares a byte with some element of `b`. Exact while the search
// stays small; beyond that the answer is true, which costs a copy and never a wrong result.
bool shares_memory(const Layout &a, const Layout &b);

// True when two elements of one layout share a byte; answers beyond the search's bound as above.
bool overlaps_itself(const Layout &layout);

// Same dtype, address, shape and strides (those of extents 0 and 1 do not count).
bool same_view(const Layout &a, const Layout &b);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_OVERLAP_H

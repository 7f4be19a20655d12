// SPDX-License-Identifier: Apache-2.0
// Who shares memory with whom: cheap bounds first, then an exact search within a bounded amount of
// work.
#ifndef GUFUNC_CORE_ARRAY_OVERLAP_H
#define GUFUNC_CORE_ARRAY_OVERLAP_H

#include <algorithm>

#include "core/array/array.h"

namespace gufunc::array {

// The bytes from the first to one past the last that a layout touches; equal when it has no
// element.
struct ByteSpan {
  uint64_t first;
  uint64_t end;
};

// The caller has checked the layout: nothing here can overflow.
inline ByteSpan span_of(const Layout &layout) {
  uint64_t first = layout.address;
  uint64_t last = layout.address;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    if (extent == 0) return {layout.address, layout.address};
    const auto reach = static_cast<uint64_t>(layout.strides[axis] * (extent - 1));
    if (layout.strides[axis] < 0) {
      first += reach;
    } else {
      last += reach;
    }
  }
  return {first, last + dtype::itemsize(layout.dtype)};
}

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

// SPDX-License-Identifier: Apache-2.0
// Detection of shared memory: a comparison of bounds, then an exact search with a step limit.
#ifndef GUFUNC_CORE_ARRAY_OVERLAP_H
#define GUFUNC_CORE_ARRAY_OVERLAP_H

#include <algorithm>

#include "core/array/array.h"

namespace gufunc::array {

inline bool spans_overlap(const ByteSpan &a, const ByteSpan &b) {
  return std::max(a.first, b.first) < std::min(a.end, b.end);
}

// Returns whether an element of `a` shares a byte with an element of `b`. The result
// is exact unless the search reaches its step limit. In that case the result is true, which may
// cause an unneeded copy but no wrong values.
bool shares_memory(const Layout &a, const Layout &b);

// Returns whether two elements of a layout share a byte, or true if the search reaches its step
// limit.
bool overlaps_itself(const Layout &layout);

// Returns whether the dtypes, addresses, shapes and strides are equal. The
// strides of axes of extent 0 or 1 are ignored.
bool same_view(const Layout &a, const Layout &b);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_OVERLAP_H

// SPDX-License-Identifier: Apache-2.0
// Detection of shared memory: cheap bounds first, then an exact search with a bounded number of
// steps.
#ifndef GUFUNC_CORE_ARRAY_OVERLAP_H
#define GUFUNC_CORE_ARRAY_OVERLAP_H

#include <algorithm>

#include "core/array/array.h"

namespace gufunc::array {

inline bool meet(const ByteSpan &a, const ByteSpan &b) {
  return std::max(a.first, b.first) < std::min(a.end, b.end);
}

// Whether some element of `a` shares a byte with some element of `b`. The answer is exact unless
// the search exceeds its bound. It is then true, which costs a copy but is never wrong.
bool shares_memory(const Layout &a, const Layout &b);

// Whether two elements of one layout share a byte. Beyond the bound of the search the answer is
// true.
bool overlaps_itself(const Layout &layout);

// Whether the dtypes, addresses, shapes and strides are equal. The strides of axes of extent 0 or 1
// are ignored.
bool same_view(const Layout &a, const Layout &b);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_OVERLAP_H

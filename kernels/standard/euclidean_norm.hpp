// SPDX-License-Identifier: Apache-2.0
// The square root of a sum of squares.
#ifndef GUFUNC_KERNELS_STANDARD_EUCLIDEAN_NORM_HPP
#define GUFUNC_KERNELS_STANDARD_EUCLIDEAN_NORM_HPP

#include "number_parts.hpp"

namespace standard {

// Returns the norm of the vector x(0), ..., x(n - 1), whose elements have the real type R or are
// complex. If squares overflow, or if so many squares may have underflowed that the sum is
// inaccurate, the elements are first divided by the greatest of them.
template <class R, class G, class F>
GUF_DEVICE R euclidean_norm(G &g, guf::i64 n, F x) {
  typedef guf::limits<R> limits;
  const R sum = g.sum(n, [&](guf::i64 i) { return squared(x(i)); });
  if (sum <= limits::max && sum >= (R)n * (limits::min_normal / limits::epsilon)) {
    return guf::sqrt(sum);
  }
  const R greatest =
      g.template reduce<R>(n, [&](guf::i64 i) { return magnitude(x(i)); }, guf::max_op(), R(0));
  if (!(greatest > R(0) && greatest <= limits::max)) return greatest;
  return greatest *
         guf::sqrt(g.sum(n, [&](guf::i64 i) { return squared(divided(x(i), greatest)); }));
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_EUCLIDEAN_NORM_HPP

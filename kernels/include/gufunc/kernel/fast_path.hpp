// SPDX-License-Identifier: Apache-2.0
// Functions with a fast path for common arguments. In a host loop a branch per element would
// prevent vectorisation, and to compute both paths and select one result would take the time of the
// full path for every element. Host loops therefore choose the path for a block of elements. F has
// these static function templates:
//   in_fast_range(x...)  whether the fast path is valid for the arguments
//   fast_path(x...)      the fast path
//   full_path(x...)      the full path, for all arguments. Where the fast path is valid, both paths
//                        must return the same bits; otherwise a result would depend on
//                        neighbouring elements
// A device calls only `full_path`, which may branch per element.
#ifndef GUFUNC_KERNEL_FAST_PATH_HPP
#define GUFUNC_KERNEL_FAST_PATH_HPP

#include "types.hpp"

namespace guf {

// The type that select_path returns in a host loop. A function with this result type computes
// nothing itself; the host loop calls the paths of F instead.
template <class F>
struct two_paths {
  typedef F function;
};
template <class T>
struct has_two_paths {
  static constexpr bool value = false;
};
template <class F>
struct has_two_paths<two_paths<F>> {
  static constexpr bool value = true;
};

// The body of a function that has two paths: `return guf::select_path<F>(x);`. The body must
// contain nothing else. Complex numbers always take the full path.
template <class F, class T, class... More>
GUF_FN auto select_path(T x, More... more) {
#if defined(GUF_HOST) && !defined(GUF_EMULATE)
  if constexpr (!is_complex<T>::value) {
    (void)x, ((void)more, ...);
    return two_paths<F>{};
  } else {
    return F::full_path(x, more...);
  }
#else
  return F::full_path(x, more...);
#endif
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_FAST_PATH_HPP

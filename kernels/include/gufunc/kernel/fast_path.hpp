// SPDX-License-Identifier: Apache-2.0
// Functions with a short path for usual arguments. In a host loop a branch per element would
// prevent vectorisation, and computing both paths and selecting would cost every element the long
// path. Host loops therefore choose the path for a block of elements. F has these static templates
// over the arguments:
//   usual(x...)    whether the short path is valid for the arguments
//   usually(x...)  the short path
//   always(x...)   the long path, for all arguments. Where the short path is valid, both paths must
//                  return the same bits; otherwise a result would depend on neighbouring elements
// A device calls only `always`, which may branch per element.
#ifndef GUFUNC_KERNEL_FAST_PATH_HPP
#define GUFUNC_KERNEL_FAST_PATH_HPP

#include "types.hpp"

namespace guf {

// The type that by_range returns in a host loop. A function with this result type computes nothing
// itself; the host loop calls the paths of F instead.
template <class F>
struct ranged {
  typedef F function;
};
template <class T>
struct ranged_of {
  static constexpr bool value = false;
};
template <class F>
struct ranged_of<ranged<F>> {
  static constexpr bool value = true;
};

// The body of a function that has two paths: `return guf::by_range<F>(x);`. The body must contain
// nothing else. Complex numbers always take the long path.
template <class F, class T, class... More>
GUF_FN auto by_range(T x, More... more) {
#if defined(GUF_HOST) && !defined(GUF_EMULATE)
  if constexpr (!is_complex<T>::value) {
    (void)x, ((void)more, ...);
    return ranged<F>{};
  } else {
    return F::always(x, more...);
  }
#else
  return F::always(x, more...);
#endif
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_FAST_PATH_HPP

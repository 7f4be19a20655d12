// SPDX-License-Identifier: Apache-2.0
// Functions whose usual arguments need less work than the others. A branch per element would keep a
// host loop from vectorising, and to compute both ways and select costs every element the longer
// one; so host loops ask a block at a time. F has, as static templates over the arguments,
//   usual(x...)    whether the short way serves them
//   usually(x...)  the short way
//   always(x...)   for all arguments; the bits of `usually` wherever that serves, so that no result
//                  depends on its neighbours
// On a device only `always` is used, which the hardware may branch in.
#ifndef GUFUNC_KERNEL_BY_RANGE_HPP
#define GUFUNC_KERNEL_BY_RANGE_HPP

#include "types.hpp"

namespace guf {

// What a function that is nothing but by_range returns to a host loop: the loop applies F.
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

// The whole body of a kernel's function: `return guf::by_range<F>(x);`. Complex numbers have one
// way.
template <class F, class T, class... More>
GUF_FN auto by_range(T x, More... more) {
#if defined(GUF_HOST) && !defined(GUF_ITEMS)
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

#endif  // GUFUNC_KERNEL_BY_RANGE_HPP

// SPDX-License-Identifier: Apache-2.0
// Lists of types and of indices, without <utility>.
#ifndef GUFUNC_KERNEL_SEQUENCE_HPP
#define GUFUNC_KERNEL_SEQUENCE_HPP

#include "config.hpp"

namespace guf {

template <class... T>
struct types {
  static constexpr int count = (int)sizeof...(T);
};

template <int... I>
struct indices {};
template <int N, int... I>
struct make_indices_of : make_indices_of<N - 1, N - 1, I...> {};
template <int... I>
struct make_indices_of<0, I...> {
  typedef indices<I...> type;
};
template <int N>
using make_indices = typename make_indices_of<N>::type;

}  // namespace guf

#endif  // GUFUNC_KERNEL_SEQUENCE_HPP

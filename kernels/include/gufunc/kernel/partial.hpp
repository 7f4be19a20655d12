// SPDX-License-Identifier: Apache-2.0
#ifndef GUFUNC_KERNEL_PARTIAL_HPP
#define GUFUNC_KERNEL_PARTIAL_HPP

#include "types.hpp"

namespace guf {

// The type of partial results: storage types are widened, so that a sum is rounded only once.
template <class T>
struct partial_of {
  typedef typename conditional<is_stored_float<T>::value, f32, T>::type type;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_PARTIAL_HPP

// SPDX-License-Identifier: Apache-2.0
#ifndef GUFUNC_KERNEL_PARTIAL_HPP
#define GUFUNC_KERNEL_PARTIAL_HPP

#include "types.hpp"

namespace guf {

// The type of partial results: storage types are widened, so that a sum is rounded only once.
template <class T>
struct partial_of {
  typedef T type;
};
template <>
struct partial_of<f16> {
  typedef f32 type;
};
template <>
struct partial_of<bf16> {
  typedef f32 type;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_PARTIAL_HPP

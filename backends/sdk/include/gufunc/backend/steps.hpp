// SPDX-License-Identifier: Apache-2.0
// Arithmetic for plugins with the steps between elements. A step may have any value of an int64_t.
#ifndef GUFUNC_BACKEND_STEPS_HPP
#define GUFUNC_BACKEND_STEPS_HPP

#include <cstdint>

namespace gufunc::sdk {

// Returns |step|. INT64_MIN is valid, because the step of a dimension of one element may have any
// value.
constexpr uint64_t abs_step(int64_t step) {
  return step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
}

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_STEPS_HPP

// SPDX-License-Identifier: Apache-2.0
// The mean of the four neighbours of an element, over 3 x 3 windows. The operand of a call is the
// result of guf_array_sliding_window with windows (3, 3). The sum is computed in the dtype of the
// loop, from left to right.
#include <gufunc/kernel.hpp>

template <class Window, class Out>
GUF_DEVICE void neighbour_mean(Window w, Out out) {
  typedef typename Out::type T;
  out() = T(0.25) * (w(0, 1) + w(1, 0) + w(1, 2) + w(2, 1));
}
GUF_GUFUNC(neighbour_mean, "(3,3)->()", "f->f d->d", "name=stencil");

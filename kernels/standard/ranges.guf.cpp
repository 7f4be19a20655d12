// SPDX-License-Identifier: Apache-2.0
// linspace and arange, with NumPy's formulas. f16 and bf16 are computed in f32 and rounded once.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"
#include "time_arithmetic.hpp"

namespace standard {

// Element i of the sequence start, start + step, start + 2 * step, ... Integers wrap.
template <class T>
GUF_DEVICE T element_of(guf::i64 i, T start, T step) {
  if constexpr (is_integer<T>::value) {
    typedef wrapping_t<T> W;
    return (T)((W)start + (W)i * (W)step);
  } else {
    return start + (T)i * step;
  }
}
template <class T>
GUF_DEVICE guf::complex<T> element_of(guf::i64 i, guf::complex<T> start, guf::complex<T> step) {
  return guf::complex<T>(element_of(i, start.re, step.re), element_of(i, start.im, step.im));
}
GUF_DEVICE guf::timedelta multiple(guf::timedelta step, guf::i64 i) {
  return guf::timedelta{guf::time::wrapping_mul(step.value, i)};
}
GUF_DEVICE guf::timedelta element_of(guf::i64 i, guf::timedelta start, guf::timedelta step) {
  if (guf::is_nat(step)) return step;
  return add(start, multiple(step, i));
}
GUF_DEVICE guf::datetime element_of(guf::i64 i, guf::datetime start, guf::timedelta step) {
  if (guf::is_nat(step)) return add(start, step);
  return add(start, multiple(step, i));
}

// The distance of the first two elements of arange. In floating point it is the rounded second
// element minus the first one.
template <class T, class Step>
GUF_DEVICE Step first_distance(T start, Step step) {
  if constexpr (guf::is_float<guf::real_t<Step>>::value) {
    return (start + step) - start;
  } else {
    return step;
  }
}

template <class G, class Start, class Step, class Y>
GUF_DEVICE void arange(G g, Start start, Step step, Y y) {
  const Step distance = first_distance(start, step);
  for (guf::i64 i = g.rank(); i < y.extent(0); i += g.size()) y[i] = element_of(i, start, distance);
}

// The step of `parts` equal parts of a distance. NumPy divides a complex number by a real one as a
// multiplication by the rounded reciprocal.
template <class T>
GUF_DEVICE T part_of(T distance, T parts) {
  return distance / parts;
}
template <class T>
GUF_DEVICE guf::complex<T> part_of(guf::complex<T> distance, guf::complex<T> parts) {
  const T inverse = T(1) / parts.re;
  return guf::complex<T>(distance.re * inverse, distance.im * inverse);
}

// If the step is 0 although start and stop differ, which happens if a division underflows, the
// positions are divided instead.
template <class G, class T, class Y>
GUF_DEVICE void linspace(G g, T start, T stop, Y y) {
  const guf::i64 n = y.extent(0);
  const T distance = stop - start, parts = T((guf::real_t<T>)(n - 1));
  T step = distance;
  if (n > 1) step = part_of(distance, parts);
  const bool underflows = step == T(0);
  for (guf::i64 i = g.rank(); i < n; i += g.size()) {
    if (i == n - 1 && n > 1) {
      y[i] = stop;
    } else if (underflows && n > 1) {
      y[i] = start + part_of(T((guf::real_t<T>)i), parts) * distance;
    } else {
      y[i] = element_of(i, start, step);
    }
  }
}

}  // namespace standard

GUF_GUFUNC(standard::linspace, "(),()->(n)", GUF_LOOPS_linspace, "group");
GUF_GUFUNC(standard::arange, "(),()->(n)", GUF_LOOPS_arange, "group");

// SPDX-License-Identifier: Apache-2.0
// Defines functions whose signatures imply more work than the functions perform. The placement rule
// of device auto treats calls of these functions as large, although the calls finish immediately.
#include <gufunc/kernel.hpp>

// The placement rule counts m times n steps of work for each item.
template <class X, class Y, class Out>
GUF_DEVICE void ends(X x, Y y, Out out) {
  out() = x[0] + x[0] + y[y.extent(0) - 1];
}
GUF_GUFUNC(ends, "(m),(n)->()", "ff->f dd->d");

// A rule computes p from n, so p adds no work.
template <class X, class Y, class Out>
GUF_DEVICE void first_of(X x, Y y, Out out) {
  for (guf::i64 i = 0; i < out.extent(0); ++i) out[i] = x[0] + y[0];
}
GUF_GUFUNC(first_of, "(m),(n)->(p)", "dd->d", "rule=p=n-1");

// Has no output. Updates y in place.
template <class X, class Y>
GUF_DEVICE void shift(X x, Y y) {
  y[0] += x[x.extent(0) - 1];
}
GUF_GUFUNC(shift, "(m),(n)", "dd", "roles=in,inout");

GUF_DEVICE guf::f64 thrice(guf::f64 x) {
  return x + x + x;
}
GUF_UFUNC(thrice, "d->d");

// Computes the user-defined accumulator of one base block, which is a range of consecutive
// elements.
template <class X, class Low, class High>
GUF_DEVICE void range_of(X x, Low low, High high) {
  guf::f64 least = x[0], most = x[0];
  for (guf::i64 i = 1; i < x.extent(0); ++i) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  low() = least;
  high() = most;
}
GUF_DEVICE void range_merge(guf::f64 low, guf::f64 high, guf::f64 other_low, guf::f64 other_high,
                            guf::out<guf::f64> least, guf::out<guf::f64> most) {
  least = other_low < low ? other_low : low;
  most = other_high > high ? other_high : high;
}
GUF_GUFUNC(range_of, "(n)->(),()", "d->dd", "merge=range_merge");
GUF_UFUNC(range_merge, "dddd->dd");

// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions, their inverses, and the conversions between radians and degrees.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE auto sin(T x) {
  return guf::select_path<guf::ranges::sin>(x);
}
template <class T>
GUF_DEVICE auto cos(T x) {
  return guf::select_path<guf::ranges::cos>(x);
}

template <class T>
GUF_DEVICE auto tan(T x) {
  return guf::select_path<guf::ranges::tan>(x);
}
template <class T>
GUF_DEVICE T arcsin(T x) {
  return guf::asin(x);
}
template <class T>
GUF_DEVICE T arccos(T x) {
  return guf::acos(x);
}
template <class T>
GUF_DEVICE T arctan(T x) {
  return guf::atan(x);
}

template <class T>
GUF_DEVICE T degrees(T x) {
  return guf::degrees(x);
}
template <class T>
GUF_DEVICE T rad2deg(T x) {
  return guf::degrees(x);
}
template <class T>
GUF_DEVICE T radians(T x) {
  return guf::radians(x);
}
template <class T>
GUF_DEVICE T deg2rad(T x) {
  return guf::radians(x);
}

}  // namespace standard

GUF_UFUNC(standard::sin, GUF_LOOPS_sin);
GUF_UFUNC(standard::cos, GUF_LOOPS_cos);
GUF_UFUNC(standard::degrees, GUF_LOOPS_degrees);
GUF_UFUNC(standard::rad2deg, GUF_LOOPS_rad2deg);
GUF_UFUNC(standard::radians, GUF_LOOPS_radians);
GUF_UFUNC(standard::deg2rad, GUF_LOOPS_deg2rad);
GUF_UFUNC(standard::tan, GUF_LOOPS_tan);
GUF_UFUNC(standard::arcsin, GUF_LOOPS_arcsin);
GUF_UFUNC(standard::arccos, GUF_LOOPS_arccos);
GUF_UFUNC(standard::arctan, GUF_LOOPS_arctan);

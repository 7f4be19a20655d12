// SPDX-License-Identifier: Apache-2.0
// The six comparisons and isnat. A comparison of i64 with u64
// compares the numeric values, not the bits.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"

namespace standard {

GUF_DEVICE bool is_equal_mixed(guf::i64 x, guf::u64 y) {
  return x >= 0 && (guf::u64)x == y;
}
GUF_DEVICE bool is_less_mixed(guf::i64 x, guf::u64 y) {
  return x < 0 || (guf::u64)x < y;
}
GUF_DEVICE bool is_less_mixed(guf::u64 x, guf::i64 y) {
  return y > 0 && x < (guf::u64)y;
}

template <class T>
GUF_DEVICE bool equal(T x, T y) {
  return x == y;
}
GUF_DEVICE bool equal(guf::i64 x, guf::u64 y) {
  return is_equal_mixed(x, y);
}
GUF_DEVICE bool equal(guf::u64 x, guf::i64 y) {
  return is_equal_mixed(y, x);
}

template <class T>
GUF_DEVICE bool not_equal(T x, T y) {
  return x != y;
}
GUF_DEVICE bool not_equal(guf::i64 x, guf::u64 y) {
  return !is_equal_mixed(x, y);
}
GUF_DEVICE bool not_equal(guf::u64 x, guf::i64 y) {
  return !is_equal_mixed(y, x);
}

template <class T>
GUF_DEVICE bool less(T x, T y) {
  return is_less(x, y);
}
GUF_DEVICE bool less(guf::i64 x, guf::u64 y) {
  return is_less_mixed(x, y);
}
GUF_DEVICE bool less(guf::u64 x, guf::i64 y) {
  return is_less_mixed(x, y);
}

template <class T>
GUF_DEVICE bool less_equal(T x, T y) {
  return is_less_equal(x, y);
}
GUF_DEVICE bool less_equal(guf::i64 x, guf::u64 y) {
  return !is_less_mixed(y, x);
}
GUF_DEVICE bool less_equal(guf::u64 x, guf::i64 y) {
  return !is_less_mixed(y, x);
}

template <class T>
GUF_DEVICE bool greater(T x, T y) {
  return is_less(y, x);
}
GUF_DEVICE bool greater(guf::i64 x, guf::u64 y) {
  return is_less_mixed(y, x);
}
GUF_DEVICE bool greater(guf::u64 x, guf::i64 y) {
  return is_less_mixed(y, x);
}

template <class T>
GUF_DEVICE bool greater_equal(T x, T y) {
  return is_less_equal(y, x);
}
GUF_DEVICE bool greater_equal(guf::i64 x, guf::u64 y) {
  return !is_less_mixed(x, y);
}
GUF_DEVICE bool greater_equal(guf::u64 x, guf::i64 y) {
  return !is_less_mixed(x, y);
}

template <class T>
GUF_DEVICE bool isnat(T x) {
  return guf::is_nat(x);
}

}  // namespace standard

GUF_UFUNC(standard::isnat, GUF_LOOPS_isnat);
GUF_UFUNC(standard::equal, GUF_LOOPS_equal, "commutative");
GUF_UFUNC(standard::not_equal, GUF_LOOPS_not_equal, "commutative");
GUF_UFUNC(standard::less, GUF_LOOPS_less);
GUF_UFUNC(standard::less_equal, GUF_LOOPS_less_equal);
GUF_UFUNC(standard::greater, GUF_LOOPS_greater);
GUF_UFUNC(standard::greater_equal, GUF_LOOPS_greater_equal);

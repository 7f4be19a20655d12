// SPDX-License-Identifier: Apache-2.0
// argmax, argmin and ptp: reductions with an accumulator of two values. As in NumPy, the first NaN
// or not-a-time precedes all other elements, for the greatest and for the least element.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"
#include "integer_wrap.hpp"
#include "ordered_bits.hpp"
#include "time_arithmetic.hpp"

namespace standard {

// ---- The order of elements. Elements that are not complex have a key, an integer that is equal
// for equal elements.
//
// PERF  Compilers vectorise the maximum of integers, but not a chain of comparisons that treats NaN
//       separately.

// `shift` makes the key of not-a-time the last or the first of all keys.
template <class T>
GUF_DEVICE auto key_of(T x, bool nan_is_last, guf::i64 shift) {
  if constexpr (guf::is_float<T>::value) {
    const auto ordered = ordered_bits(x + T(0));  // 0 and -0 have the same key
    typedef guf::limits<decltype(ordered_bits(x))> limits;
    return x != x ? (nan_is_last ? limits::max : limits::lowest) : ordered;
  } else if constexpr (guf::is_time<T>::value) {
    return guf::time::wrapping_sub(x.value, shift);
  } else {
    return x;
  }
}
template <class T, class Key>
GUF_DEVICE T element_of(Key key, guf::i64 shift) {
  if constexpr (guf::is_float<T>::value) {
    return from_ordered_bits(key);
  } else if constexpr (guf::is_time<T>::value) {
    return T{guf::time::wrapping_add(key, shift)};
  } else {
    return key;
  }
}

struct Greatest {
  template <class T>
  static GUF_DEVICE auto key(T x) {
    return key_of(x, true, 1);
  }
  template <class T, class Key>
  static GUF_DEVICE T element(Key key) {
    return element_of<T>(key, 1);
  }
  template <class Key>
  static GUF_DEVICE bool is_better(Key a, Key b) {
    return b < a;
  }
  template <class T>
  static GUF_DEVICE bool is_better(guf::complex<T> a, guf::complex<T> b) {
    return !is_less_equal(a, b) && !has_nan(b);
  }
};

struct Least {
  template <class T>
  static GUF_DEVICE auto key(T x) {
    return key_of(x, false, 0);
  }
  template <class T, class Key>
  static GUF_DEVICE T element(Key key) {
    return element_of<T>(key, 0);
  }
  template <class Key>
  static GUF_DEVICE bool is_better(Key a, Key b) {
    return a < b;
  }
  template <class T>
  static GUF_DEVICE bool is_better(guf::complex<T> a, guf::complex<T> b) {
    return !is_less_equal(b, a) && !has_nan(b);
  }
};

// Returns the best key of x[start], ..., x[start + n - 1].
//
// PERF  The loop also visits the first element, because a count of 127 would leave a remainder of
//       31 elements after full vectors.
template <class Order, class X>
GUF_DEVICE auto best_key(X x, guf::i64 start, guf::i64 n) {
  auto best = Order::key(guf::load(x[start]));
  for (guf::i64 i = 0; i < n; ++i) {
    const auto key = Order::key(guf::load(x[start + i]));
    best = Order::is_better(key, best) ? key : best;
  }
  return best;
}

// ---- argmax and argmin. The index of an element is its number in C order over the reduced axes.

constexpr int kBlock = 128;

// The unsigned type of a place in a block. It has the size of the keys, so that a vector holds the
// same number of keys and of places.
template <int Size>
struct place {
  typedef guf::u64 type;
};
template <>
struct place<1> {
  typedef guf::u8 type;
};
template <>
struct place<2> {
  typedef guf::u16 type;
};
template <>
struct place<4> {
  typedef guf::u32 type;
};

// Returns the first i for which the key of x[start + i] is `key`. n is at most kBlock.
template <class Order, class Key, class X>
GUF_DEVICE guf::i64 first_place(X x, guf::i64 start, guf::i64 n, Key key) {
  typedef typename place<(int)sizeof(Key)>::type place_type;
  place_type first = kBlock;
  for (place_type i = 0; i < (place_type)n; ++i) {
    const bool same = Order::key(guf::load(x[start + i])) == key;
    const place_type at = same ? i : (place_type)kBlock;
    first = at < first ? at : first;
  }
  return first;
}

template <class Order, class X>
GUF_DEVICE guf::i64 index_of_best(X x) {
  const guf::i64 count = x.extent(0);
  guf::i64 found = 0;
  if constexpr (guf::is_complex<decltype(guf::load(x[0]))>::value) {
    for (guf::i64 i = 1; i < count; ++i) {
      if (Order::is_better(guf::load(x[i]), guf::load(x[found]))) found = i;
    }
  } else {
    auto best = Order::key(guf::load(x[0]));
    for (guf::i64 start = 0; start < count; start += kBlock) {
      const guf::i64 n = count - start < kBlock ? count - start : kBlock;
      const auto key = best_key<Order>(x, start, n);
      if (start != 0 && !Order::is_better(key, best)) continue;
      best = key;
      found = start + first_place<Order>(x, start, n, key);
    }
  }
  return found;
}

template <class Order, class X, class V, class I>
GUF_DEVICE void find_best(X x, guf::i64 first, V value, I index) {
  const guf::i64 found = index_of_best<Order>(x);
  value() = guf::load(x[found]);
  index() = first + found;
}

template <class Order, class T>
GUF_DEVICE bool replaces(T right, T left) {
  if constexpr (guf::is_complex<T>::value) {
    return Order::is_better(right, left);
  } else {
    return Order::is_better(Order::key(right), Order::key(left));
  }
}

template <class Order, class T>
GUF_DEVICE void merge_best(T left, guf::i64 i, T right, guf::i64 j, guf::out<T> value,
                           guf::out<guf::i64> index) {
  const bool second = replaces<Order>(right, left);
  value = choose(second, right, left);
  index = second ? j : i;
}

template <class T>
GUF_DEVICE guf::i64 extreme_index(T, guf::i64 index) {
  return index;
}

// ---- ptp: the accumulator is the least and the greatest element.

template <class Order, class X>
GUF_DEVICE auto best_element(X x) {
  typedef decltype(guf::load(x[0])) T;
  if constexpr (guf::is_complex<T>::value) {
    return guf::load(x[index_of_best<Order>(x)]);
  } else {
    return Order::template element<T>(best_key<Order>(x, 0, x.extent(0)));
  }
}

template <class X, class L, class G>
GUF_DEVICE void ptp(X x, L least, G greatest) {
  least() = best_element<Least>(x);
  greatest() = best_element<Greatest>(x);
}

template <class T>
GUF_DEVICE void ptp_merge(T least, T greatest, T other_least, T other_greatest,
                          guf::out<T> out_least, guf::out<T> out_greatest) {
  out_least = choose(replaces<Least>(other_least, least), other_least, least);
  out_greatest = choose(replaces<Greatest>(other_greatest, greatest), other_greatest, greatest);
}

template <class T>
GUF_DEVICE T ptp_finish(T least, T greatest) {
  return (T)((wrapping_t<T>)greatest - (wrapping_t<T>)least);
}
GUF_DEVICE guf::timedelta ptp_finish(guf::datetime least, guf::datetime greatest) {
  return subtract(greatest, least);
}
GUF_DEVICE guf::timedelta ptp_finish(guf::timedelta least, guf::timedelta greatest) {
  return subtract(greatest, least);
}

}  // namespace standard

GUF_GUFUNC(standard::find_best<standard::Greatest>, "(n),()->(),()", GUF_LOOPS_argmax,
           "name=argmax", "merge=argmax_merge", "finish=extreme_index");
GUF_UFUNC(standard::merge_best<standard::Greatest>, GUF_LOOPS_argmax_merge, "name=argmax_merge");

GUF_GUFUNC(standard::find_best<standard::Least>, "(n),()->(),()", GUF_LOOPS_argmin, "name=argmin",
           "merge=argmin_merge", "finish=extreme_index");
GUF_UFUNC(standard::merge_best<standard::Least>, GUF_LOOPS_argmin_merge, "name=argmin_merge");
GUF_UFUNC(standard::extreme_index, GUF_LOOPS_extreme_index);

GUF_GUFUNC(standard::ptp, "(n)->(),()", GUF_LOOPS_ptp, "merge=ptp_merge", "finish=ptp_finish");
GUF_UFUNC(standard::ptp_merge, GUF_LOOPS_ptp_merge);
GUF_UFUNC(standard::ptp_finish, GUF_LOOPS_ptp_finish);

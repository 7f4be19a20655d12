// SPDX-License-Identifier: Apache-2.0
// mean, var, std, nansum, nanmean, nanvar, nanstd and count_nonzero: reductions whose accumulators
// are sums. The elements of a base block are summed in their own type (f16 and bf16 in f32), in the
// order of the dialect's reduction tree (gufunc/kernel/reduce_tree.hpp). The accumulators of
// floating-point types have double precision: merging them adds hardly any error, and all types
// share merge and finish. Sums of integers are exact or wrap, and sums of timedelta64 are integers.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"
#include "integer_wrap.hpp"
#include "number_parts.hpp"
#include "time_arithmetic.hpp"

namespace standard {

constexpr int kBlock = 128;

// The type of an element in the accumulators.
template <class T>
struct wide {
  typedef guf::f64 type;
};
template <class T>
struct wide<guf::complex<T>> {
  typedef guf::c128 type;
};
template <>
struct wide<guf::timedelta> {
  typedef guf::timedelta type;
};
template <>
struct wide<bool> {
  typedef guf::u64 type;
};
template <>
struct wide<guf::i64> {
  typedef guf::u64 type;  // wraps
};
template <>
struct wide<guf::u64> {
  typedef guf::u64 type;
};
template <class T>
using wide_t = typename wide<T>::type;

template <class T>
GUF_DEVICE T scaled(T x, T factor) {
  return x * factor;
}
template <class T>
GUF_DEVICE guf::complex<T> scaled(guf::complex<T> z, T factor) {
  return guf::complex<T>(z.re * factor, z.im * factor);
}
template <class T>
GUF_DEVICE bool is_nan(T x) {
  if constexpr (guf::is_float<guf::real_t<T>>::value) {
    return has_nan(x);
  } else {
    return false;
  }
}

// ---- The elements of a base block. An element that the mask excludes, or with SkipNan a NaN, does
// not take part: its place in the sum is empty.

template <class V>
struct is_packed {
  static constexpr bool value = false;
};
template <class T, int N>
struct is_packed<guf::view<T, N, true>> {
  static constexpr bool value = true;
};

template <bool Masked, bool SkipNan, class X, class M>
struct Block {
  typedef guf::value_t<typename X::type> T;
  static constexpr bool takes_all = !Masked && !SkipNan;
  X x;
  M mask;
  guf::i64 start, size;

  // Calls visit(j, taken, x[i]) for each element i, where j is the constant i mod 8.
  //
  // PERF  Groups of eight contiguous elements become one vector, in which visit keeps eight sums.
  //       All other loops are scalar, which takes a fifth of the code.
  template <class F>
  GUF_DEVICE void for_each(F visit) const {
    guf::i64 i = 0;
    if constexpr (!Masked && is_packed<X>::value) {
      GUF_SCALAR_LOOP
      for (; i + 8 <= size; i += 8) {
        GUF_UNROLL
        for (int j = 0; j < 8; ++j) visit_one(j, i + j, visit);
      }
    }
    GUF_SCALAR_LOOP
    for (; i < size; i += 8) {
      GUF_UNROLL
      for (int j = 0; j < 8; ++j) {
        if (i + j < size) visit_one(j, i + j, visit);
      }
    }
  }

 private:
  template <class F>
  GUF_DEVICE void visit_one(int j, guf::i64 i, F &visit) const {
    const T value = guf::load(x[start + i]);
    bool taken = true;
    if constexpr (Masked) taken = mask[start + i];
    if constexpr (SkipNan) taken = taken & !is_nan(value);
    visit(j, taken, value);
  }
};

// Eight sums, and their own sum.
template <class V>
struct Sums {
  V part[8];
  GUF_DEVICE Sums() {
    GUF_UNROLL
    for (int j = 0; j < 8; ++j) part[j] = V(0);
  }
  GUF_DEVICE void add(int j, bool taken, V value) {
    part[j] = part[j] + choose(taken, value, V(0));
  }
  GUF_DEVICE V total() const {
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
  }
};

template <class M>
GUF_DEVICE bool all_true(M mask, guf::i64 start, guf::i64 size) {
  bool all = true;
  for (guf::i64 i = 0; i < size; ++i) all &= mask[start + i];
  return all;
}

// Calls visit(block) for each base block. In a reduction, there is one base block.
//
// PERF  A mask that is true for all elements, which also represents the absence of a mask, is
//       tested before the elements are read, so that they are not compared with it one by one.
template <bool SkipNan, class X, class M, class F>
GUF_DEVICE void for_each_block(X x, M mask, F visit) {
  const guf::i64 n = x.extent(0);
  for (guf::i64 start = 0; start < n; start += kBlock) {
    const guf::i64 size = n - start < kBlock ? n - start : kBlock;
    if (is_packed<X>::value && all_true(mask, start, size)) {
      visit(Block<false, SkipNan, X, M>{x, mask, start, size});
    } else {
      visit(Block<true, SkipNan, X, M>{x, mask, start, size});
    }
  }
}

// ---- mean, nanmean and nansum. The sum of -0 is 0, as in NumPy, because a sum begins with 0.

// Adds the elements to `total`, and returns their number.
template <bool SkipNan, class X, class M>
GUF_DEVICE guf::i64 add_elements(X x, M mask, wide_t<guf::value_t<typename X::type>> &total) {
  typedef wide_t<guf::value_t<typename X::type>> V;
  guf::i64 count = 0;
  for_each_block<SkipNan>(x, mask, [&](auto block) {
    typedef decltype(block) B;
    typedef typename B::T T;
    if constexpr (guf::is_time<T>::value) {
      block.for_each([&](int, bool taken, T value) {
        if (taken) total = add(total, value);
        count += taken ? 1 : 0;
      });
    } else {
      typedef wrapping_t<T> S;
      Sums<S> sums;
      Sums<guf::real_t<S>> ones;
      block.for_each([&](int j, bool taken, T value) {
        sums.add(j, taken, (S)value);
        if constexpr (!B::takes_all) ones.add(j, taken, guf::real_t<S>(1));
      });
      total = total + guf::cast<V>(sums.total());
      count += B::takes_all ? block.size : (guf::i64)ones.total();
    }
  });
  return count;
}

template <bool SkipNan, class X, class M, class N, class S>
GUF_DEVICE void sum_and_count(X x, M mask, N count, S sum) {
  wide_t<guf::value_t<typename X::type>> total{};
  count() = add_elements<SkipNan>(x, mask, total);
  sum() = total;
}

template <class X, class M, class S>
GUF_DEVICE void nansum(X x, M mask, S sum) {
  wide_t<guf::value_t<typename X::type>> total{};
  add_elements<true>(x, mask, total);
  sum() = (typename S::type)total;
}

template <class T>
GUF_DEVICE void mean_merge(guf::i64 n, T sum, guf::i64 m, T other, guf::out<guf::i64> count,
                           guf::out<T> total) {
  count = n + m;
  if constexpr (guf::is_time<T>::value) {
    total = add(sum, other);
  } else {
    total = sum + other;
  }
}

template <class T>
GUF_DEVICE T mean_finish(guf::i64 n, T sum) {
  if constexpr (guf::is_time<T>::value) {
    return divide(sum, n);
  } else {
    return divided(sum, (guf::f64)n);
  }
}

// ---- var, std, nanvar and nanstd. The accumulator has the number of elements, their mean and the
// sum of the squares of their deviations from the mean. In a base block, the deviations are those
// from an approximate mean, and their own sum corrects the results. Two accumulators are combined
// as in Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979. A mean is the sum of a centre and a shift, because the difference of two means
// that are rounded to f64 would have too few exact digits if the mean is much larger than the
// deviations.

struct Mean {
  guf::f64 centre, shift;
};

// The accumulator. Only complex elements have a second mean, that of the imaginary parts.
template <bool Complex>
struct Moments {
  guf::i64 count;
  Mean re, im;
  guf::f64 squares;
};

GUF_DEVICE guf::f64 distance(Mean a, Mean b) {
  return (b.centre - a.centre) + (b.shift - a.shift);
}
GUF_DEVICE Mean moved(Mean from, guf::f64 by, Mean other, bool takes_other) {
  return Mean{takes_other ? other.centre : from.centre,
              takes_other ? other.shift : from.shift + by};
}

template <bool Complex>
GUF_DEVICE Moments<Complex> combined(Moments<Complex> a, Moments<Complex> b) {
  const guf::i64 count = a.count + b.count;
  const bool only_a = b.count == 0, only_b = a.count == 0;
  const guf::f64 share = only_a ? 0.0 : (guf::f64)b.count / (guf::f64)count;
  const guf::f64 re = only_a ? 0.0 : distance(a.re, b.re);
  guf::f64 im = 0, squared_distance = re * re;
  if constexpr (Complex) {
    im = only_a ? 0.0 : distance(a.im, b.im);
    squared_distance += im * im;
  }
  Moments<Complex> all{count, moved(a.re, re * share, b.re, only_b), a.im,
                       a.squares + b.squares + squared_distance * (share * (guf::f64)a.count)};
  if constexpr (Complex) all.im = moved(a.im, im * share, b.im, only_b);
  if (only_a) all.squares = a.squares;
  if (only_b) all.squares = b.squares;
  return all;
}

template <class B>
GUF_DEVICE auto moments_of(const B &block) {
  typedef typename B::T T;
  typedef guf::real_t<T> R;
  constexpr bool is_complex = !guf::is_same<T, R>::value;
  Sums<T> parts;  // the sum of the elements could overflow, but not the sum of parts of them
  Sums<R> ones;
  block.for_each([&](int j, bool taken, T value) {
    parts.add(j, taken, scaled(value, R(1) / R(kBlock)));
    if constexpr (!B::takes_all) ones.add(j, taken, R(1));
  });
  const guf::i64 count = B::takes_all ? block.size : (guf::i64)ones.total();
  const guf::i64 divisor = count == 0 ? 1 : count;
  const T centre = scaled(parts.total(), R(kBlock) / (R)divisor);
  Sums<T> deviations;
  Sums<R> squares;
  block.for_each([&](int j, bool taken, T value) {
    deviations.add(j, taken, value - centre);
    squares.add(j, taken, squared(value - centre));
  });
  const T sum = deviations.total();
  Moments<is_complex> all{count, Mean{0, 0}, Mean{0, 0}, (guf::f64)squares.total()};
  if constexpr (is_complex) {
    all.re = Mean{(guf::f64)centre.re, (guf::f64)sum.re / (guf::f64)divisor};
    all.im = Mean{(guf::f64)centre.im, (guf::f64)sum.im / (guf::f64)divisor};
    all.squares -= (squared(all.re.shift) + squared(all.im.shift)) * (guf::f64)count;
  } else {
    all.re = Mean{(guf::f64)centre, (guf::f64)sum / (guf::f64)divisor};
    all.squares -= squared(all.re.shift) * (guf::f64)count;
  }
  if (all.squares < 0) all.squares = 0;
  return all;
}

// The accumulator of real elements has the types (q, D, d), and that of complex elements (D, D, D),
// where the third value is the count and the sum of the squares.

GUF_DEVICE Mean mean_in(guf::c128 value) {
  return Mean{value.re, value.im};
}
GUF_DEVICE guf::c128 to_value(Mean mean) {
  return guf::c128(mean.centre, mean.shift);
}
GUF_DEVICE Moments<false> moments_in(guf::i64 count, guf::c128 mean, guf::f64 squares) {
  return Moments<false>{count, mean_in(mean), Mean{0, 0}, squares};
}
GUF_DEVICE Moments<true> moments_in(guf::c128 re, guf::c128 im, guf::c128 rest) {
  return Moments<true>{(guf::i64)rest.re, mean_in(re), mean_in(im), rest.im};
}

template <bool SkipNan, class X, class M, class A, class B, class C>
GUF_DEVICE void moments(X x, M mask, A first, B second, C third) {
  constexpr bool is_complex = guf::is_same<typename A::type, guf::c128>::value;
  Moments<is_complex> all{0, Mean{0, 0}, Mean{0, 0}, 0};
  for_each_block<SkipNan>(x, mask, [&](auto block) {
    const auto some = moments_of(block);
    if (block.start == 0) {
      all = some;
    } else {
      all = combined(all, some);
    }
  });
  if constexpr (is_complex) {
    first() = to_value(all.re);
    second() = to_value(all.im);
    third() = guf::c128((guf::f64)all.count, all.squares);
  } else {
    first() = all.count;
    second() = to_value(all.re);
    third() = all.squares;
  }
}

GUF_DEVICE void var_merge(guf::i64 n, guf::c128 mean, guf::f64 squares, guf::i64 m,
                          guf::c128 other_mean, guf::f64 other_squares, guf::out<guf::i64> count,
                          guf::out<guf::c128> out_mean, guf::out<guf::f64> out_squares) {
  const Moments<false> all =
      combined(moments_in(n, mean, squares), moments_in(m, other_mean, other_squares));
  count = all.count;
  out_mean = to_value(all.re);
  out_squares = all.squares;
}
GUF_DEVICE void var_merge(guf::c128 re, guf::c128 im, guf::c128 rest, guf::c128 other_re,
                          guf::c128 other_im, guf::c128 other_rest, guf::out<guf::c128> out_re,
                          guf::out<guf::c128> out_im, guf::out<guf::c128> out_rest) {
  const Moments<true> all =
      combined(moments_in(re, im, rest), moments_in(other_re, other_im, other_rest));
  out_re = to_value(all.re);
  out_im = to_value(all.im);
  out_rest = guf::c128((guf::f64)all.count, all.squares);
}

// If there are too few elements, NumPy's var divides by 0, and its nanvar of floating-point numbers
// returns NaN.
template <class A, class B, class C>
GUF_DEVICE guf::f64 var_finish(A first, B second, C third, guf::f64 ddof) {
  const auto all = moments_in(first, second, third);
  const guf::f64 freedom = (guf::f64)all.count - ddof;
  return all.squares / (freedom < 0 ? 0.0 : freedom);
}
template <class A, class B, class C>
GUF_DEVICE guf::f64 nanvar_finish(A first, B second, C third, guf::f64 ddof) {
  const auto all = moments_in(first, second, third);
  const guf::f64 freedom = (guf::f64)all.count - ddof;
  return freedom > 0 ? all.squares / freedom : guf::nan;
}
template <class A, class B, class C>
GUF_DEVICE guf::f64 std_finish(A first, B second, C third, guf::f64 ddof) {
  return guf::sqrt(var_finish(first, second, third, ddof));
}
template <class A, class B, class C>
GUF_DEVICE guf::f64 nanstd_finish(A first, B second, C third, guf::f64 ddof) {
  return guf::sqrt(nanvar_finish(first, second, third, ddof));
}

// ---- count_nonzero

// An unsigned type of the size of an element, so that a vector holds as many counts as elements.
template <int Size>
struct count_of {
  typedef guf::u64 type;
};
template <>
struct count_of<1> {
  typedef guf::u8 type;
};
template <>
struct count_of<2> {
  typedef guf::u16 type;
};
template <>
struct count_of<4> {
  typedef guf::u32 type;
};

template <class T>
GUF_DEVICE bool is_nonzero(T x) {
  if constexpr (guf::is_time<T>::value) {
    return x.value != 0;
  } else {
    return x != T(0);
  }
}

template <class X, class C>
GUF_DEVICE void count_nonzero(X x, C count) {
  const guf::i64 n = x.extent(0);
  guf::i64 all = 0;
  for (guf::i64 start = 0; start < n; start += kBlock) {
    const guf::i64 size = n - start < kBlock ? n - start : kBlock;
    typename count_of<(int)sizeof(typename X::type)>::type some = 0;
    for (guf::i64 i = 0; i < size; ++i) some += is_nonzero(guf::load(x[start + i])) ? 1 : 0;
    all += (guf::i64)some;
  }
  count() = all;
}

}  // namespace standard

GUF_GUFUNC(standard::sum_and_count<false>, "(n),(n)->(),()", GUF_LOOPS_mean, "name=mean",
           "accepts_empty", "keeps_precision", "merge=mean_merge", "finish=mean_finish");
GUF_GUFUNC(standard::sum_and_count<true>, "(n),(n)->(),()", GUF_LOOPS_nanmean, "name=nanmean",
           "accepts_empty", "keeps_precision", "merge=mean_merge", "finish=mean_finish");
GUF_UFUNC(standard::mean_merge, GUF_LOOPS_mean_merge);
GUF_UFUNC(standard::mean_finish, GUF_LOOPS_mean_finish);

GUF_GUFUNC(standard::nansum, "(n),(n)->()", GUF_LOOPS_nansum, "accepts_empty", "keeps_precision",
           "merge=add");
GUF_GUFUNC(standard::count_nonzero, "(n)->()", GUF_LOOPS_count_nonzero, "accepts_empty",
           "merge=add");

GUF_GUFUNC(standard::moments<false>, "(n),(n)->(),(),()", GUF_LOOPS_var, "name=var",
           "accepts_empty", "keeps_precision", "merge=var_merge", "finish=var_finish");
GUF_GUFUNC(standard::moments<false>, "(n),(n)->(),(),()", GUF_LOOPS_std, "name=std",
           "accepts_empty", "keeps_precision", "merge=var_merge", "finish=std_finish");
GUF_GUFUNC(standard::moments<true>, "(n),(n)->(),(),()", GUF_LOOPS_nanvar, "name=nanvar",
           "accepts_empty", "keeps_precision", "merge=var_merge", "finish=nanvar_finish");
GUF_GUFUNC(standard::moments<true>, "(n),(n)->(),(),()", GUF_LOOPS_nanstd, "name=nanstd",
           "accepts_empty", "keeps_precision", "merge=var_merge", "finish=nanstd_finish");
GUF_UFUNC(standard::var_merge, GUF_LOOPS_var_merge);
GUF_UFUNC(standard::var_finish, GUF_LOOPS_var_finish);
GUF_UFUNC(standard::std_finish, GUF_LOOPS_std_finish);
GUF_UFUNC(standard::nanvar_finish, GUF_LOOPS_nanvar_finish);
GUF_UFUNC(standard::nanstd_finish, GUF_LOOPS_nanstd_finish);

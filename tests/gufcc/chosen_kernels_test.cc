// SPDX-License-Identifier: Apache-2.0
// Compares kernels that choose between values (chosen.guf.cpp) element by element with the same
// choice on the host, for every kind of loop: complex and real, contiguous, strided and with a
// scalar.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "tests/gufcc/linked_module.h"

extern "C" const guf_module_v1 gufunc_module_v1_chosen_kernels;

namespace gufunc::gufcc {
namespace {

constexpr int64_t kCount = 300;  // more elements than a strided loop processes at a time

template <class Real>
bool is_before(std::complex<Real> x, std::complex<Real> y) {
  return x.real() < y.real() || (x.real() == y.real() && x.imag() <= y.imag());
}
template <class Real>
std::complex<Real> lesser(std::complex<Real> x, std::complex<Real> y) {
  return is_before(x, y) ? x : y;
}

// Returns a sequence of numbers. If x and y are the sequences of two seeds, the real part of x[i]
// is less than, equal to or greater than the real part of y[i], in an order that does not match the
// vector width.
template <class Real>
std::vector<std::complex<Real>> numbers(int64_t count, int64_t seed) {
  std::vector<std::complex<Real>> all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = (i + seed) * 7919;
    all.emplace_back(static_cast<Real>(k % 61 % 7 - 3), static_cast<Real>(k % 104729 % 1009));
  }
  return all;
}

class ChosenKernels : public LinkedModule<gufunc_module_v1_chosen_kernels> {
 protected:
  template <class Real>
  static std::string stem(const std::string &name, const std::string &outputs) {
    std::string types = "_FF_" + outputs;
    if constexpr (sizeof(Real) == 8) {
      for (char &c : types) c = c == 'F' ? 'D' : c == 'f' ? 'd' : c;
    }
    return "guf_ew_" + name + types;
  }

  // Checks a loop. `step` is the stride of all operands in elements; y is a scalar if `y_step` is
  // 0.
  template <class Real>
  void check(int64_t step, int64_t y_step) const {
    using Number = std::complex<Real>;
    const int64_t size = sizeof(Number), real = sizeof(Real);
    std::vector<Number> x = numbers<Real>(kCount * step, 1), y = numbers<Real>(kCount * step, 500);
    std::vector<Number> one(x), two(x), a(x), b(x), a3(x), b3(x), plain(x), negated(x);
    std::vector<Real> apart(x.size());
    const std::vector<int64_t> steps = {size * step, size * y_step, size * step, size * step};
    call(stem<Real>("lesser", "F"), {x.data(), y.data(), one.data()}, {kCount}, steps);
    call(stem<Real>("first", "F"), {x.data(), y.data(), two.data()}, {kCount}, steps);
    call(stem<Real>("lesser_both", "FF"), {x.data(), y.data(), plain.data(), negated.data()},
         {kCount}, steps);
    call(stem<Real>("sorted", "FF"), {x.data(), y.data(), a.data(), b.data()}, {kCount}, steps);
    call(stem<Real>("sorted_and_apart", "FFf"),
         {x.data(), y.data(), a3.data(), b3.data(), apart.data()}, {kCount},
         {size * step, size * y_step, size * step, size * step, real * step});
    for (int64_t i = 0; i < kCount; ++i) {
      const auto k = static_cast<size_t>(i * step), l = static_cast<size_t>(i * y_step);
      const Number low = lesser(x[k], y[l]), high = low == x[k] ? y[l] : x[k];
      EXPECT_EQ(one[k], low) << i;
      EXPECT_EQ(two[k], low) << i;
      EXPECT_EQ(plain[k], low) << i;
      EXPECT_EQ(negated[k], lesser(-x[k], -y[l])) << i;
      EXPECT_EQ(a[k], low) << i;
      EXPECT_EQ(b[k], high) << i;
      EXPECT_EQ(a3[k], low) << i;
      EXPECT_EQ(b3[k], high) << i;
      EXPECT_EQ(apart[k], high.real() - low.real()) << i;
    }
  }

  // Checks the minimum of each row, which is independent of the order in which the elements are
  // combined. A row has n elements; strides are in elements.
  template <class Real>
  void check_leaves(const std::string &name, int64_t rows, int64_t row_step, int64_t n,
                    int64_t step) const {
    using Number = std::complex<Real>;
    const int64_t size = sizeof(Number);
    std::vector<Number> in = numbers<Real>(rows * row_step + n * step, 3);
    std::vector<Number> least(static_cast<size_t>(rows));
    fold(stem<Real>(name, "F"), {in.data(), least.data()}, {GUF_FOLD_LEAVES, rows, n},
         {size * row_step, size * step, size});
    for (int64_t r = 0; r < rows; ++r) {
      Number expected = in[static_cast<size_t>(r * row_step)];
      for (int64_t i = 1; i < n; ++i) {
        expected = lesser(expected, in[static_cast<size_t>(r * row_step + i * step)]);
      }
      EXPECT_EQ(least[static_cast<size_t>(r)], expected) << name << ' ' << n << " of row " << r;
    }
  }

  template <class Real>
  void check_join(const std::string &name, int64_t step) const {
    using Number = std::complex<Real>;
    const int64_t bytes = static_cast<int64_t>(sizeof(Number)) * step;
    std::vector<Number> x = numbers<Real>(kCount * step, 1), y = numbers<Real>(kCount * step, 500);
    std::vector<Number> out(x.size());
    fold(stem<Real>(name, "F"), {x.data(), y.data(), out.data()}, {GUF_FOLD_JOIN, kCount},
         {bytes, bytes, bytes});
    for (size_t k = 0; k < x.size(); k += static_cast<size_t>(step)) {
      EXPECT_EQ(out[k], lesser(x[k], y[k])) << name << ' ' << k;
    }
  }

  template <class Real>
  void check_folds(const std::string &name) const {
    for (const int64_t n : {5, 40, 128}) {
      check_leaves<Real>(name, 150, n, n, 1);          // contiguous rows
      check_leaves<Real>(name, 150, 2 * n, n, 2);      // every second element
      check_leaves<Real>(name, kCount, 1, n, kCount);  // columns
    }
    check_join<Real>(name, 1);
    check_join<Real>(name, 2);
  }
};

// Returns real numbers without a pattern; half of them are below -100 or above 100.
template <class T>
std::vector<T> reals(int64_t count, int64_t seed) {
  std::vector<T> all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = (i + seed) * 7919;
    all.push_back(static_cast<T>(k % 61 % 7 - 3 + (k / 512 % 2) * (k % 1009)));
  }
  return all;
}

template <class T>
T by_index(T x, T y) {
  const volatile T all[] = {x, y, x + y, x - y};
  return all[static_cast<int>(x) & 3] + T(3) * all[static_cast<int>(y) & 3];
}

class RealChosenKernels : public ChosenKernels {
 protected:
  template <class T>
  void check(char letter, int64_t step, int64_t y_step) const {
    const int64_t size = sizeof(T);
    const std::vector<int64_t> steps = {size * step, size * y_step, size * step, size * step};
    const std::string l(1, letter), one = "_" + l + l + "_" + l, two = one + l;
    std::vector<T> x = reals<T>(kCount * step, 1), y = reals<T>(kCount * step, 500);
    std::vector<T> indexed(x), fast(x), least(x), low(x), high(x), parts(x);
    const auto run = [&](const std::string &name, std::vector<T> *out) {
      call("guf_ew_" + name + one, {x.data(), y.data(), out->data()}, {kCount}, steps);
    };
    run("by_index", &indexed);
    run("by_index_with_fast_path", &fast);
    run("least", &least);
    if (letter != 'i') run("by_parts", &parts);
    call("guf_ew_least_most" + two, {x.data(), y.data(), low.data(), high.data()}, {kCount}, steps);
    for (int64_t i = 0; i < kCount; ++i) {
      const auto k = static_cast<size_t>(i * step), l2 = static_cast<size_t>(i * y_step);
      EXPECT_EQ(indexed[k], by_index(x[k], y[l2])) << letter << i;
      EXPECT_EQ(fast[k], indexed[k]) << letter << i;
      EXPECT_EQ(least[k], std::min(x[k], y[l2])) << letter << i;
      EXPECT_EQ(low[k], least[k]) << letter << i;
      EXPECT_EQ(high[k], std::max(x[k], y[l2])) << letter << i;
      if (letter != 'i') {
        EXPECT_EQ(parts[k], std::max(x[k], y[l2])) << letter << i;
      }
    }
  }
  template <class T>
  void check_fold(char letter) const {
    const int64_t size = sizeof(T), rows = 150, n = 128;
    const std::string stem = std::string("guf_ew_least_") + letter + letter + "_" + letter;
    std::vector<T> in = reals<T>(rows * n, 3), along(rows), across(rows), joined(in.size());
    fold(stem, {in.data(), along.data()}, {GUF_FOLD_LEAVES, rows, n}, {size * n, size, size});
    fold(stem, {in.data(), across.data()}, {GUF_FOLD_LEAVES, rows, n}, {size, size * rows, size});
    for (int64_t r = 0; r < rows; ++r) {
      T row = in[static_cast<size_t>(r * n)], column = in[static_cast<size_t>(r)];
      for (int64_t i = 1; i < n; ++i) {
        row = std::min(row, in[static_cast<size_t>(r * n + i)]);
        column = std::min(column, in[static_cast<size_t>(i * rows + r)]);
      }
      EXPECT_EQ(along[static_cast<size_t>(r)], row) << letter << r;
      EXPECT_EQ(across[static_cast<size_t>(r)], column) << letter << r;
    }
    std::vector<T> other = reals<T>(rows * n, 500);
    fold(stem, {in.data(), other.data(), joined.data()}, {GUF_FOLD_JOIN, rows * n},
         {size, size, size});
    for (size_t k = 0; k < in.size(); ++k) EXPECT_EQ(joined[k], std::min(in[k], other[k])) << k;
  }
};

TEST_P(RealChosenKernels, EveryLayout) {
  const std::vector<std::vector<int64_t>> layouts = {{1, 1}, {2, 2}, {1, 0}};
  for (const std::vector<int64_t> &steps : layouts) {
    check<float>('f', steps[0], steps[1]);
    check<double>('d', steps[0], steps[1]);
    check<int32_t>('i', steps[0], steps[1]);
  }
}
TEST_P(RealChosenKernels, Folds) {
  check_fold<float>('f');
  check_fold<double>('d');
  check_fold<int32_t>('i');
}

TEST_P(ChosenKernels, Contiguous) {
  check<float>(1, 1);
  check<double>(1, 1);
}
TEST_P(ChosenKernels, Strided) {
  check<float>(2, 2);
  check<double>(3, 3);
}
TEST_P(ChosenKernels, OneScalar) {
  check<float>(1, 0);
  check<double>(1, 0);
}
TEST_P(ChosenKernels, Folds) {
  for (const char *name : {"lesser", "first"}) {
    check_folds<float>(name);
    check_folds<double>(name);
  }
}

std::string level_name(const testing::TestParamInfo<uint32_t> &row) {
  return target_name(gufunc_module_v1_chosen_kernels, row.param);
}
INSTANTIATE_TEST_SUITE_P(Levels, ChosenKernels,
                         testing::Range(0u, gufunc_module_v1_chosen_kernels.nimages), level_name);
INSTANTIATE_TEST_SUITE_P(Levels, RealChosenKernels,
                         testing::Range(0u, gufunc_module_v1_chosen_kernels.nimages), level_name);

}  // namespace
}  // namespace gufunc::gufcc

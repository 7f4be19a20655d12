// SPDX-License-Identifier: Apache-2.0
// Kernels that choose between complex numbers (chosen.guf.cpp), element by element what the same
// choice gives here: every kind of loop, c64 and c128, contiguous, strided and with a scalar.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "tests/gufcc/linked_module.h"

extern "C" const guf_module_v1 gufunc_module_v1_chosen_kernels;

namespace gufunc::gufcc {
namespace {

constexpr int64_t kCount = 300;  // more than a block of strided operands

template <class Real>
bool is_before(std::complex<Real> x, std::complex<Real> y) {
  return x.real() < y.real() || (x.real() == y.real() && x.imag() <= y.imag());
}
template <class Real>
std::complex<Real> lesser(std::complex<Real> x, std::complex<Real> y) {
  return is_before(x, y) ? x : y;
}

// Both orders of the real parts, and equal ones, in no pattern that a vector could follow.
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

  // `step`: of all operands, in elements; `y_step` 0 makes y a scalar.
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

  // Rows of n elements; steps in elements. The least of a row is the same in every order.
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
      check_leaves<Real>(name, 150, n, n, 1);          // rows that follow each other
      check_leaves<Real>(name, 150, 2 * n, n, 2);      // every second element
      check_leaves<Real>(name, kCount, 1, n, kCount);  // columns
    }
    check_join<Real>(name, 1);
    check_join<Real>(name, 2);
  }
};

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

INSTANTIATE_TEST_SUITE_P(Levels, ChosenKernels,
                         testing::Range(0u, gufunc_module_v1_chosen_kernels.nimages),
                         [](const auto &row) {
                           return target_name(gufunc_module_v1_chosen_kernels, row.param);
                         });

}  // namespace
}  // namespace gufunc::gufcc

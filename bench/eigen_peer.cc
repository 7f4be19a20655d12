/* SPDX-License-Identifier: Apache-2.0
 * Additions and sums with Eigen, for against_numpy.py --peers. */
#include <Eigen/Core>
#include <cstdint>

using Eigen::Dynamic;
using Vector = Eigen::Array<float, Dynamic, 1>;
using Rows = Eigen::Array<float, Dynamic, Dynamic, Eigen::RowMajor>;

extern "C" {
void eigen_add(const float *x, const float *y, float *out, int64_t n);
void eigen_add_scalar(const float *x, const float *y, float *out, int64_t n);
void eigen_sum(const float *x, float *out, int64_t rows, int64_t columns, int32_t along);
}

void eigen_add(const float *x, const float *y, float *out, int64_t n) {
  Eigen::Map<Vector>(out, n) = Eigen::Map<const Vector>(x, n) + Eigen::Map<const Vector>(y, n);
}

void eigen_add_scalar(const float *x, const float *y, float *out, int64_t n) {
  Eigen::Map<Vector>(out, n) = Eigen::Map<const Vector>(x, n) + *y;
}

/* Sums each row if `along` is 1, otherwise each column. */
void eigen_sum(const float *x, float *out, int64_t rows, int64_t columns, int32_t along) {
  const Eigen::Map<const Rows> source(x, rows, columns);
  if (along != 0) {
    Eigen::Map<Vector>(out, rows) = source.rowwise().sum();
  } else {
    Eigen::Map<Vector>(out, columns) = source.colwise().sum().transpose();
  }
}

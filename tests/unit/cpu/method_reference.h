// SPDX-License-Identifier: Apache-2.0
// Provides a simple reference for the reduction tree and the scan. It processes one element at a
// time with the ordinary loop of the accumulator's dtype.
#ifndef GUFUNC_TESTS_UNIT_CPU_METHOD_REFERENCE_H
#define GUFUNC_TESTS_UNIT_CPU_METHOD_REFERENCE_H

#include <string>
#include <vector>

#include "tests/unit/cpu/method_case.h"

namespace gufunc::cpu {

Value converted(const Value &value, guf_dtype from, guf_dtype to);

class Arithmetic {
 public:
  // If `widens` is set, the accumulators of f16 and bf16 are f32.
  Arithmetic(const std::string &function, guf_dtype dtype, bool tree, bool widens);

  Value widened(const Value &value) const { return converted(value, dtype_, partial_); }
  Value rounded(const Value &value) const { return converted(value, partial_, dtype_); }

  // Reduces the values as a tree or as a left fold. `start` is the initial value of a left fold.
  MaybeValue fold(const std::vector<MaybeValue> &values, const MaybeValue &start) const;
  MaybeValue joined(const MaybeValue &a, const MaybeValue &b) const;
  // Returns all partial results of accumulate, each rounded to the dtype of the loop.
  std::vector<Value> scanned(const std::vector<Value> &values) const;

 private:
  Value apply(const MethodLoop &loop, const Value &a, const Value &b) const;
  MaybeValue leaf(const std::vector<MaybeValue> &values, size_t first, size_t end) const;
  MaybeValue tree(const std::vector<MaybeValue> &values, size_t first, size_t end) const;

  guf_dtype dtype_, partial_;
  bool tree_;
  MethodLoop loop_, partial_loop_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_METHOD_REFERENCE_H

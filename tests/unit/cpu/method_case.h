// SPDX-License-Identifier: Apache-2.0
// Provides a call of the `method` slot with operands in any layout, and its expected result. The
// reference implements the reduction tree and the scan element by element, which is slow but
// simple. It uses the ordinary loop of the accumulator's dtype.
#ifndef GUFUNC_TESTS_UNIT_CPU_METHOD_CASE_H
#define GUFUNC_TESTS_UNIT_CPU_METHOD_CASE_H

#include <gufunc/backend.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gufunc::cpu {

using Value = std::array<unsigned char, 16>;  // one element of any dtype
using MaybeValue = std::optional<Value>;

// The loop of a standard function for one dtype, with its reduction entry.
struct MethodLoop {
  void *kernel = nullptr;
  void *fold = nullptr;
  int32_t kind = 0;
};
MethodLoop find_method_loop(const std::string &function, guf_dtype dtype, bool unary = false);

struct MethodDim {
  int64_t size = 1;
  bool reversed = false, repeated = false;  // negative stride; stride 0
  int64_t gap = 0;                          // number of unused elements between neighbours
  int place = 0;                            // order in memory: the smallest is innermost
};

struct MethodCase {
  int32_t method = GUF_METHOD_REDUCE;
  std::string function = "add";
  guf_dtype dtype = GUF_F32, input = 0, output = 0;  // 0 means `dtype`
  std::vector<MethodDim> kept, fold;
  bool tree = true, exact = false, use_fold = true;
  bool masked = false, initial = false;
  bool swapped_input = false, odd_input = false, swapped_output = false, odd_output = false;
  bool in_place = false;
  std::vector<int64_t> indices;  // for reduceat only
  unsigned seed = 0;

  std::string text() const;
};

// Runs a method call, and returns the bytes of its output. `run` receives a method whose kernel is
// not set, and must complete the call before it returns. If `run` fails, run_case_by reports a test
// failure and returns an empty vector.
using MethodRunner = std::function<guf_status(guf_backend_method *method, guf_error *error)>;
std::vector<unsigned char> run_case_by(const MethodCase &expected, const MethodRunner &run);

// run_case runs the call on the cpu backend with at most `threads` threads, and returns the bytes
// of the output. right_answer returns the expected bytes.
std::vector<unsigned char> run_case(const MethodCase &expected, uint32_t threads,
                                    void *stream = nullptr);
std::vector<unsigned char> right_answer(const MethodCase &expected);

MethodCase random_case(std::mt19937 &random, int32_t method);

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
  MaybeValue base_block(const std::vector<MaybeValue> &values, size_t first, size_t end) const;
  MaybeValue tree(const std::vector<MaybeValue> &values, size_t first, size_t end) const;

  guf_dtype dtype_, partial_;
  bool tree_;
  MethodLoop loop_, partial_loop_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_METHOD_CASE_H

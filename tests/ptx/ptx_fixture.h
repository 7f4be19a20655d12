// SPDX-License-Identifier: Apache-2.0
// Runs small PTX texts for the tests of the interpreter.
#ifndef GUFUNC_TESTS_PTX_PTX_FIXTURE_H
#define GUFUNC_TESTS_PTX_PTX_FIXTURE_H

#include <cstdint>
#include <string>
#include <vector>

#include "tests/ptx/ptx_grid.h"

namespace ptx::test {

// Host arrays that kernels may access.
class Arrays : public GlobalMemory {
 public:
  Range find(uint64_t address) override;
  void add(const void *first, uint64_t bytes, bool writable = true);

 private:
  std::vector<Range> ranges_;
};

// A kernel `test` with the parameters `in` and `out`, which are addresses of arrays of 64-bit
// numbers. The registers are %p0.., %h0.. (b16), %r0.. (b32), %d0.. (b64), %f0.. (f32) and %g0..
// (f64), eight of each. %d6 is the address of `in`, %d7 that of `out`.
struct Kernel {
  std::string declarations;  // text before the entry
  std::string body;
  uint32_t threads = 1, blocks = 1, shared_bytes = 0;
  Order order = {};
  std::vector<uint64_t> in = {};
  uint64_t nout = 1;

  // Returns the text of the module.
  std::string text() const;
  // Runs the kernel. Expects that there is no fault, and returns `out`, which starts with zeros.
  std::vector<uint64_t> run() const;
  // Runs the kernel. Returns the fault.
  std::string fault() const;

 private:
  Result run_into(std::vector<uint64_t> *out) const;
};

// One instruction, the types of its operands (the output first), its inputs and its output.
struct Row {
  const char *instruction;
  const char *types;
  std::vector<uint64_t> inputs;
  uint64_t expected;
};

// Expects that each row has the expected output. A predicate is 0 or 1.
void expect_rows(const std::vector<Row> &rows);

uint64_t bits(float value);
uint64_t bits(double value);

}  // namespace ptx::test

#endif  // GUFUNC_TESTS_PTX_PTX_FIXTURE_H

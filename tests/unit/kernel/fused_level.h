// SPDX-License-Identifier: Apache-2.0
// Supports tests that are built twice: for plain x86-64, and for an ISA level with fused
// multiply-add. Skips the second build on a processor without this instruction.
#ifndef GUFUNC_TESTS_UNIT_KERNEL_FUSED_LEVEL_H
#define GUFUNC_TESTS_UNIT_KERNEL_FUSED_LEVEL_H

#include <gtest/gtest.h>

namespace gufunc::test {

template <class Row>
class AtItsLevel : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "this processor has no AVX2 and FMA";
    }
#endif
  }
};

}  // namespace gufunc::test

#endif  // GUFUNC_TESTS_UNIT_KERNEL_FUSED_LEVEL_H

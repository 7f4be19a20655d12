// SPDX-License-Identifier: Apache-2.0
// Provides operands for calls that fail.
#ifndef GUFUNC_TESTS_UNIT_METHOD_METHOD_OPERANDS_H
#define GUFUNC_TESTS_UNIT_METHOD_METHOD_OPERANDS_H

#include "tests/unit/method/method_fixture.h"

namespace gufunc {

// Operands of several calls. A failing call must leave the results unchanged.
struct MethodOperands {
  std::vector<double> data = std::vector<double>(24, 1.0);
  std::vector<double> result = std::vector<double>(24, 7.0);
  std::vector<uint8_t> mask = std::vector<uint8_t>(24, 1);
  std::vector<int64_t> indices = {0, 4};

  View input(std::vector<int64_t> shape) const {
    return {GUF_F64, data.data(), std::move(shape), {}, 0};
  }
  View output(std::vector<int64_t> shape) const {
    return {GUF_F64, result.data(), std::move(shape), {}, 0};
  }
  View where(std::vector<int64_t> shape) const {
    return {GUF_BOOL, mask.data(), std::move(shape), {}, 0};
  }
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_METHOD_OPERANDS_H

// SPDX-License-Identifier: Apache-2.0
// Implements methods in the null plugin as left folds, element by element. The operands need
// neither casts nor byte swaps.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_METHODS_H
#define GUFUNC_TESTS_PLUGINS_NULL_METHODS_H

#include <gufunc/backend.h>

#include <vector>

namespace null_plugin {

// A method request with copies of its block and indices. It remains valid after the slot returns.
struct MethodCopy {
  explicit MethodCopy(const guf_backend_method &method);
  guf_loop_numpy loop;
  void *user;
  bool valid;  // whether the request had a block
  guf_method_block block = {};
  std::vector<int64_t> indices, operand_indices;
};

guf_status run_method(const MethodCopy &method, guf_error *error);

}  // namespace null_plugin

#endif  // GUFUNC_TESTS_PLUGINS_NULL_METHODS_H

// SPDX-License-Identifier: Apache-2.0
// Implements the work of the null plugin: a table of two functions, launches of host loops, plain
// copies, and methods. Methods run as left folds, element by element. Their operands need neither
// casts nor byte swaps.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_KERNELS_H
#define GUFUNC_TESTS_PLUGINS_NULL_KERNELS_H

#include <gufunc/backend.h>

#include <vector>

namespace null_plugin {

// Returns the table of "add" and "multiply" for float32 and float64, in one image for the target
// "null".
const guf_module_v1 *builtin_table();

struct Device {
  int32_t index = 0;
  bool host_memory = true;
};

// This bit is set in addresses of device memory that the host cannot access, so that an access by
// the host faults.
inline constexpr uint64_t kForeignBit = uint64_t{1} << 62;

inline uint64_t to_host(uint64_t address) {
  return address & ~kForeignBit;
}

using Loop = void (*)(void);

// Returns the functions of an image that the plugin can run, or nullptr for other images.
const Loop *entries_of(const guf_module_image &image);

guf_status run_loop(Loop loop, void *user, const guf_launch_block &block, guf_error *error);
guf_status run_convert(const guf_launch_block &block, guf_error *error);

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

#endif  // GUFUNC_TESTS_PLUGINS_NULL_KERNELS_H

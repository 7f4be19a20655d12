// SPDX-License-Identifier: Apache-2.0
// Provides the tables of the module small_functions, which gufcc compiles, and builds launch blocks
// for the functions of the module.
#ifndef GUFUNC_TESTS_GPU_SMALL_MODULE_H
#define GUFUNC_TESTS_GPU_SMALL_MODULE_H

#include <gufunc/backend.h>
#include <gufunc/module_table.h>

#include <string>
#include <vector>

namespace gufunc::gpu_test {

// A decompressed device image with a terminating NUL byte, as module_load requires. The images are
// never freed.
struct PlainImage {
  guf_module_image image;
  std::string bytes;
};

// Returns all device images of the module in this vendor's formats.
const std::vector<PlainImage> &small_images();
// Returns the image for a target such as "ptx_75", or NULL if the module has none.
const guf_module_image *small_image(const std::string &target);

// Returns the bytes of an image, decompressed if necessary.
std::string inflated(const guf_module_image &image);

// Returns the stem of the symbols of a function's loop, such as "plus". kernel_get requires this
// stem.
const char *small_stem(const std::string &function);

// Returns the raw kernel doubled(x, n). DoubledArguments contains the head of a launch and the
// arguments of this kernel.
const guf_module_kernel &small_raw_kernel();
struct DoubledArguments {
  guf_kernel_head head;
  uint64_t x;
  int64_t n;
};

// Builds an elementwise f64 launch over `items` contiguous elements. `addresses` lists inputs, then
// outputs.
guf_launch_block row_block(const std::vector<uint64_t> &addresses, int nin, int64_t items);
// Builds a launch of `dot` over `items` rows of `n` elements.
guf_launch_block dot_block(uint64_t a, uint64_t b, uint64_t out, int64_t items, int64_t n);
// Builds the launch of a method of `plus` over `n` elements with one result.
guf_method_block fold_block(int32_t method, uint64_t input, uint64_t output, int64_t n);

guf_backend_launch launch_of(void *kernel, void *stream, const guf_launch_block &block);
guf_backend_method method_of(void *kernel, void *stream, const guf_method_block &block);

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_SMALL_MODULE_H

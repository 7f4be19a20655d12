// SPDX-License-Identifier: Apache-2.0
// Finds loops of the standard library, and calls them with inputs and outputs of type double.
#ifndef GUFUNC_TESTS_UNIT_KERNELS_KERNEL_CALL_H
#define GUFUNC_TESTS_UNIT_KERNELS_KERNEL_CALL_H

#include <string>
#include <vector>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {

struct KernelImage {
  std::string target;
  const guf_module_image *image;
};
// Returns the images of every ISA level that this machine supports. Prints the unsupported levels
// to stdout once.
const std::vector<KernelImage> &runnable_images();

struct Kernel {
  void (*entry)(void) = nullptr;
  int32_t kind = 0;
  const char *failure = nullptr;
  std::vector<guf_dtype> dtypes;
  int nin = 0;
};
// Finds a kernel by function and dtypes, such as "dd->d". Reports a test failure if there is no
// such kernel.
Kernel find_kernel(const KernelImage &image, const char *function, const char *types);

// Calls the kernel with the same inputs for every item. `out` receives one number per item, which
// is the real part of a complex result.
guf_status call_kernel(const Kernel &kernel, const std::vector<double> &inputs, int64_t count,
                       std::vector<double> *out);

// The bytes of one element.
struct Element {
  alignas(16) char bytes[16];
};
guf_dtype dtype_of(char letter);
Element encode(guf_dtype dtype, double value);
double decode(guf_dtype dtype, const Element &element);

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_KERNELS_KERNEL_CALL_H

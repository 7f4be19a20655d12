// SPDX-License-Identifier: Apache-2.0
// A stencil: a generalized ufunc over 3 x 3 sliding windows, which are views without copies.
#include <cstdio>
#include <gufunc/gufunc.hpp>
#include <vector>

int main(int argc, char **argv) try {
  const gufunc::Module module(argc > 1 ? argv[1] : GUFUNC_EXAMPLE_MODULE);
  std::vector<double> heat(5 * 6);
  for (size_t i = 0; i < heat.size(); ++i) heat[i] = static_cast<double>(i * i % 7);
  const int64_t shape[] = {5, 6};
  const int64_t axes[] = {0, 1};
  const int64_t windows[] = {3, 3};
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = GUF_F64;
  tensor.ndim = 2;
  tensor.shape = shape;
  tensor.address = reinterpret_cast<uint64_t>(heat.data());
  guf_array plate = nullptr;
  gufunc::check(guf_array_wrap, &tensor, nullptr, nullptr, 0U, &plate);
  const gufunc::Array owner(plate);
  guf_array view = nullptr;
  gufunc::check(guf_array_sliding_window, plate, 2, axes, windows, &view);
  const gufunc::Array neighbourhoods(view);  // shape (3, 4, 3, 3)
  std::puts(gufunc::Ufunc("stencil:stencil")({neighbourhoods}).str().c_str());
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}

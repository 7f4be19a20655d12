// SPDX-License-Identifier: Apache-2.0
// Calls a generalized ufunc on matrices, also with other core axes. Usage: generalized
// MODULES_FOLDER.
#include <cstdio>
#include <gufunc/gufunc.hpp>

int main(int, char **argv) try {
  const gufunc::Module module(std::string(argv[1]) + "/matmulcore.so");
  const gufunc::Ufunc matmulcore("matmulcore");
  std::vector<double> a{0, 1, 2, 3, 4, 5}, b{-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6};
  const gufunc::Operand left(a.data(), {2, 3}), right(b.data(), {3, 4});
  std::puts(matmulcore({left, right}).str().c_str());
  // The strides describe the transpose of `left` without a copy; `axes` transposes it back.
  const gufunc::Operand transposed(a.data(), {3, 2}, {8, 24});
  const auto axes = gufunc::CallKeywords().axes({{1, 0}, {0, 1}, {0, 1}});
  std::puts(matmulcore({transposed, right}, axes).str().c_str());
  // Resolves a call without running it. matmulcore.explain() returns the details as text.
  const gufunc::Resolution resolution = matmulcore.resolve({left, right});
  std::printf("a loop of %s\n", resolution.loop_types[0].name());
  return 0;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  return 1;
}

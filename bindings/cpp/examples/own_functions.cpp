// SPDX-License-Identifier: Apache-2.0
// Calls a function from a module that gufcc compiled, and a ufunc whose loop is a C++ lambda.
// Usage: own_functions MODULES_FOLDER.
#include <cmath>
#include <cstdio>
#include <gufunc/gufunc.hpp>

int main(int, char **argv) try {
  const gufunc::Module module(std::string(argv[1]) + "/discriminant.so");
  std::vector<float> a{0, .25F, .5F}, b{10, 10.1F, 10.5F};
  std::puts(gufunc::Ufunc("discriminant")({a, b, 1}).str().c_str());

  const gufunc::Ufunc length = gufunc::Ufunc::create("length", 2, 1);
  length.add_function<double(double, double)>(
      [](double x, double y) { return std::sqrt(x * x + y * y); }, GUF_LOOP_ANY_THREAD);
  std::puts(length({3, 4.0}).str().c_str());
  std::puts(length({a, 1}).str().c_str());  // float32 is cast to the loop's float64
  return 0;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  return 1;
}

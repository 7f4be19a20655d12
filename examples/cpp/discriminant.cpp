// SPDX-License-Identifier: Apache-2.0
// The C++ version of examples/c/discriminant.c. Usage: discriminant MODULE.so
#include <cstdio>
#include <gufunc/gufunc.hpp>
#include <vector>

int main(int argc, char **argv) try {
  const gufunc::Module module(argc > 1 ? argv[1] : "discriminant.so");
  const gufunc::Ufunc discriminant("discriminant");
  std::vector<float> a{0, .25f, .5f, .75f, 1}, b{10, 10.1f, 10.5f, 10.7f, 11},
      c{1, .9f, .3f, .6f, .1f};
  std::vector<float> x(5);
  discriminant({a, b, c}, {x});  // writes into existing memory
  for (const float value : x) std::printf("%.9g\n", value);
  const gufunc::Array y = discriminant({a, 10.1, 1});  // allocates the result
  std::puts(y.str().c_str());
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}

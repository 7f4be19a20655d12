// SPDX-License-Identifier: Apache-2.0
// Calls on a stream with device arrays. Intermediate results stay on the device. Usage: streams
// [DEVICE].
#include <cstdio>
#include <gufunc/gufunc.hpp>

int main(int argc, char **argv) try {
  const gufunc::Device device(std::string(argc > 1 ? argv[1] : "cpu"));
  const gufunc::Stream stream(device);
  const auto on = gufunc::CallKeywords().on(stream);
  const gufunc::Ufunc square("square"), add("add");

  std::vector<double> x{1, 2, 3, 4}, result(4);
  const gufunc::Array there = gufunc::Array::wrap(x).to_device(device, stream);
  const gufunc::Array squares = square({there}, on);
  const gufunc::Array sums = gufunc::Array::alloc(GUF_F64, {4}, device);
  add({squares, there}, {sums}, on);
  sums.copy_to_host(result, stream);
  gufunc::Event done(device);
  done.record(stream);
  done.wait();  // stream.synchronize() would wait as well
  for (const double value : result) std::printf("%g ", value);
  std::printf("\n");
  return 0;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  return 1;
}

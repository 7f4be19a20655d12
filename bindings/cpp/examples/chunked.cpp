// SPDX-License-Identifier: Apache-2.0
// Processes arrays in chunks, as needed for arrays larger than device memory. Stops halfway and
// resumes. Usage: chunked [DEVICE].
#include <cstdio>
#include <gufunc/gufunc.hpp>

int main(int argc, char **argv) try {
  const gufunc::Device device(std::string(argc > 1 ? argv[1] : "cpu"));
  const auto on = gufunc::CallKeywords().on(device);
  const gufunc::Ufunc multiply("multiply");
  std::vector<double> x(1'000'000, 3), y(x.size());
  gufunc::ChunkOptions options;
  options.chunk_bytes = 1 << 20;
  options.out_items = &options.first_item;  // the next call continues here
  options.progress = [](int64_t done, int64_t items) { return done < items / 2; };
  try {
    multiply.call_chunked({x, 2}, {y}, options, on);
  } catch (const gufunc::Error &error) {
    std::printf("%s at item %lld\n", error.name(), static_cast<long long>(options.first_item));
  }
  options.progress = nullptr;
  multiply.call_chunked({x, 2}, {y}, options, on);
  size_t wrong = 0;
  for (const double value : y) wrong += value != 6;
  std::printf("%zu of %zu wrong\n", wrong, y.size());
  return 0;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  return 1;
}

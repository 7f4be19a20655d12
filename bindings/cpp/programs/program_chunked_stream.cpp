// SPDX-License-Identifier: Apache-2.0
// Processes arrays in chunks, first with one chunked call, then with a loop of calls on a stream.
// tests/bindings/programs/README.md describes the program.
#include <algorithm>

#include "npy_files.hpp"

static void by_one_call(const Folders &here, const gufunc::Ufunc &discriminant, Npy<double> *in) {
  std::vector<double> x(in[0].values.size());
  std::vector<int64_t> progress{0, 0};  // completed items, number of calls of the callback
  gufunc::ChunkOptions options;
  options.chunk_bytes = 65536;
  options.progress = [&](int64_t done, int64_t) {
    progress[0] = done;
    ++progress[1];
    return true;
  };
  discriminant.call_chunked({in[0].operand(), in[1].operand(), in[2].operand()}, {x}, options,
                            gufunc::CallKeywords().on(here.device));
  here.save("chunked_stream_x", x, in[0].shape);
  here.save("chunked_stream_progress", progress, {2});
}

static void by_hand(const Folders &here, const gufunc::Ufunc &discriminant, Npy<double> *in) {
  const size_t count = in[0].values.size();
  std::vector<double> x(count);
  const gufunc::Stream stream(here.device);
  for (size_t first = 0; first < count; first += 30000) {
    const size_t size = std::min<size_t>(30000, count - first);
    gufunc::Array there[3];
    for (int k = 0; k < 3; ++k) {
      const gufunc::Operand piece(in[k].values.data() + first, {static_cast<int64_t>(size)});
      there[k] = gufunc::Array::wrap(piece).to_device(here.device, stream);
    }
    const gufunc::Array out =
        discriminant({there[0], there[1], there[2]}, gufunc::CallKeywords().on(stream));
    out.copy_to_host(x.data() + first, size * sizeof(double), GUF_ORDER_C, stream);
  }
  stream.synchronize();
  here.save("chunked_stream_by_hand", x, in[0].shape);
}

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("discriminant");
    const gufunc::Ufunc discriminant("discriminant");
    Npy<double> in[] = {here.load<double>("chunked_stream_a"),
                        here.load<double>("chunked_stream_b"),
                        here.load<double>("chunked_stream_c")};
    by_one_call(here, discriminant, in);
    by_hand(here, discriminant, in);
  });
}

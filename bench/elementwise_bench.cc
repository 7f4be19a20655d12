// SPDX-License-Identifier: Apache-2.0
// Measures the throughput of elementwise calls and of hand-written OpenMP loops, on the same
// buffers, with preallocated outputs, in one process.
//
//   elementwise_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//
// Compare the minima of the repetitions, because other load on a shared machine can only add time.
#include <benchmark/benchmark.h>
#include <gufunc/gufunc.h>

#include <cstdio>
#include <memory>
#include <string>

#include "openmp_peer.h"

namespace gufunc::bench {
namespace {

constexpr int64_t kLargest = 100'000'000;

void must(guf_status status, const guf_error &error) {
  if (status == GUF_OK) return;
  std::fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  std::exit(1);
}

// Four arrays of the largest size. The library allocates them, and every page is written once.
struct Buffers {
  guf_array array[4] = {};
  float *data[4] = {};

  Buffers() {
    for (int i = 0; i < 4; ++i) {
      guf_error error;
      error.struct_size = sizeof error;
      must(guf_array_alloc(nullptr, GUF_F32, 1, &kLargest, nullptr, GUF_ORDER_C, &array[i], &error),
           error);
      guf_array_info info = {};
      info.struct_size = sizeof info;
      must(guf_array_get_info(array[i], &info, &error), error);
      data[i] = reinterpret_cast<float *>(info.address);
      for (int64_t k = 0; k < kLargest; ++k)
        data[i][k] = i == 1 ? 10.0F : static_cast<float>(k % 97) * 0.01F;
    }
  }
};

Buffers &buffers() {
  static Buffers instance;
  return instance;
}

guf_ufunc find(const char *name) {
  guf_error error;
  error.struct_size = sizeof error;
  guf_ufunc ufunc = nullptr;
  must(guf_ufunc_find(nullptr, name, &ufunc, &error), error);
  return ufunc;
}

guf_ufunc discriminant() {
  static const guf_ufunc ufunc = [] {
    guf_error error;
    error.struct_size = sizeof error;
    guf_module module = nullptr;
    must(guf_module_load(nullptr, GUFUNC_BENCH_MODULE, 0, &module, &error), error);
    return find("discriminant");
  }();
  return ufunc;
}

// Calls `ufunc` on the first n elements of the buffers. The first `nin` buffers are inputs, and the
// last buffer is the output.
void call_gufunc(benchmark::State &state, guf_ufunc ufunc, int nin) {
  const int64_t n = state.range(0);
  guf_tensor tensors[4] = {};
  guf_operand operands[4] = {};
  for (int i = 0; i < 4; ++i) {
    tensors[i] = {sizeof(guf_tensor),
                  GUF_F32,
                  1,
                  0,
                  reinterpret_cast<uint64_t>(buffers().data[i]),
                  &n,
                  nullptr,
                  nullptr};
    operands[i].kind = GUF_OPERAND_TENSOR;
    operands[i].tensor = &tensors[i];
  }
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = operands;
  args.ninputs = nin;
  args.outputs = &operands[3];
  args.noutputs = 1;
  args.options.threads = static_cast<uint32_t>(state.range(1));
  guf_error error;
  error.struct_size = sizeof error;
  for (auto _ : state) must(guf_call(ufunc, &args, &error), error);
  state.SetBytesProcessed(state.iterations() * n * static_cast<int64_t>(sizeof(float)) * (nin + 1));
}

void add_gufunc(benchmark::State &state) {
  static const guf_ufunc add = find("add");
  call_gufunc(state, add, 2);
}

void add_openmp(benchmark::State &state) {
  const Buffers &b = buffers();
  for (auto _ : state) {
    openmp_add(b.data[0], b.data[1], b.data[3], state.range(0), static_cast<int>(state.range(1)));
    benchmark::ClobberMemory();
  }
}

void discriminant_gufunc(benchmark::State &state) {
  call_gufunc(state, discriminant(), 3);
}

void discriminant_openmp(benchmark::State &state) {
  const Buffers &b = buffers();
  for (auto _ : state) {
    openmp_discriminant(b.data[0], b.data[1], b.data[2], b.data[3], state.range(0),
                        static_cast<int>(state.range(1)));
    benchmark::ClobberMemory();
  }
}

// Sets the numbers of elements and of threads that are measured.
void sizes(benchmark::internal::Benchmark *bench) {
  bench->ArgNames({"n", "threads"})->Unit(benchmark::kMicrosecond)->UseRealTime();
  for (const int64_t threads : {1, 2}) {
    for (const int64_t n : {int64_t{10'000}, int64_t{1'000'000}, int64_t{10'000'000}, kLargest})
      bench->Args({n, threads});
  }
}

BENCHMARK(add_gufunc)->Apply(sizes);
BENCHMARK(add_openmp)->Apply(sizes);
BENCHMARK(discriminant_gufunc)->Apply(sizes);
BENCHMARK(discriminant_openmp)->Apply(sizes);

}  // namespace
}  // namespace gufunc::bench

BENCHMARK_MAIN();

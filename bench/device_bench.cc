// SPDX-License-Identifier: Apache-2.0
// What a device makes of the library: bytes per second of elementwise calls, rows and reductions
// against the driver's copy of as many bytes, and what a launch costs the host against the driver's
// bare one, in the same, interleaved run.
//
//   device_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=10
//
// GUFUNC_BENCH_DEVICE names the device (cuda:0). Peers are CUDA's alone. Compare minima.
#include <benchmark/benchmark.h>
#include <gufunc/gufunc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda_peer.h"

// Every allocation of the process comes through here.
extern "C" void *__libc_malloc(size_t size);
namespace {
std::atomic<uint64_t> allocations{0};
}
extern "C" void *malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}

namespace gufunc::bench {
namespace {

void check(guf_status status, const guf_error &error) {
  if (status == GUF_OK) return;
  std::fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  std::exit(1);
}

const char *spec() {
  const char *const named = std::getenv("GUFUNC_BENCH_DEVICE");
  return named == nullptr ? "cuda:0" : named;
}

// One ufunc on `n` elements of each operand, prepared.
struct Prepared {
  guf_error error = {};
  guf_device device = nullptr;
  guf_ufunc ufunc = nullptr;
  guf_array array[3] = {};
  guf_operand operand[3] = {};
  uint64_t address[3] = {};
  guf_plan plan = nullptr;

  Prepared(const char *name, guf_dtype dtype, int noperands, int32_t ndim, const int64_t *shape) {
    error.struct_size = sizeof error;
    check(guf_device_get(nullptr, spec(), &device, &error), error);
    check(guf_ufunc_find(nullptr, name, &ufunc, &error), error);
    for (int i = 0; i < noperands; ++i) {
      check(guf_array_alloc(device, dtype, ndim, shape, nullptr, GUF_ORDER_C, &array[i], &error),
            error);
      operand[i].kind = GUF_OPERAND_ARRAY;
      operand[i].array = array[i];
      guf_array_info info = {};
      info.struct_size = sizeof info;
      check(guf_array_get_info(array[i], &info, &error), error);
      address[i] = info.address;
    }
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = noperands - 1;
    args.noutputs = 1;
    args.inputs = operand;
    args.outputs = operand + noperands - 1;
    check(guf_plan_create(ufunc, &args, &plan, &error), error);
  }
  ~Prepared() {
    guf_plan_release(plan, nullptr);
    for (const guf_array one : array) guf_array_release(one, nullptr);
    guf_ufunc_release(ufunc, nullptr);
    guf_poll(0, nullptr, nullptr);
  }
  void launch(int noperands) {
    check(guf_plan_launch(plan, nullptr, noperands, address, 0, &error), error);
  }
  void wait() { check(guf_device_synchronize(device, UINT64_MAX, &error), error); }
};

void elementwise(benchmark::State &state, const char *name, guf_dtype dtype, int noperands) {
  const int64_t n = state.range(0);
  Prepared call(name, dtype, noperands, 1, &n);
  constexpr int kBatch = 20;
  for (int i = 0; i < kBatch; ++i) call.launch(noperands);
  call.wait();
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) call.launch(noperands);
    call.wait();
  }
  state.SetBytesProcessed(state.iterations() * kBatch * n * noperands *
                          static_cast<int64_t>((dtype >> 8 & 0xFF) / 8));
}

// As many bytes read and written as add of three f32 operands moves.
void driver_copy(benchmark::State &state) {
  const int64_t n = state.range(0);
  Prepared call("add", GUF_F32, 3, 1, &n);
  CudaPeer peer;
  constexpr int kBatch = 20;
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      peer.copy(call.address[2], call.address[0], static_cast<uint64_t>(4 * n));
    }
    peer.wait();
  }
  state.SetBytesProcessed(state.iterations() * kBatch * n * 8);
}

void plan_launch(benchmark::State &state) {
  const int64_t n = 1;
  Prepared call("add", GUF_F32, 3, 1, &n);
  call.launch(3);
  call.wait();
  const uint64_t before = allocations.load();
  int64_t since = 0;
  for (auto _ : state) {
    call.launch(3);
    if (++since % 512 != 0) continue;
    state.PauseTiming();
    call.wait();
    state.ResumeTiming();
  }
  call.wait();
  state.counters["allocations"] = benchmark::Counter(
      static_cast<double>(allocations.load() - before), benchmark::Counter::kAvgIterations);
}

void driver_launch(benchmark::State &state) {
  CudaPeer peer;
  int64_t since = 0;
  for (auto _ : state) {
    peer.launch_empty();
    if (++since % 512 != 0) continue;
    state.PauseTiming();
    peer.wait();
    state.ResumeTiming();
  }
  peer.wait();
}

void call_small(benchmark::State &state) {
  const int64_t n = 1;
  Prepared call("add", GUF_F32, 3, 1, &n);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = call.operand;
  args.outputs = call.operand + 2;
  int64_t since = 0;
  for (auto _ : state) {
    check(guf_call(call.ufunc, &args, &call.error), call.error);
    if (++since % 512 != 0) continue;
    state.PauseTiming();
    call.wait();
    state.ResumeTiming();
  }
  call.wait();
}

void reduce(benchmark::State &state, int64_t rows) {
  const int64_t shape[2] = {rows, state.range(0) / rows};
  Prepared call("negative", GUF_F32, 2, 2, shape);
  guf_ufunc add = nullptr;
  check(guf_ufunc_find(nullptr, "add", &add, &call.error), call.error);
  const int64_t axis = rows == 1 ? 1 : 0;
  guf_operand out = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = call.operand;
  args.output = &out;
  args.axis = &axis;
  args.naxis = 1;
  check(guf_reduce(add, &args, &call.error), call.error);
  for (auto _ : state) {
    check(guf_reduce(add, &args, &call.error), call.error);
    call.wait();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
  guf_array_release(out.array, nullptr);
  guf_ufunc_release(add, nullptr);
}

void sizes(benchmark::internal::Benchmark *bench) {
  for (const int64_t bits : {20, 24, 26, 28}) bench->Arg(int64_t{1} << bits);
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(elementwise, add_f32, "add", GUF_F32, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_f64, "add", GUF_F64, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_f16, "add", GUF_F16, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_i8, "add", GUF_I8, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, negative_f32, "negative", GUF_F32, 2)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, sin_f32, "sin", GUF_F32, 2)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, sum_all, 1)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, sum_columns, 1024)->Apply(sizes);
BENCHMARK(driver_copy)->Apply(sizes);
BENCHMARK(plan_launch);
BENCHMARK(call_small);
BENCHMARK(driver_launch);

}  // namespace
}  // namespace gufunc::bench

BENCHMARK_MAIN();

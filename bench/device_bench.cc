// SPDX-License-Identifier: Apache-2.0
// Benchmarks of a device. Measures the bytes per second of elementwise calls, gufuncs on rows, and
// reductions, compared with the driver's copy of the same number of bytes. Also measures the host's
// time for a launch, compared with a launch directly through the driver. All benchmarks run
// interleaved in one process.
//
//   device_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=10
//
// GUFUNC_BENCH_DEVICE names the device (default cuda:0). GUFUNC_BENCH_MODULES lists the folders
// with the modules of the examples and with empty.so. The argument of a benchmark is the number of
// bytes of each operand. A benchmark that the device cannot run reports an error. Compare the
// minima of the repetitions.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>

#include "driver_peer.h"
#include "prepared_call.h"

// The allocators of the C library are replaced, so that every allocation of the process is counted.
extern "C" void *__libc_malloc(size_t size);
extern "C" void *__libc_calloc(size_t count, size_t size);
extern "C" void *__libc_memalign(size_t alignment, size_t size);
namespace {
std::atomic<uint64_t> allocations{0};
}
extern "C" void *malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
extern "C" void *calloc(size_t count, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
extern "C" void *aligned_alloc(size_t alignment, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}

namespace gufunc::bench {
namespace {

using benchmark::State;

constexpr int kQueued = 512;     // number of launches that every driver can queue
constexpr int64_t kF32Row = 16;  // bytes of a row with four elements

// Returns the number of calls between two waits. It is higher for small sizes, for which the wait
// would take most of the time.
int64_t batch_of(int64_t bytes) {
  return std::clamp<int64_t>((int64_t{2} << 30) / bytes, 2, 20);
}

// Measures calls in batches. `bytes` is the number of bytes that one call reads and writes.
template <class Queue, class Wait>
void measure_batches(State &state, int64_t bytes, Queue queue, Wait wait) {
  const int64_t batch = batch_of(state.range(0));
  for (int64_t i = 0; i < batch; ++i) queue();
  wait();
  for (auto _ : state) {
    for (int64_t i = 0; i < batch; ++i) queue();
    wait();
  }
  state.SetBytesProcessed(state.iterations() * batch * bytes);
}

void elementwise(State &state, const char *name, guf_dtype dtype, int noperands) {
  guarded(state, [&] {
    const int64_t item = static_cast<int64_t>((dtype >> 8 & 0xFF) / 8);
    PreparedCall call;
    call.prepare(name, dtype, noperands, {{state.range(0) / item}});
    measure_batches(
        state, state.range(0) * noperands, [&] { call.launch(); }, [&] { call.wait(); });
  });
}

// Measures an example gufunc on rows of four elements. If `noperands` is 1, the gufunc works in
// place.
void rows(State &state, const char *name, int noperands) {
  guarded(state, [&] {
    load_module(name);
    PreparedCall call;
    call.prepare(name, GUF_F32, noperands, {{state.range(0) / kF32Row, 4}});
    measure_batches(state, state.range(0) * 2, [&] { call.launch(); }, [&] { call.wait(); });
  });
}

void driver_copy(State &state) {
  guarded(state, [&] {
    const auto bytes = static_cast<uint64_t>(state.range(0));
    PreparedCall call;
    call.prepare("negative", GUF_F32, 2, {{state.range(0) / 4}});
    DriverPeer &peer = DriverPeer::of(device_spec());
    measure_batches(
        state, state.range(0) * 2, [&] { peer.copy(call.address(1), call.address(0), bytes); },
        [&] { peer.wait(); });
  });
}

void reduce(State &state, int64_t nrows) {
  guarded(state, [&] {
    PreparedCall call;
    call.prepare("negative", GUF_F32, 2, {{nrows, state.range(0) / 4 / nrows}});
    guf_error error = {};
    error.struct_size = sizeof error;
    guf_ufunc add = nullptr;
    check(guf_ufunc_find(nullptr, "add", &add, &error), error);
    const int64_t axis = nrows == 1 ? 1 : 0;
    guf_operand out = {};
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    args.input = &call.operand(0);
    args.output = &out;
    args.axis = &axis;
    args.naxis = 1;
    check(guf_reduce(add, &args, &error), error);
    for (auto _ : state) {
      check(guf_reduce(add, &args, &error), error);
      call.wait();
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
    guf_array_release(out.array, nullptr);
    guf_ufunc_release(add, nullptr);
  });
}

// Measures the host's time for one launch, without the time to wait for the device.
template <class Launch, class Wait>
void measure_launches(State &state, Launch launch, Wait wait) {
  for (int i = 0; i < 16; ++i) launch();
  wait();
  uint64_t before = allocations.load(), counted = 0;
  int64_t since = 0;
  for (auto _ : state) {
    launch();
    if (++since % kQueued != 0) continue;
    state.PauseTiming();
    counted += allocations.load() - before;
    wait();
    before = allocations.load();
    state.ResumeTiming();
  }
  counted += allocations.load() - before;
  wait();
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(counted), benchmark::Counter::kAvgIterations);
}

void plan_launch(State &state, const char *name, int noperands, const Layout &layout,
                 bool on_stream) {
  guarded(state, [&] {
    PreparedCall call;
    call.prepare(name, GUF_F32, noperands, layout, on_stream);
    measure_launches(state, [&] { call.launch(); }, [&] { call.wait(); });
  });
}

void driver_launch(State &state) {
  guarded(state, [&] {
    DriverPeer &peer = DriverPeer::of(device_spec());
    peer.load_empty(module_path("empty"));
    measure_launches(state, [&] { peer.launch_empty(); }, [&] { peer.wait(); });
  });
}

void call_small(State &state) {
  guarded(state, [&] {
    PreparedCall call;
    call.prepare("add", GUF_F32, 3, {{1}});
    measure_launches(state, [&] { call.call(); }, [&] { call.wait(); });
  });
}

constexpr int64_t kMiB = 1 << 20;
void sizes(benchmark::internal::Benchmark *bench) {
  for (const int64_t bytes : {kMiB / 256, 4 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB}) {
    bench->Arg(bytes);
  }
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(elementwise, add_f32, "add", GUF_F32, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_f64, "add", GUF_F64, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_f16, "add", GUF_F16, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, add_i8, "add", GUF_I8, 3)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, negative_f32, "negative", GUF_F32, 2)->Apply(sizes);
BENCHMARK_CAPTURE(elementwise, sin_f32, "sin", GUF_F32, 2)->Apply(sizes);
BENCHMARK_CAPTURE(rows, cumulative_power, "cumulative_power", 1)->Apply(sizes);
BENCHMARK_CAPTURE(rows, demean, "demean", 2)->Apply(sizes);
BENCHMARK_CAPTURE(rows, hermite, "hermite", 1)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, sum_all, 1)->Apply(sizes);
BENCHMARK_CAPTURE(reduce, sum_columns, 1024)->Apply(sizes);
BENCHMARK(driver_copy)->Apply(sizes);

const Layout kOne = {{1}}, kVector = {{4}}, kMatrix = {{4, 4}};
const Layout kStrided = {{4, 4, 4}, {256, 48, 8}};
BENCHMARK_CAPTURE(plan_launch, add, "add", 3, kOne, false);
BENCHMARK_CAPTURE(plan_launch, add_on_stream, "add", 3, kVector, true);
BENCHMARK_CAPTURE(plan_launch, add_strided, "add", 3, kStrided, false);
BENCHMARK_CAPTURE(plan_launch, sin, "sin", 2, kVector, false);
BENCHMARK_CAPTURE(plan_launch, matmul, "matmul", 3, kMatrix, false);
BENCHMARK(driver_launch);
BENCHMARK(call_small);

}  // namespace
}  // namespace gufunc::bench

BENCHMARK_MAIN();

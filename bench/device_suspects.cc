// SPDX-License-Identifier: Apache-2.0
// Benchmarks of functions whose machine code is probably slow on GPUs. gpu-check does not compare
// their times with limits. gpu-check runs each benchmark in a separate process, so that a slow
// benchmark cannot use the time of the other benchmarks. The argument of a benchmark is the number
// of bytes of the input. The reported throughput is based on the minimum number of bytes that the
// call must read and write.
#include <functional>
#include <numeric>
#include <vector>

#include "driver_peer.h"
#include "prepared_call.h"

namespace gufunc::bench {
namespace {

using benchmark::State;

// A ufunc for method calls, and an output that the first call allocates.
struct Method {
  explicit Method(const char *name) {
    error.struct_size = sizeof error;
    check(guf_ufunc_find(nullptr, name, &ufunc, &error), error);
  }
  Method(const Method &) = delete;
  Method &operator=(const Method &) = delete;
  ~Method() {
    guf_array_release(out.array, nullptr);
    guf_ufunc_release(ufunc, nullptr);
  }
  guf_error error = {};
  guf_ufunc ufunc = nullptr;
  guf_operand out = {};
};

template <class Work, class Wait>
void measure(State &state, int64_t bytes, Work work, Wait wait) {
  work();
  wait();
  for (auto _ : state) {
    work();
    wait();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

int64_t item_bytes(guf_dtype dtype) {
  return static_cast<int64_t>((dtype >> 8 & 0xFF) / 8);
}

// Measures an elementwise ufunc. The first extent of the layout is computed from the argument.
void elementwise(State &state, const char *name, guf_dtype dtype, int noperands, Layout layout) {
  guarded(state, [&] {
    const int64_t row = layout.shape.size() == 1 ? 1 : layout.shape[1];
    layout.shape[0] = state.range(0) / item_bytes(dtype) / row;
    PreparedCall call;
    call.prepare(name, dtype, noperands, layout);
    measure(
        state, layout.shape[0] * row * item_bytes(dtype) * noperands, [&] { call.launch(); },
        [&] { call.wait(); });
  });
}

// Measures a reduction of the last axis. Each row has `row` elements; if `row` is 0, there is one
// row.
void reduce(State &state, guf_dtype dtype, int64_t row) {
  guarded(state, [&] {
    const int64_t items = state.range(0) / item_bytes(dtype);
    PreparedCall call;
    call.prepare("negative", dtype, 2, {{row == 0 ? 1 : items / row, row == 0 ? items : row}});
    Method add("add");
    const int64_t axis = 1;
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    args.input = &call.operand(0);
    args.output = &add.out;
    args.axis = &axis;
    args.naxis = 1;
    measure(
        state, state.range(0), [&] { check(guf_reduce(add.ufunc, &args, &add.error), add.error); },
        [&] { call.wait(); });
  });
}

void accumulate(State &state, const char *name) {
  guarded(state, [&] {
    PreparedCall call;
    call.prepare("negative", GUF_F32, 2, {{state.range(0) / 4}});
    Method function(name);
    guf_operand out = call.operand(1);
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = &call.operand(0);
    args.output = &out;
    measure(
        state, state.range(0) * 2,
        [&] { check(guf_accumulate(function.ufunc, &args, &function.error), function.error); },
        [&] { call.wait(); });
  });
}

// Measures `at` with random indices. The indices and the array in which they select elements each
// have an eighth of the argument's bytes.
void at(State &state) {
  guarded(state, [&] {
    const int64_t targets = state.range(0) / 32, count = state.range(0) / 64;
    PreparedCall call;
    call.prepare("negative", GUF_F32, 2, {{targets}});
    std::vector<int64_t> chosen(static_cast<size_t>(count));
    uint64_t random = 1;
    for (int64_t &one : chosen) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      one = static_cast<int64_t>((random >> 33) % static_cast<uint64_t>(targets));
    }
    const guf_tensor tensor = {
        sizeof tensor, GUF_I64, 1,      0, reinterpret_cast<uint64_t>(chosen.data()),
        &count,        nullptr, nullptr};
    guf_operand indices = {};
    indices.kind = GUF_OPERAND_TENSOR;
    indices.tensor = &tensor;
    guf_at_args args = {};
    args.struct_size = sizeof args;
    args.array = &call.operand(0);
    args.indices = &indices;
    args.nindices = 1;
    Method negative("negative");
    measure(
        state, count * 16,
        [&] { check(guf_at(negative.ufunc, &args, &negative.error), negative.error); },
        [&] { call.wait(); });
  });
}

void cast(State &state, guf_dtype from, guf_dtype to) {
  guarded(state, [&] {
    const int64_t items = state.range(0) / item_bytes(from);
    PreparedCall source, target;
    source.prepare("negative", from, 2, {{items}});
    target.prepare("negative", to, 2, {{items}});
    guf_error error = {};
    error.struct_size = sizeof error;
    measure(
        state, items * (item_bytes(from) + item_bytes(to)),
        [&] {
          check(guf_array_assign(target.operand(0).array, source.operand(0).array,
                                 GUF_CASTING_UNSAFE, nullptr, &error),
                error);
        },
        [&] { target.wait(); });
  });
}

// Measures the transposition of a matrix.
void transpose(State &state, guf_dtype dtype) {
  guarded(state, [&] {
    const int64_t item = item_bytes(dtype), side = 64, rows = state.range(0) / item / side;
    PreparedCall source, target;
    source.prepare("negative", dtype, 2, {{rows, side}, {item, item * rows}});
    target.prepare("negative", dtype, 2, {{rows, side}});
    guf_error error = {};
    error.struct_size = sizeof error;
    measure(
        state, state.range(0) * 2,
        [&] {
          check(guf_array_assign(target.operand(0).array, source.operand(0).array,
                                 GUF_CASTING_SAME_KIND, nullptr, &error),
                error);
        },
        [&] { target.wait(); });
  });
}

void product(State &state, const Layout &layout) {
  guarded(state, [&] {
    PreparedCall call;
    call.prepare("matmul", GUF_F32, 3, layout);
    const int64_t bytes =
        std::accumulate(layout.shape.begin(), layout.shape.end(), int64_t{4}, std::multiplies<>());
    measure(state, 3 * bytes, [&] { call.launch(); }, [&] { call.wait(); });
  });
}

// Multiplies two square matrices, each of which has about a sixty-fourth of the argument's bytes:
// 512 x 512 for 64 MiB.
void matmul_one(State &state) {
  int64_t side = 4;
  while (side * side * 4 < state.range(0) / 64) side *= 2;
  product(state, {{side, side}});
}

void matmul_many(State &state) {
  product(state, {{state.range(0) / 64, 4, 4}});
}

void sizes(benchmark::internal::Benchmark *bench) {
  bench->ArgName("bytes")->Arg(4096)->Arg(64 << 20);
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}

#define GUF_SUSPECT(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Name("suspect/" #name)->Apply(sizes)
GUF_SUSPECT(elementwise, sin_f16, "sin", GUF_F16, 2, Layout{{0}});
GUF_SUSPECT(elementwise, exp_f16, "exp", GUF_F16, 2, Layout{{0}});
GUF_SUSPECT(elementwise, add_bf16, "add", GUF_BF16, 3, Layout{{0}});
GUF_SUSPECT(elementwise, add_rows_of_125, "add", GUF_F32, 3, Layout{{0, 125}, {512, 4}});
GUF_SUSPECT(reduce, sum_rows_of_8, GUF_F32, 8);
GUF_SUSPECT(reduce, sum_rows_of_1000, GUF_F32, 1000);
GUF_SUSPECT(reduce, sum_i8, GUF_I8, 0);
GUF_SUSPECT(reduce, sum_i32, GUF_I32, 0);
GUF_SUSPECT(accumulate, cumsum_f32, "add");
GUF_SUSPECT(cast, cast_f32_to_f64, GUF_F32, GUF_F64);
GUF_SUSPECT(cast, cast_f16_to_f32, GUF_F16, GUF_F32);
GUF_SUSPECT(transpose, transpose_f32, GUF_F32);
GUF_SUSPECT(transpose, transpose_i8, GUF_I8);
BENCHMARK(at)->Name("suspect/negative_at")->Apply(sizes);
BENCHMARK(matmul_one)->Name("suspect/matmul_one")->Apply(sizes);
BENCHMARK(matmul_many)->Name("suspect/matmul_of_4x4")->Apply(sizes);

}  // namespace
}  // namespace gufunc::bench

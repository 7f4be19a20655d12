// SPDX-License-Identifier: Apache-2.0
// Measures the cost of guf_call, of a call with a new shape, of guf_resolve, and of the launch of a
// plan, without the work on elements, and counts the allocations. A child process measures NumPy in
// the same interleaved run.
//
//   dispatch_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=20
//
// GUFUNC_BENCH_PYTHON is the path of a Python with NumPy 2 (default: build/venv, which script/setup
// creates). Compare the minima of the repetitions.
#include <benchmark/benchmark.h>
#include <gufunc/gufunc.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The allocators of the C library are replaced, so that every allocation of the process is counted,
// including the allocations of the library and its plugins.
extern "C" void *__libc_malloc(size_t size);
extern "C" void *__libc_calloc(size_t count, size_t size);
extern "C" void *__libc_realloc(void *old, size_t size);
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
extern "C" void *realloc(void *old, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}

namespace gufunc::bench {
namespace {

[[noreturn]] void give_up(const char *what, const guf_error &error) {
  std::fprintf(stderr, "%s: %s: %s\n", what, guf_status_name(error.status), error.message);
  std::exit(1);
}

guf_ufunc find(const char *name) {
  guf_error error;
  error.struct_size = sizeof error;
  guf_ufunc ufunc = nullptr;
  if (guf_ufunc_find(nullptr, name, &ufunc, &error) != GUF_OK) give_up(name, error);
  return ufunc;
}

// A call of add on three f32 arrays of the library, with up to three dimensions.
struct AddCall {
  alignas(64) float data[3][4096] = {};
  int64_t shape[3][3] = {};
  guf_array array[3] = {};
  guf_tensor tensor[3] = {};
  guf_operand operand[3] = {};
  guf_call_args args = {};
  guf_error error = {};
  guf_ufunc add = find("add");

  AddCall(int32_t ndim, const int64_t *extents) {
    error.struct_size = sizeof error;
    for (int i = 0; i < 3; ++i) {
      std::copy_n(extents, ndim, shape[i]);
      tensor[i].struct_size = sizeof tensor[i];
      tensor[i].dtype = GUF_F32;
      tensor[i].ndim = ndim;
      tensor[i].address = reinterpret_cast<uint64_t>(data[i]);
      tensor[i].shape = shape[i];
      if (guf_array_wrap(&tensor[i], nullptr, nullptr, 0, &array[i], &error) != GUF_OK) {
        give_up("wrap", error);
      }
      operand[i].kind = GUF_OPERAND_ARRAY;
      operand[i].array = array[i];
    }
    args.struct_size = sizeof args;
    args.inputs = operand;
    args.ninputs = 2;
    args.outputs = operand + 2;
    args.noutputs = 1;
    args.options.threads = 1;
    run();
  }

  void use_tensors() {
    for (int i = 0; i < 3; ++i) {
      operand[i] = {};
      operand[i].kind = GUF_OPERAND_TENSOR;
      operand[i].tensor = &tensor[i];
    }
  }

  void run() {
    if (guf_call(add, &args, &error) != GUF_OK) give_up("guf_call", error);
  }
};

// Counts the allocations in the timed loop and reports the number with the time.
class Counted {
 public:
  explicit Counted(benchmark::State &state) : state_(state), before_(allocations.load()) {}
  ~Counted() { state_.counters["allocations"] = static_cast<double>(allocations.load() - before_); }

 private:
  benchmark::State &state_;
  uint64_t before_;
};

void call_arrays(benchmark::State &state, int32_t ndim, const int64_t *extents) {
  static AddCall *calls[4] = {};
  AddCall *&call = calls[ndim];
  if (call == nullptr || call->shape[0][0] != extents[0]) call = new AddCall(ndim, extents);
  const Counted counted(state);
  for (auto _ : state) call->run();
}

const int64_t kOne[] = {1};
const int64_t kSmall[] = {8, 8, 4};

void call_one(benchmark::State &state) {
  call_arrays(state, 1, kOne);
}
void call_three_dimensions(benchmark::State &state) {
  call_arrays(state, 3, kSmall);
}

void call_tensors(benchmark::State &state) {
  static AddCall *const call = new AddCall(1, kOne);
  call->use_tensors();
  const Counted counted(state);
  for (auto _ : state) call->run();
}

// Cycles through shapes, so that consecutive calls always have different shapes.
struct Shapes {
  static constexpr size_t kCount = 105;
  int64_t extents[kCount][3];
  int64_t row[kCount][3];

  Shapes() {
    for (size_t k = 0; k < kCount; ++k) {
      const auto n = static_cast<int64_t>(k);
      extents[k][0] = 1 + n % 3;
      extents[k][1] = 1 + n % 5;
      extents[k][2] = row[k][2] = 1 + n % 7;
      row[k][0] = row[k][1] = 1;
    }
  }
};

// Measures calls with changing shapes. If `stretched` is true, the second input is one row, which
// is broadcast.
void call_shapes(benchmark::State &state, bool stretched) {
  static Shapes *const shapes = new Shapes;
  const int64_t start[] = {1, 1, 1};
  static AddCall *const call = new AddCall(3, start);
  call->use_tensors();
  size_t k = 0;
  const Counted counted(state);
  for (auto _ : state) {
    k = k + 1 == Shapes::kCount ? 0 : k + 1;
    for (guf_tensor &tensor : call->tensor) tensor.shape = shapes->extents[k];
    if (stretched) call->tensor[1].shape = shapes->row[k];
    call->run();
  }
}

void call_new_shape(benchmark::State &state) {
  call_shapes(state, false);
}
void call_new_stretched_shape(benchmark::State &state) {
  call_shapes(state, true);
}

// Measures guf_resolve on dtypes for which an earlier call has already chosen the loop.
void resolve_known(benchmark::State &state) {
  static AddCall *const call = new AddCall(3, kSmall);
  static guf_resolution resolution = {};
  guf_request request = {};
  request.struct_size = sizeof request;
  request.operation = GUF_OPERATION_CALL;
  request.call = &call->args;
  resolution.struct_size = sizeof resolution;
  const Counted counted(state);
  for (auto _ : state) {
    if (guf_resolve(call->add, &request, &resolution, &call->error) != GUF_OK) {
      give_up("guf_resolve", call->error);
    }
    benchmark::DoNotOptimize(resolution);
  }
}

void launch_plan(benchmark::State &state) {
  static AddCall *const call = new AddCall(1, kOne);
  static guf_plan plan = nullptr;
  if (plan == nullptr && guf_plan_create(call->add, &call->args, &plan, &call->error) != GUF_OK) {
    give_up("guf_plan_create", call->error);
  }
  const uint64_t addresses[3] = {call->tensor[0].address, call->tensor[1].address,
                                 call->tensor[2].address};
  const Counted counted(state);
  for (auto _ : state) {
    if (guf_plan_launch(plan, nullptr, 3, addresses, 0, &call->error) != GUF_OK) {
      give_up("guf_plan_launch", call->error);
    }
  }
}

void create_plan(benchmark::State &state) {
  static AddCall *const call = new AddCall(1, kOne);
  for (auto _ : state) {
    guf_plan plan = nullptr;
    if (guf_plan_create(call->add, &call->args, &plan, &call->error) != GUF_OK) {
      give_up("guf_plan_create", call->error);
    }
    guf_plan_release(plan, nullptr);
  }
}

// Measures a tiled traversal, which needs cached scratch memory: 260 x 260 elements with a result
// in Fortran order.
void launch_tiles(benchmark::State &state) {
  constexpr int64_t kSide = 260;
  static float data[3][kSide * kSide] = {};
  static const int64_t shape[] = {kSide, kSide}, fortran[] = {4, 4 * kSide};
  static AddCall *const call = new AddCall(1, kOne);
  static guf_plan plan = nullptr;
  uint64_t addresses[3];
  call->use_tensors();
  for (int i = 0; i < 3; ++i) {
    guf_tensor &tensor = call->tensor[i];
    tensor.ndim = 2;
    tensor.shape = shape;
    tensor.strides = i == 2 ? fortran : nullptr;
    tensor.address = addresses[i] = reinterpret_cast<uint64_t>(data[i]);
  }
  if (plan == nullptr && guf_plan_create(call->add, &call->args, &plan, &call->error) != GUF_OK) {
    give_up("guf_plan_create", call->error);
  }
  call->run();
  const Counted counted(state);
  for (auto _ : state) {
    if (guf_plan_launch(plan, nullptr, 3, addresses, 0, &call->error) != GUF_OK) {
      give_up("guf_plan_launch", call->error);
    }
  }
}

constexpr char kProgram[] =
    "import sys, time\n"
    "import numpy as np\n"
    "a, b, out = (np.ones(1, np.float32) for _ in range(3))\n"
    "add, clock = np.add, time.perf_counter\n"
    "for line in sys.stdin:\n"
    "    start = clock()\n"
    "    for _ in range(int(line)):\n"
    "        add(a, b, out)\n"
    "    print(clock() - start, flush=True)\n";

// A Python process that measures NumPy on request, so that NumPy and the library are measured in
// the same run.
class NumpyChild {
 public:
  NumpyChild();
  NumpyChild(const NumpyChild &) = delete;
  NumpyChild &operator=(const NumpyChild &) = delete;

  // Returns the duration in seconds of `calls` calls of np.add(a, b, out) on one f32 element, or a
  // negative number if NumPy is missing.
  double time(int calls);

 private:
  FILE *to_ = nullptr;
  FILE *from_ = nullptr;
};

NumpyChild::NumpyChild() {
  const char *python = std::getenv("GUFUNC_BENCH_PYTHON");
  int down[2];
  int up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return;
  // A write to a child that failed to start must not end this process. time() reports the failure.
  std::signal(SIGPIPE, SIG_IGN);
  if (fork() == 0) {
    dup2(down[0], 0);
    dup2(up[1], 1);
    close(down[1]);
    close(up[0]);
    if (python == nullptr) python = GUFUNC_BENCH_DEFAULT_PYTHON;
    execlp(python, python, "-c", kProgram, nullptr);  // argv[0] selects the virtual environment
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
}

double NumpyChild::time(int calls) {
  double seconds = -1;
  if (to_ == nullptr || from_ == nullptr) return seconds;
  std::fprintf(to_, "%d\n", calls);
  std::fflush(to_);
  return std::fscanf(from_, "%lf", &seconds) == 1 ? seconds : -1;
}

// Measures one call of NumPy per iteration in the child process: np.add(a, b, out) with n = 1.
void call_numpy(benchmark::State &state) {
  static NumpyChild *const child = new NumpyChild;
  constexpr int kCalls = 2000;
  for (auto _ : state) {
    const double seconds = child->time(kCalls);
    if (seconds < 0) {
      state.SkipWithError("no NumPy: run script/setup, or set GUFUNC_BENCH_PYTHON");
      return;
    }
    state.SetIterationTime(seconds / kCalls);
  }
}

BENCHMARK(call_one)->Name("guf_call/add_f32/n1");
BENCHMARK(call_tensors)->Name("guf_call/add_f32/n1_tensors");
BENCHMARK(call_three_dimensions)->Name("guf_call/add_f32/8x8x4");
BENCHMARK(call_new_shape)->Name("guf_call/add_f32/never_seen_shape");
BENCHMARK(call_new_stretched_shape)->Name("guf_call/add_f32/never_seen_shape_stretched_row");
BENCHMARK(resolve_known)->Name("guf_resolve/add_f32/8x8x4");
BENCHMARK(create_plan)->Name("guf_plan_create/add_f32/n1");
BENCHMARK(launch_plan)->Name("guf_plan_launch/add_f32/n1");
BENCHMARK(launch_tiles)->Name("guf_plan_launch/add_f32/260x260_to_fortran");
BENCHMARK(call_numpy)->Name("numpy/add_f32/n1")->UseManualTime()->Iterations(50);

}  // namespace
}  // namespace gufunc::bench

BENCHMARK_MAIN();

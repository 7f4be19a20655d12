// SPDX-License-Identifier: Apache-2.0
// Scenarios that load images and launch kernels.
#include <cstring>

#include "tests/gpu/fault_scenarios.h"
#include "tests/gpu/small_module.h"

namespace gufunc::gpu_test {
namespace {

constexpr int64_t kItems = 40;
constexpr uint64_t kBytes = kItems * sizeof(double);

class RunModule {
 public:
  RunModule(Trial &run, void *device, const guf_module_image &image) : run_(run), device_(device) {
    status_ = GUF_TEST_CALL(run, device, module_load, device, &image, &module_);
  }
  ~RunModule() {
    if (module_ != nullptr) GUF_TEST_CLOSE(run_, device_, module_unload, module_);
  }
  RunModule(const RunModule &) = delete;
  RunModule &operator=(const RunModule &) = delete;
  guf_status status() const { return status_; }
  void *kernel(const char *stem) {
    void *kernel = nullptr;
    GUF_TEST_CALL(run_, device_, kernel_get, module_, 0, stem, &kernel);
    return kernel;
  }

 private:
  Trial &run_;
  void *device_, *module_ = nullptr;
  guf_status status_;
};

const guf_module_image &own_image() {
  static const guf_module_image none = {};
  const guf_module_image *const image = small_image(is_cuda() ? "sm_90" : "gfx942");
  return image == nullptr ? none : *image;
}

// Owns a module, a stream, and memory for four operands.
class Bench {
 public:
  Bench(Trial &run, void *device)
      : run_(run),
        device_(device),
        module_(run, device, own_image()),
        stream_(run, device),
        memory_(run, device, 4 * kBytes, GUF_MEMORY_DEVICE, stream_.get()) {}

  bool ready() const {
    return module_.status() == GUF_OK && stream_.status() == GUF_OK && memory_.status() == GUF_OK;
  }
  uint64_t address(int part) const { return memory_.get() + static_cast<uint64_t>(part) * kBytes; }
  void *stream() const { return stream_.get(); }
  void *kernel(const char *stem) { return module_.kernel(stem); }

  guf_status zero() {
    static constexpr unsigned char kZero[] = {0};
    return GUF_TEST_CALL(run_, device_, fill, device_, stream(), address(0), kZero, 1, 4 * kBytes);
  }
  guf_status launch(const guf_backend_launch &launch) {
    return GUF_TEST_CALL(run_, device_, launch, device_, &launch);
  }
  guf_status method(const guf_backend_method &method) {
    return GUF_TEST_CALL(run_, device_, method, device_, &method);
  }
  guf_status wait() { return wait_for(run_, device_, stream()); }

 private:
  Trial &run_;
  void *device_;
  RunModule module_;
  RunStream stream_;
  RunMemory memory_;
};

// Makes a Bench and loads the kernel `stem`. Then calls `body(bench, device, kernel)`.
template <class F>
void with_kernel(Trial &run, const char *stem, F body) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  Bench bench(run, device.get());
  if (!bench.ready() || bench.zero() != GUF_OK) return;
  void *const kernel = bench.kernel(stem);
  if (kernel != nullptr) body(bench, device.get(), kernel);
}
template <class F>
void on_bench(Trial &run, const char *function, F body) {
  with_kernel(run, small_stem(function), body);
}

void load_every_image(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  for (const PlainImage &one : small_images()) {
    int32_t score = 0;
    run.close("image_score", owner, [&] { score = plugin().image_score(owner, &one.image); });
    if (score == 0) continue;
    RunModule module(run, owner, one.image);
    GUF_TEST_TRY(module.status());
    if (module.kernel(small_stem("plus")) == nullptr) return;
  }
}

// Launches a kernel on three contiguous operands, and again with a scalar in host memory as the
// second input.
void launch_elementwise(Trial &run) {
  on_bench(run, "plus", [&](Bench &bench, void *, void *kernel) {
    guf_launch_block block =
        row_block({bench.address(0), bench.address(1), bench.address(2)}, 2, kItems);
    GUF_TEST_TRY(bench.launch(launch_of(kernel, bench.stream(), block)));
    const double two = 2;
    block.address[1] = reinterpret_cast<uint64_t>(&two);
    block.step[1] = 0;
    block.operand_flags[1] |= GUF_LAUNCH_OPERAND_IMMEDIATE;
    GUF_TEST_TRY(bench.launch(launch_of(kernel, bench.stream(), block)));
    bench.wait();
  });
}

// Launches a kernel with a datetime operand. No kernel casts datetime values, so the operand is
// staged.
void launch_converted(Trial &run) {
  on_bench(run, "plus", [&](Bench &bench, void *, void *kernel) {
    guf_launch_block block =
        row_block({bench.address(0), bench.address(1), bench.address(2)}, 2, kItems);
    block.dtype[0] = 0x81u | uint32_t{GUF_UNIT_SECOND} << 8 | 1u << 16;
    block.flags |= GUF_LAUNCH_CAST;
    GUF_TEST_TRY(bench.launch(launch_of(kernel, bench.stream(), block)));
    bench.wait();
  });
}

// Launches kernels with status words: one launch checks floating-point flags, and the other launch
// has a loop that can fail.
void launch_with_fp_status(Trial &run) {
  on_bench(run, "ratio", [&](Bench &bench, void *, void *kernel) {
    const guf_launch_block block =
        row_block({bench.address(0), bench.address(1), bench.address(2)}, 2, kItems);
    uint32_t fp_flags = 0;
    guf_fp_status fp_status = {"ratio", GUF_FUNCTION_DIVIDES, GUF_FP_INVALID, 0, 0, &fp_flags};
    guf_backend_launch launch = launch_of(kernel, bench.stream(), block);
    launch.fp_status = &fp_status;
    const guf_status queued = bench.launch(launch);
    const guf_status done = bench.wait();  // from here on, no work writes to `fp_flags`
    if (queued == GUF_OK && done == GUF_OK) {
      EXPECT_EQ(fp_flags, uint32_t{GUF_FP_INVALID});
    }
  });
}

// Captures a fallible loop twice, once for each of two graphs, and updates the first graph with the
// work of the second. Every run of a graph is checked for failures.
void capture_what_may_fail(Trial &run) {
  on_bench(run, "checked", [&](Bench &bench, void *device, void *kernel) {
    guf_launch_block block = row_block({bench.address(0), bench.address(1)}, 1, kItems);
    block.flags |= GUF_LAUNCH_STATUS;
    const guf_backend_launch launch = launch_of(kernel, bench.stream(), block);
    void *graphs[2] = {};
    guf_status status = GUF_OK;
    for (void *&graph : graphs) {
      if (status != GUF_OK) break;
      status = GUF_TEST_GPU_CALL(run, device, capture_begin, device, bench.stream(),
                                 GUF_GPU_CAPTURE_THREAD);
      if (status != GUF_OK) break;
      const guf_status queued = bench.launch(launch);
      status = GUF_TEST_GPU_CALL(run, device, capture_end, device, bench.stream(), &graph);
      if (status == GUF_OK) status = queued;
    }
    for (int i = 0; i < 3 && status == GUF_OK; ++i) {
      if (i == 2) status = GUF_TEST_GPU_CALL(run, device, graph_update, graphs[0], graphs[1]);
      if (status != GUF_OK) break;
      status = GUF_TEST_GPU_CALL(run, device, graph_launch, graphs[0], bench.stream());
    }
    bench.wait();
    for (void *const graph : graphs) {
      if (graph == nullptr) continue;
      run.close("graph_destroy", device, [&] { gpu_extension().graph_destroy(graph); });
    }
  });
}

void launch_generalized(Trial &run) {
  on_bench(run, "dot", [&](Bench &bench, void *device, void *kernel) {
    const guf_launch_block block =
        dot_block(bench.address(0), bench.address(1), bench.address(2), 4, kItems / 4);
    const guf_backend_launch launch = launch_of(kernel, bench.stream(), block);
    char text[400] = "";
    GUF_TEST_TRY(GUF_TEST_CALL(run, device, describe_launch, device, &launch, text, sizeof(text)));
    GUF_TEST_TRY(bench.launch(launch));
    bench.wait();
  });
}

void run_methods(Trial &run) {
  on_bench(run, "plus", [&](Bench &bench, void *device, void *kernel) {
    static constexpr int64_t kIndices[] = {0, 8, 24};
    for (const int32_t number :
         {GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE, GUF_METHOD_REDUCEAT, GUF_METHOD_AT}) {
      guf_method_block block = fold_block(number, bench.address(0), bench.address(1), kItems);
      if (number == GUF_METHOD_REDUCEAT || number == GUF_METHOD_AT) {
        block.indices = block.operand_indices = kIndices;
        block.nindices = 3;
      }
      const guf_backend_method method = method_of(kernel, bench.stream(), block);
      char text[400] = "";
      GUF_TEST_TRY(
          GUF_TEST_CALL(run, device, describe_method, device, &method, text, sizeof(text)));
      GUF_TEST_TRY(bench.method(method));
    }
    bench.wait();
  });
}

// Runs a method that checks floating-point flags and uses scratch memory.
void run_method_with_fp_status(Trial &run) {
  on_bench(run, "plus", [&](Bench &bench, void *, void *kernel) {
    guf_method_block block =
        fold_block(GUF_METHOD_REDUCE, bench.address(0), bench.address(1), kItems);
    block.output_dtype = GUF_F32;
    guf_fp_status fp_status = {"plus", 0, 0, GUF_FP_OVERFLOW, 0, nullptr};
    guf_backend_method method = method_of(kernel, bench.stream(), block);
    method.fp_status = &fp_status;
    bench.method(method);
    bench.wait();
  });
}

void launch_a_raw_kernel(Trial &run) {
  with_kernel(run, small_raw_kernel().symbol, [&](Bench &bench, void *device, void *kernel) {
    guf_backend_kernel_limits limits = {};
    limits.struct_size = sizeof(limits);
    GUF_TEST_TRY(GUF_TEST_KERNEL_CALL(run, device, kernel_limits, device, kernel, &limits));
    const DoubledArguments arguments = {{{1, 1, 1}, {64, 1, 1}, 0, 0}, bench.address(0), kItems};
    const guf_backend_kernel_launch launch = {sizeof(guf_backend_kernel_launch),
                                              0,
                                              kernel,
                                              bench.stream(),
                                              "doubled",
                                              {1, 1, 1},
                                              {64, 1, 1},
                                              0,
                                              sizeof(arguments),
                                              &arguments};
    GUF_TEST_TRY(GUF_TEST_KERNEL_CALL(run, device, kernel_launch, device, &launch));
    bench.wait();
  });
}

// Converts elements between dtypes and between strides.
void convert_elements(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, 4 * kBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  guf_launch_block block = row_block({there.get(), there.get() + 2 * kBytes}, 1, kItems);
  block.step[0] = 2 * sizeof(double);
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, convert, owner, stream.get(), &block));
  block.dtype[1] = GUF_F32;
  block.step[1] = sizeof(float);
  block.flags |= GUF_LAUNCH_CAST;
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, convert, owner, stream.get(), &block));
  const double one = 1;
  block.address[0] = reinterpret_cast<uint64_t>(&one);
  block.step[0] = 0;
  block.step[1] = 2 * sizeof(float);
  block.operand_flags[0] |= GUF_LAUNCH_OPERAND_IMMEDIATE;
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, convert, owner, stream.get(), &block));
  wait_for(run, owner, stream.get());
}

}  // namespace

std::vector<Scenario> kernel_scenarios() {
  return {{"load every image", load_every_image},
          {"launch elementwise", launch_elementwise},
          {"launch converted", launch_converted},
          {"launch with floating-point flags", launch_with_fp_status},
          {"launch generalized", launch_generalized},
          {"run methods", run_methods},
          {"run a method with floating-point flags", run_method_with_fp_status},
          {"convert elements", convert_elements},
          {"launch a raw kernel", launch_a_raw_kernel},
          {"capture what may fail", capture_what_may_fail}};
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all = memory_scenarios();
  for (const auto &more : {stream_scenarios(), kernel_scenarios()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace gufunc::gpu_test

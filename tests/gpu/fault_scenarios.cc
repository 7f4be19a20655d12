// SPDX-License-Identifier: Apache-2.0
// The scenarios use memory of every kind, copies in every direction, fills, streams, events and
// graphs. They start and shut down the plugin, load images and launch kernels.
#include "tests/gpu/fault_scenarios.h"

#include <cstring>

#include "tests/gpu/small_module.h"

namespace gufunc::gpu_test {
namespace {

constexpr uint64_t kMemoryBytes = 4096;

unsigned char *host_bytes() {
  static unsigned char bytes[2 * kMemoryBytes];
  return bytes;
}
uint64_t host_address() {
  return reinterpret_cast<uint64_t>(host_bytes());
}

void allocate_every_kind(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  for (const int32_t kind :
       {GUF_MEMORY_DEVICE, GUF_MEMORY_PINNED, GUF_MEMORY_MAPPED, GUF_MEMORY_MANAGED}) {
    const RunMemory any_stream(run, owner, kMemoryBytes, kind);
    GUF_TEST_TRY(any_stream.status());
    const RunMemory streams(run, owner, kMemoryBytes, kind, stream.get());
    GUF_TEST_TRY(streams.status());
  }
}

// Frees memory on one stream, so that another stream can reuse it, and then returns cached memory
// to the driver.
void pass_memory_on(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  RunStream first(run, owner);
  GUF_TEST_TRY(first.status());
  const RunStream second(run, owner);
  GUF_TEST_TRY(second.status());
  for (int round = 0; round < 2; ++round) {
    RunMemory small(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, first.get());
    GUF_TEST_TRY(small.status());
    small.free();
    // This block has the same size class as the block that the first stream has freed. The freed
    // block waits for a fence, so a later allocation reuses it.
    RunMemory same(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, second.get());
    GUF_TEST_TRY(same.status());
  }
  RunMemory large(run, owner, uint64_t{80} << 20, GUF_MEMORY_DEVICE, first.get());
  GUF_TEST_TRY(large.status());
  large.free();
  first.close();
  for (const int32_t kind : {GUF_MEMORY_DEVICE, GUF_MEMORY_PINNED}) {
    GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_trim, owner, kind, 0));
  }
}

void run_out_of_memory(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  {
    const RunMemory some(run, owner, uint64_t{1} << 20);
    GUF_TEST_TRY(some.status());
  }
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_limit, owner, GUF_MEMORY_DEVICE, 3 << 19));
  const RunMemory more(run, owner, uint64_t{5} << 18);  // requires that cached memory is freed
  GUF_TEST_TRY(more.status());
  guf_gpu_memory memory = {};
  memory.struct_size = sizeof(memory);
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_statistics, owner, GUF_MEMORY_DEVICE, &memory));
  EXPECT_EQ(memory.live_bytes, uint64_t{5} << 18);
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_limit, owner, GUF_MEMORY_DEVICE, UINT64_MAX));
}

// Copies from the host to the device, on the device, and from the device to the host. The host
// memory is pageable or page-locked, and pageable memory is staged.
void copy_all_directions(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory a(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(a.status());
  const RunMemory b(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(b.status());
  const RunMemory pinned(run, owner, kMemoryBytes, GUF_MEMORY_PINNED);
  GUF_TEST_TRY(pinned.status());
  struct Transfer {
    uint64_t to, from;
    int32_t kind;
  };
  const Transfer transfers[] = {{a.get(), host_address(), GUF_COPY_HOST_TO_DEVICE},
                                {b.get(), a.get(), GUF_COPY_DEVICE_TO_DEVICE},
                                {pinned.get(), b.get(), GUF_COPY_DEVICE_TO_HOST},
                                {host_address() + kMemoryBytes, b.get(), GUF_COPY_DEVICE_TO_HOST}};
  guf_status status = GUF_OK;
  for (const Transfer &transfer : transfers) {
    if (status != GUF_OK) break;
    status = GUF_TEST_CALL(run, owner, copy, owner, stream.get(), transfer.to, transfer.from,
                           kMemoryBytes, transfer.kind);
  }
  // Queued copies may write to host memory until wait_for returns, even if a call has failed.
  wait_for(run, owner, stream.get());
}

void register_memory(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, host_register, owner, host_address(), kMemoryBytes));
  struct Registration {
    Trial &run;
    void *owner;
    ~Registration() { GUF_TEST_GPU_CALL(run, owner, host_unregister, owner, host_address()); }
  } const registration = {run, owner};
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, copy, owner, stream.get(), there.get(), host_address(),
                             kMemoryBytes, GUF_COPY_HOST_TO_DEVICE));
  wait_for(run, owner, stream.get());
}

// Fills memory with patterns of 1, 2 and 4 bytes, which the driver writes, and with patterns of
// other sizes, which a kernel writes.
void fill_all_sizes(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kMemoryBytes);
  GUF_TEST_TRY(there.status());
  static constexpr unsigned char kPattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const uint32_t size : {1u, 2u, 4u, 3u, 8u}) {
    GUF_TEST_TRY(
        GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kPattern, size, 16));
  }
  wait_for(run, owner, stream.get());
}

void reach_a_peer(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  const RunDevice peer(run, 1);
  GUF_TEST_TRY(peer.status());
  const RunMemory here(run, device.get(), kMemoryBytes);
  GUF_TEST_TRY(here.status());
  const RunMemory there(run, peer.get(), kMemoryBytes);
  GUF_TEST_TRY(there.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_enable, owner, peer.get()));
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_enable, owner, peer.get()));
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_copy, owner, stream.get(), there.get(),
                                 peer.get(), here.get(), owner, kMemoryBytes));
  int32_t index = -1;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_device, owner, there.get(), &index));
  wait_for(run, owner, stream.get());
}

constexpr uint64_t kStreamBytes = 1024;
constexpr unsigned char kSeven[] = {7};
constexpr uint64_t kSoon = 5000000000;  // timeout in nanoseconds that is never reached

void use_streams(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  void *standing = nullptr;
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, stream_open, owner, 0, GUF_BACKEND_STREAM_DEFAULT, &standing));
  GUF_TEST_CLOSE(run, owner, stream_close, standing);
  uint64_t native = 0;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, stream_native, owner, stream.get(), &native));
  const RunStream adopted(run, owner, native);
  GUF_TEST_TRY(adopted.status());
  const RunMemory there(run, owner, kStreamBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kSeven, 1, kStreamBytes));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_synchronize, stream.get(), kSoon));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_query, stream.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_query, nullptr));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_synchronize, nullptr, UINT64_MAX));
}

// Closes a stream while it is busy. The plugin destroys the native stream later.
void close_a_busy_stream(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunMemory there(run, owner, kStreamBytes);
  GUF_TEST_TRY(there.status());
  RunStream busy(run, owner);
  GUF_TEST_TRY(busy.status());
  const RunEvent done(run, owner);
  GUF_TEST_TRY(done.status());
  guf_status status = GUF_OK;
  for (int i = 0; i < 4 && status == GUF_OK; ++i) {
    status =
        GUF_TEST_CALL(run, owner, fill, owner, busy.get(), there.get(), kSeven, 1, kStreamBytes);
  }
  if (status == GUF_OK) status = GUF_TEST_CALL(run, owner, event_record, done.get(), busy.get());
  if (status != GUF_OK) {
    wait_for(run, owner, busy.get());
    return;
  }
  busy.close();
  {
    const RunStream next(run, owner);
  }
  const auto wait = [&] {
    return GUF_TEST_CALL(run, owner, event_synchronize, done.get(), UINT64_MAX);
  };
  if (wait() != GUF_OK) wait();  // the work uses the memory, so a failed wait is repeated
}

void use_events(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kStreamBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  const RunEvent begun(run, owner);
  GUF_TEST_TRY(begun.status());
  const RunEvent done(run, owner);
  GUF_TEST_TRY(done.status());
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_record, begun.get(), stream.get()));
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kSeven, 1, kStreamBytes));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_record, done.get(), stream.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_wait_event, nullptr, done.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_synchronize, begun.get(), kSoon));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_synchronize, done.get(), UINT64_MAX));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_query, done.get()));
  double milliseconds = -1;
  GUF_TEST_TRY(
      GUF_TEST_GPU_CALL(run, owner, event_elapsed, begun.get(), done.get(), &milliseconds));
  EXPECT_GE(milliseconds, 0);
  uint64_t native = 0;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, event_native, done.get(), &native));
}

class RunGraph {
 public:
  // Captures two fills of the memory. A second block is freed during the capture, so this block
  // belongs to the graph.
  RunGraph(Trial &run, void *device, void *stream, uint64_t memory) : run_(run), device_(device) {
    RunMemory scratch(run, device, kStreamBytes, GUF_MEMORY_DEVICE, stream);
    if ((status_ = scratch.status()) != GUF_OK) return;
    status_ = GUF_TEST_GPU_CALL(run, device, capture_begin, device, stream, GUF_GPU_CAPTURE_THREAD);
    if (status_ != GUF_OK) return;
    guf_status queued = GUF_OK;
    for (const uint64_t address : {memory, scratch.get()}) {
      if (queued != GUF_OK) break;
      queued = GUF_TEST_CALL(run, device, fill, device, stream, address, kSeven, 1, kStreamBytes);
    }
    scratch.free();
    status_ = GUF_TEST_GPU_CALL(run, device, capture_end, device, stream, &graph_);
    if (status_ == GUF_OK) status_ = queued;
  }
  ~RunGraph() {
    if (graph_ == nullptr) return;
    run_.close("graph_destroy", device_, [&] { gpu_extension().graph_destroy(graph_); });
  }
  RunGraph(const RunGraph &) = delete;
  RunGraph &operator=(const RunGraph &) = delete;
  void *get() const { return graph_; }
  guf_status status() const { return status_; }

 private:
  Trial &run_;
  void *device_, *graph_ = nullptr;
  guf_status status_;
};

void capture_and_launch(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kStreamBytes);
  GUF_TEST_TRY(there.status());
  const RunGraph graph(run, owner, stream.get(), there.get());
  GUF_TEST_TRY(graph.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_instantiate, graph.get()));
  const RunGraph newer(run, owner, stream.get(), there.get());
  GUF_TEST_TRY(newer.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_update, graph.get(), newer.get()));
  for (int i = 0; i < 2; ++i) {
    GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_launch, graph.get(), stream.get()));
  }
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_launch, newer.get(), stream.get()));
  wait_for(run, owner, stream.get());
}

// Adopts a context of the program. A driver without contexts rejects the context.
void adopt_a_context(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  uint64_t native = 0;
  int32_t index = -1;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, device.get(), device_native, device.get(), &native, &index));
  if (native == 0) return;
  const RunDevice again(run, index, native);
  GUF_TEST_TRY(again.status());
}

// Calls slots that need no device, and slots that free the plugin's caches.
void begin_and_end(Trial &run) {
  const void *table = nullptr;
  GUF_TEST_CALL(run, nullptr, extension, "gufunc.gpu", GUF_GPU_EXTENSION_VERSION, &table);
  run.close("builtins", nullptr, [] { plugin().builtins(); });
  int32_t ndevices = 0;
  char driver[64] = "";
  GUF_TEST_CALL(run, nullptr, probe, &ndevices, driver, sizeof(driver));
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  {
    const RunStream stream(run, owner);
    GUF_TEST_TRY(stream.status());
    const RunMemory some(run, owner, kStreamBytes);
    GUF_TEST_TRY(some.status());
    const RunMemory pinned(run, owner, kStreamBytes, GUF_MEMORY_PINNED);
    GUF_TEST_TRY(pinned.status());
  }
  GUF_TEST_CALL(run, owner, shutdown, kSoon);
}

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

std::vector<Scenario> memory_scenarios() {
  return {{"allocate every kind", allocate_every_kind},
          {"pass memory on", pass_memory_on},
          {"run out of memory", run_out_of_memory},
          {"copy all directions", copy_all_directions},
          {"register memory", register_memory},
          {"fill all sizes", fill_all_sizes},
          {"reach a peer", reach_a_peer}};
}

std::vector<Scenario> stream_scenarios() {
  return {{"use streams", use_streams, true},   {"close a busy stream", close_a_busy_stream},
          {"use events", use_events},           {"capture and launch", capture_and_launch},
          {"adopt a context", adopt_a_context}, {"begin and end", begin_and_end, true}};
}

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

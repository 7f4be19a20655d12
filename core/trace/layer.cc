// SPDX-License-Identifier: Apache-2.0
// Wrapper slots that measure the plugin's own slots. A slot is a plain function without a context
// argument, so each backend number has its own set of wrapper functions. Also computes the sizes of
// launches, and stores the names of kernels.
#include "core/trace/layer.h"

#include <gufunc/backend_gpu.h>
#include <gufunc/backend_kernels.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/log.h"
#include "core/dtype/dtype.h"
#include "core/trace/recorder.h"

namespace gufunc::trace {
namespace {

// Returns the number of distinct elements along a dimension: 1 if the operand is broadcast.
uint64_t extent(int64_t size, int64_t step) {
  return step == 0 ? 1 : static_cast<uint64_t>(size);
}

uint64_t loop_elements(const guf_launch_block &block, int32_t operand) {
  uint64_t elements = 1;
  if (block.nloop > 0) elements = extent(block.size[0], block.step[operand]);
  for (int32_t d = 1; d < block.nloop; ++d) {
    elements *= extent(block.outer_size[d - 1], block.outer_step[d - 1][operand]);
  }
  return elements;
}

uint64_t mask_elements(const guf_launch_block &block) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nloop; ++d) {
    elements *= extent(d == 0 ? block.size[0] : block.outer_size[d - 1], block.mask_step[d]);
  }
  return elements;
}

// Returns how often each element of an operand is accessed: 1 if it is read or written, 2 for both.
uint64_t passes(const guf_launch_block &block, int32_t operand) {
  const uint32_t flags = block.operand_flags[operand];
  const bool reads = operand < block.nin || (flags & GUF_LAUNCH_OPERAND_READ) != 0;
  const bool writes = operand >= block.nin || (flags & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
  return (reads ? 1 : 0) + (writes ? 1 : 0);
}

uint64_t kept_elements(const guf_method_block &block, const int64_t *steps) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nkept; ++d) elements *= extent(block.kept_size[d], steps[d]);
  return elements;
}

uint64_t reduced_elements(const guf_method_block &block) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < block.nfold; ++d) elements *= static_cast<uint64_t>(block.fold_size[d]);
  return elements;
}

// A hash table of kernel names. A name is added when the kernel is first requested. Every traced
// launch reads the table, without a lock.

// Never freed, because readers may still use a name that was replaced.
struct Name {
  const Name *older;
  char text[sizeof(guf_trace_work::name)];
};

struct Entry {
  std::atomic<const void *> kernel{nullptr};
  std::atomic<const Name *> name{nullptr};
};

constexpr size_t kEntries = 4096;
constinit Entry entries[kEntries];
constinit base::ForkLock naming_lock;

// Returns the kernel's entry, or an unused entry, or nullptr if the table is full.
Entry *find_entry(const void *kernel) {
  const size_t start = (reinterpret_cast<uintptr_t>(kernel) >> 4) * 0x9E3779B97F4A7C15U >> 40;
  for (size_t i = 0; i < kEntries; ++i) {
    Entry &entry = entries[(start + i) % kEntries];
    const void *const found = entry.kernel.load(std::memory_order_acquire);
    if (found == kernel || found == nullptr) return &entry;
  }
  return nullptr;
}

struct Layer {
  const char *name;
  guf_backend_api api;  // the plugin's own slots
  std::atomic<const guf_trace_api *> trace{nullptr};
  guf_trace_sink sink;
  std::array<std::atomic<void *>, kMaxTracedDevices> devices{};
  guf_gpu_api gpu;  // a copy of own_gpu with slots of this layer
  std::atomic<const guf_gpu_api *> own_gpu{nullptr};
  guf_kernels_api kernels;  // a copy of own_kernels with slots of this layer
  std::atomic<const guf_kernels_api *> own_kernels{nullptr};
};

constinit Layer layers[kMaxBackends] = {};
constinit std::atomic<int32_t> nlayers{0};

int32_t index_of(const Layer &layer, const void *device) {
  for (int32_t i = 0; i < kMaxTracedDevices; ++i) {
    if (layer.devices[static_cast<size_t>(i)].load(std::memory_order_acquire) == device) return i;
  }
  return -1;
}

// Records the start and end of one slot call.
class TracedCall {
 public:
  TracedCall(int32_t backend, int32_t kind, const void *device, const void *stream)
      : record_{{}, backend, GUF_OK, false, reinterpret_cast<uint64_t>(stream)} {
    guf_trace_work &work = record_.work;
    work.struct_size = sizeof work;
    work.kind = kind;
    work.device = device == nullptr ? -1 : index_of(layers[backend], device);
    work.thread = current_thread();
    work.chunk = current_chunk;
    work.call = next_call();
  }
  TracedCall(const TracedCall &) = delete;
  TracedCall &operator=(const TracedCall &) = delete;

  guf_trace_work &work() { return record_.work; }
  [[gnu::format(printf, 2, 3)]] void name(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(record_.work.name, sizeof record_.work.name, format, arguments);
    va_end(arguments);
  }

  template <class Slot>
  guf_status run(Slot slot) {
    Current here = {record_.work, current};
    current = &here;
    record_.work.begin_ns = now_ns();
    record_.status = slot();
    record_.work.end_ns = now_ns();
    current = here.outer;
    if (on()) put(record_);
    return record_.status;
  }

 private:
  Record record_;
};

const char *name_of(const void *kernel) {
  const char *const name = kernel_name(kernel);
  return name == nullptr ? "kernel" : name;
}

const char *method_name(int32_t method) {
  static constexpr const char *kNames[] = {"method", "reduce", "accumulate", "reduceat", "at"};
  return method > 0 && method <= GUF_METHOD_AT ? kNames[method] : kNames[0];
}

const char *dtype_name(guf_dtype dtype) {
  const char *const name = dtype::name(dtype);
  return name == nullptr ? "?" : name;
}

void copy_grid(const guf_trace_work &call, guf_trace_work *work) {
  work->flags |= GUF_TRACE_GRID;
  std::copy_n(call.grid, 3, work->grid);
  std::copy_n(call.block, 3, work->block);
  work->shared_bytes = call.shared_bytes;
}

void queued(void *, guf_trace_work *work) {
  if (!on()) return;
  work->queued_ns = now_ns();
  work->thread = current_thread();
  work->chunk = current_chunk;
  if (current == nullptr) return;
  const guf_trace_work &call = current->call;
  work->call = call.call;
  work->items = call.items;
  if (work->kind == 0) {
    work->kind = call.kind;
    work->direction = call.direction;
    if ((call.flags & GUF_TRACE_GRID) != 0) copy_grid(call, work);
  }
  if (work->bytes == 0) work->bytes = call.bytes;
  if (work->name[0] == '\0') std::memcpy(work->name, call.name, sizeof work->name);
}

int32_t number_of(const void *context) {
  return static_cast<int32_t>(static_cast<const Layer *>(context) - layers);
}

void done(void *context, const guf_trace_work *work) {
  if (!on()) return;
  Record record = {};
  std::memcpy(&record.work, work, std::min<size_t>(work->struct_size, sizeof record.work));
  record.backend = number_of(context);
  record.on_stream = true;
  put(record);
}

void unreported(void *context, int32_t device) {
  if (on()) count_unreported(number_of(context), device);
}

template <int32_t N>
struct Slots {
  static Layer &layer() { return layers[N]; }

  static guf_status device_open(int32_t index, uint64_t native, void **out_device,
                                guf_backend_device_info *out_info, guf_error *error) {
    GUF_TRY(layer().api.device_open(index, native, out_device, out_info, error));
    if (index >= 0 && index < kMaxTracedDevices) {
      layer().devices[static_cast<size_t>(index)].store(*out_device, std::memory_order_release);
    }
    return GUF_OK;
  }

  static guf_status launch(void *device, const guf_backend_launch *launch, guf_error *error) {
    const auto run = [&] { return layer().api.launch(device, launch, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_LAUNCH, device, launch->stream);
    call.work().items = launch->block->items;
    call.work().bytes = bytes_of(*launch->block);
    call.name("%s", name_of(launch->kernel));
    return call.run(run);
  }

  static guf_status method(void *device, const guf_backend_method *method, guf_error *error) {
    const auto run = [&] { return layer().api.method(device, method, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_METHOD, device, method->stream);
    call.work().items = items_of(*method->block);
    call.work().bytes = bytes_of(*method->block);
    call.name("%s: %s", method_name(method->block->method), name_of(method->kernel));
    return call.run(run);
  }

  static guf_status convert(void *device, void *stream, const guf_launch_block *block,
                            guf_error *error) {
    const auto run = [&] { return layer().api.convert(device, stream, block, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_CONVERT, device, stream);
    call.work().items = block->items;
    call.work().bytes = bytes_of(*block);
    call.name("convert %s to %s", dtype_name(block->dtype[0]), dtype_name(block->dtype[1]));
    return call.run(run);
  }

  static guf_status copy(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t size,
                         int32_t kind, guf_error *error) {
    const auto run = [&] { return layer().api.copy(device, stream, dst, src, size, kind, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_COPY, device, stream);
    call.work().bytes = size;
    call.work().direction = kind;
    call.name("copy %s", kind == GUF_COPY_HOST_TO_DEVICE   ? "H2D"
                         : kind == GUF_COPY_DEVICE_TO_HOST ? "D2H"
                                                           : "D2D");
    return call.run(run);
  }

  static guf_status fill(void *device, void *stream, uint64_t dst, const void *pattern,
                         uint32_t pattern_size, uint64_t count, guf_error *error) {
    const auto run = [&] {
      return layer().api.fill(device, stream, dst, pattern, pattern_size, count, error);
    };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_FILL, device, stream);
    call.work().items = count;
    call.work().bytes = count * pattern_size;
    call.name("fill");
    return call.run(run);
  }

  static guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error) {
    const auto run = [&] { return layer().api.stream_synchronize(stream, timeout_ns, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_WAIT, nullptr, stream);
    call.name("stream_synchronize");
    return call.run(run);
  }

  static guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error) {
    const auto run = [&] { return layer().api.event_synchronize(event, timeout_ns, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_WAIT, nullptr, nullptr);
    call.name("event_synchronize");
    return call.run(run);
  }

  static guf_status stream_wait_event(void *stream, void *event, guf_error *error) {
    const auto run = [&] { return layer().api.stream_wait_event(stream, event, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_WAIT, nullptr, stream);
    call.name("stream_wait_event");
    return call.run(run);
  }

  static guf_status module_load(void *device, const guf_module_image *image, void **out_module,
                                guf_error *error) {
    const auto run = [&] { return layer().api.module_load(device, image, out_module, error); };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_OTHER, device, nullptr);
    call.work().bytes = image->size;
    call.name("module_load %s", image->target == nullptr ? "" : image->target);
    return call.run(run);
  }

  static guf_status graph_launch(void *graph, void *stream, guf_error *error) {
    const auto run = [&] {
      return layer().own_gpu.load(std::memory_order_acquire)->graph_launch(graph, stream, error);
    };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_GRAPH, nullptr, stream);
    call.name("graph");
    return call.run(run);
  }

  static guf_status peer_copy(void *device, void *stream, uint64_t dst, void *dst_device,
                              uint64_t src, void *src_device, uint64_t size, guf_error *error) {
    const auto run = [&] {
      return layer()
          .own_gpu.load(std::memory_order_acquire)
          ->peer_copy(device, stream, dst, dst_device, src, src_device, size, error);
    };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_COPY, device, stream);
    call.work().bytes = size;
    call.work().direction = GUF_COPY_DEVICE_TO_DEVICE;
    call.work().flags = GUF_TRACE_PEER;
    call.name("copy peer");
    return call.run(run);
  }

  static guf_status kernel_launch(void *device, const guf_backend_kernel_launch *launch,
                                  guf_error *error) {
    const auto run = [&] {
      return layer()
          .own_kernels.load(std::memory_order_acquire)
          ->kernel_launch(device, launch, error);
    };
    if (!on()) return run();
    TracedCall call(N, GUF_TRACE_LAUNCH, device, launch->stream);
    guf_trace_work &work = call.work();
    work.flags = GUF_TRACE_GRID;
    work.items = 1;
    for (int i = 0; i < 3; ++i) {
      work.grid[i] = launch->grid[i];
      work.block[i] = launch->block[i];
      work.items *= uint64_t{launch->grid[i]} * launch->block[i];
    }
    work.shared_bytes = launch->shared_bytes;
    call.name("%s", launch->name);
    return call.run(run);
  }

  // Stores the plugin's table in `own`, and sets `*table` to a copy that contains slots of this
  // layer. The longer table of a newer plugin is truncated, because the core does not use the
  // additional slots.
  template <class Table, class Put>
  static void replace(std::atomic<const Table *> &own, Table &ours, const void **table, Put put) {
    const auto *const given = static_cast<const Table *>(*table);
    if (given == nullptr || given->struct_size < sizeof(Table)) return;
    static constinit base::ForkLock lock;
    const std::lock_guard<base::ForkLock> hold(lock);
    if (own.load(std::memory_order_relaxed) == nullptr) {
      ours = *given;
      ours.struct_size = sizeof(Table);
      put();
      own.store(given, std::memory_order_release);
    }
    *table = &ours;
  }

  static guf_status extension(const char *name, uint32_t version, const void **out_table,
                              guf_error *error) {
    GUF_TRY(layer().api.extension(name, version, out_table, error));
    if (std::strcmp(name, "gufunc.gpu") == 0) {
      replace(layer().own_gpu, layer().gpu, out_table, [] {
        layer().gpu.graph_launch = graph_launch;
        layer().gpu.peer_copy = peer_copy;
      });
    } else if (std::strcmp(name, "gufunc.kernels") == 0) {
      replace(layer().own_kernels, layer().kernels, out_table,
              [] { layer().kernels.kernel_launch = kernel_launch; });
    }
    return GUF_OK;
  }

  static void put_before(guf_backend_api *api) {
    api->device_open = device_open;
    api->launch = launch;
    api->method = method;
    api->convert = convert;
    api->copy = copy;
    api->fill = fill;
    api->stream_synchronize = stream_synchronize;
    api->event_synchronize = event_synchronize;
    api->stream_wait_event = stream_wait_event;
    api->module_load = module_load;
    api->extension = extension;
  }
};

using PutBefore = void (*)(guf_backend_api *);
template <int32_t... N>
constexpr std::array<PutBefore, sizeof...(N)> all_slots(std::integer_sequence<int32_t, N...>) {
  return {Slots<N>::put_before...};
}
constexpr auto kPutBefore = all_slots(std::make_integer_sequence<int32_t, kMaxBackends>{});

void start_plugin(Layer &layer) {
  const void *found = nullptr;
  guf_error nobody = {};
  nobody.struct_size = sizeof nobody;
  const guf_status status =
      layer.api.extension("gufunc.trace", GUF_TRACE_EXTENSION_VERSION, &found, &nobody);
  const auto *const table = static_cast<const guf_trace_api *>(found);
  if (status != GUF_OK || table == nullptr || table->struct_size < sizeof(guf_trace_api)) return;
  layer.sink = {sizeof layer.sink, 0, &layer, queued, done, unreported};
  table->start(&layer.sink);
  layer.trace.store(table, std::memory_order_release);
}

}  // namespace

uint64_t bytes_of(const guf_launch_block &block) {
  uint64_t bytes = 0;
  int32_t core = 0;  // index of the core stride; core strides are stored by operand
  for (int32_t i = 0; i < block.noperands; ++i) {
    uint64_t elements = loop_elements(block, i);
    for (int32_t k = 0; k < block.core_ndim[i]; ++k, ++core) {
      elements *= static_cast<uint64_t>(block.size[1 + block.core_name[core]]);
    }
    bytes += elements * dtype::itemsize(block.dtype[i]) * passes(block, i);
  }
  return block.mask == 0 ? bytes : bytes + mask_elements(block);
}

uint64_t items_of(const guf_method_block &block) {
  if (block.method != GUF_METHOD_AT) return block.items * reduced_elements(block);
  return block.items * static_cast<uint64_t>(block.nindices);
}

uint64_t bytes_of(const guf_method_block &block) {
  const auto indices = static_cast<uint64_t>(block.nindices);
  const uint64_t in = dtype::itemsize(block.input_dtype), out = dtype::itemsize(block.output_dtype);
  const uint64_t kept_in = kept_elements(block, block.kept_input_step);
  if (block.method == GUF_METHOD_AT) {  // the output is read and written
    return indices *
           (block.input == 0 ? 2 * block.items * out : kept_in * in + 2 * block.items * out);
  }
  uint64_t results = block.items;
  if (block.method == GUF_METHOD_ACCUMULATE) results *= reduced_elements(block);
  if (block.method == GUF_METHOD_REDUCEAT) results *= indices;
  const uint64_t masked = block.mask == 0 ? 0 : block.items * reduced_elements(block);
  return kept_in * reduced_elements(block) * in + results * out + masked;
}

void name_kernel(const void *kernel, const char *name) {
  if (kernel == nullptr || !on()) return;
  const std::lock_guard<base::ForkLock> hold(naming_lock);
  Entry *const entry = find_entry(kernel);
  if (entry == nullptr) return;
  const Name *const known = entry->name.load(std::memory_order_relaxed);
  if (known != nullptr && std::strncmp(known->text, name, sizeof known->text - 1) == 0) return;
  auto *const fresh = new (std::nothrow) Name;
  if (fresh == nullptr) return;
  fresh->older = known;
  std::strncpy(fresh->text, name, sizeof fresh->text - 1);
  fresh->text[sizeof fresh->text - 1] = '\0';
  entry->name.store(fresh, std::memory_order_release);
  entry->kernel.store(kernel, std::memory_order_release);
}

const char *kernel_name(const void *kernel) {
  if (kernel == nullptr) return nullptr;
  const Entry *const entry = find_entry(kernel);
  if (entry == nullptr || entry->kernel.load(std::memory_order_acquire) != kernel) return nullptr;
  return entry->name.load(std::memory_order_acquire)->text;
}

const char *backend_name(int32_t backend) {
  return backend < 0 ? "" : layers[backend].name;
}

void interpose(const char *backend, guf_backend_api *api) {
  if (!begin()) return;
  const int32_t number = nlayers.fetch_add(1, std::memory_order_acq_rel);
  if (number >= kMaxBackends) {
    nlayers.store(kMaxBackends, std::memory_order_release);
    base::log(base::LogLevel::kWarning, "GUFUNC_TRACE: too many backends; backend %s is not traced",
              backend);
    return;
  }
  Layer &layer = layers[number];
  layer.name = backend;
  layer.api = *api;
  start_plugin(layer);
  kPutBefore[static_cast<size_t>(number)](api);
}

void collect_all() {
  for (Layer &layer : layers) {
    const guf_trace_api *const table = layer.trace.load(std::memory_order_acquire);
    if (table != nullptr) table->collect();
  }
}

}  // namespace gufunc::trace

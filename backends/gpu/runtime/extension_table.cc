// SPDX-License-Identifier: Apache-2.0
// The extension "gufunc.gpu": memory statistics and limits,
// native handles, peers, timers and graphs.
#include <gufunc/backend_gpu.h>

#include <algorithm>
#include <cstring>

#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/gpu/runtime/gpu_stream.h"

namespace gufunc::gpu {
namespace {

guf_status find_pool(Device &device, int32_t kind, MemoryPool **out, guf_error *error) {
  static constexpr Backing kBackings[] = {Backing::kDevice, Backing::kPinned, Backing::kMapped,
                                          Backing::kManaged};
  if (kind < GUF_MEMORY_DEVICE || kind > GUF_MEMORY_MANAGED) {
    return fail(error, GUF_E_UNSUPPORTED, "memory kind: expected 0..3, got %d", kind);
  }
  *out = &device.pool(kBackings[kind]);
  return GUF_OK;
}

guf_status memory_statistics(void *device, int32_t kind, guf_gpu_memory *out_memory,
                             guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  MemoryPool *pool = nullptr;
  GUF_BACKEND_TRY(find_pool(owner, kind, &pool, error));
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  guf_gpu_memory memory = {};
  memory.struct_size = out_memory->struct_size;
  GUF_BACKEND_TRY(
      owner.check(owner.driver().memory_info(&memory.device_free_bytes, &memory.device_total_bytes),
                  "querying the device's memory", error));
  const PoolStatistics counted = pool->statistics();
  memory.live_bytes = counted.live_bytes;
  memory.peak_bytes = counted.peak_bytes;
  memory.cached_bytes = counted.cached_bytes;
  memory.limit_bytes = counted.limit_bytes;
  memory.allocations = counted.allocations;
  memory.driver_allocations = counted.driver_allocations;
  std::memcpy(out_memory, &memory, std::min<size_t>(out_memory->struct_size, sizeof(memory)));
  return GUF_OK;
}

guf_status memory_trim(void *device, int32_t kind, uint64_t keep_bytes, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  MemoryPool *pool = nullptr;
  GUF_BACKEND_TRY(find_pool(owner, kind, &pool, error));
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  owner.collect_streams();
  return pool->trim(keep_bytes, error);
}

guf_status memory_limit(void *device, int32_t kind, uint64_t limit_bytes, guf_error *error) {
  if (forked()) return fail_forked(error);
  MemoryPool *pool = nullptr;
  GUF_BACKEND_TRY(find_pool(*static_cast<Device *>(device), kind, &pool, error));
  pool->set_limit(limit_bytes);
  return GUF_OK;
}

guf_status host_register(void *device, uint64_t address, uint64_t size, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  const RelaxedCapture relaxed(owner.driver());
  const Code code = owner.driver().host_register(address, size);
  return as_host_memory(owner.check(code, "registering host memory", error), error);
}

guf_status host_unregister(void *device, uint64_t address, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  if (!scope.begin_closing()) return fail_forked(error);
  const RelaxedCapture relaxed(owner.driver());
  Driver &driver = owner.driver();
  if (!owner.lost()) {
    return owner.check(driver.host_unregister(address), "unregistering host memory", error);
  }
  // The memory is unregistered even on a lost device, to release as many resources as possible.
  owner.wait_until_idle();
  owner.check_for_loss(driver.host_unregister(address));
  return GUF_OK;
}

guf_status device_native(void *device, uint64_t *out_context, int32_t *out_index,
                         guf_error *error) {
  if (forked()) return fail_forked(error);
  const Context &context = static_cast<Device *>(device)->context();
  *out_context = reinterpret_cast<uint64_t>(context.native);
  *out_index = context.index;
  return GUF_OK;
}

guf_status stream_native(void *device, void *stream, uint64_t *out_native, guf_error *error) {
  if (forked()) return fail_forked(error);
  Stream &requested = static_cast<Device *>(device)->stream_of(stream);
  *out_native = reinterpret_cast<uint64_t>(requested.native());
  return GUF_OK;
}

guf_status event_native(void *event, uint64_t *out_native, guf_error *error) {
  if (forked()) return fail_forked(error);
  *out_native = reinterpret_cast<uint64_t>(static_cast<Event *>(event)->native());
  return GUF_OK;
}

guf_status peer_enable(void *device, void *peer, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  auto &other = *static_cast<Device *>(peer);
  if (&owner == &other) return GUF_OK;
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Driver &driver = owner.driver();
  int32_t can = 0;
  GUF_BACKEND_TRY(owner.check(driver.peer_access(owner.context(), other.context(), &can),
                              "querying peer access", error));
  if (can == 0) {
    return fail(error, GUF_E_UNSUPPORTED, "device %d cannot address the memory of device %d",
                owner.context().index, other.context().index);
  }
  const Code code = driver.peer_enable(other.context());
  if (driver.error_info(code).kind != ErrorKind::kEnabled) {
    GUF_BACKEND_TRY(owner.check(code, "enabling peer access", error));
  }
  if (other.driver_pool() == nullptr) return GUF_OK;
  return owner.check(driver.pool_share(other.driver_pool(), owner.context()),
                     "granting access to the peer's memory pool", error);
}

guf_status peer_copy(void *device, void *stream, uint64_t dst, void *dst_device, uint64_t src,
                     void *src_device, uint64_t size, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (size == 0) return GUF_OK;
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Stream &target = owner.stream_of(stream);
  TraceSpan span(target, GUF_TRACE_COPY);
  span.set_copy(size, GUF_COPY_DEVICE_TO_DEVICE);
  if (span.facts() != nullptr) span.facts()->flags |= GUF_TRACE_PEER;
  const Code code =
      owner.driver().copy_peer(dst, static_cast<Device *>(dst_device)->context(), src,
                               static_cast<Device *>(src_device)->context(), size, target.native());
  return owner.check(code, "copying between devices", error);
}

guf_status memory_device(void *device, uint64_t address, int32_t *out_index, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  *out_index = owner.driver().memory_device(address);
  return GUF_OK;
}

guf_status event_elapsed(void *from, void *to, double *out_milliseconds, guf_error *error) {
  auto &first = *static_cast<Event *>(from);
  auto &last = *static_cast<Event *>(to);
  Device &device = first.device();
  if (&device != &last.device()) {
    return fail(error, GUF_E_DEVICE_MISMATCH, "events: expected one device, got two");
  }
  if (!first.recorded() || !last.recorded()) {
    return fail(error, GUF_E_ARG,
                "events: expected recorded events, got one that was not recorded");
  }
  ScopedContext scope(device);
  GUF_BACKEND_TRY(scope.begin(error));
  float milliseconds = 0;
  const Code code = device.driver().event_elapsed(first.native(), last.native(), &milliseconds);
  if (device.driver().error_info(code).kind == ErrorKind::kNotReady) return GUF_NOT_READY;
  GUF_BACKEND_TRY(device.check(code, "querying the time between events", error));
  *out_milliseconds = static_cast<double>(milliseconds);
  return GUF_OK;
}

constexpr guf_gpu_api kExtension = {
    sizeof(guf_gpu_api), GUF_GPU_EXTENSION_VERSION,
    memory_statistics,   memory_trim,
    memory_limit,        host_register,
    host_unregister,     device_native,
    stream_native,       event_native,
    peer_enable,         peer_copy,
    event_elapsed,       capture_begin,
    capture_end,         graph_instantiate,
    graph_update,        graph_launch,
    graph_destroy,       memory_device,
};

guf_status check_version(const char *name, uint32_t found, uint32_t newest, guf_error *error) {
  if (found != 0 && found <= newest) return GUF_OK;
  return fail(error, GUF_E_UNSUPPORTED, "extension %s: expected %u, got version %u", name, newest,
              found);
}

}  // namespace

guf_status extension(const char *name, uint32_t version, const void **out_table, guf_error *error) {
  *out_table = nullptr;
  if (name != nullptr && std::strcmp(name, "gufunc.trace") == 0) {
    GUF_BACKEND_TRY(check_version(name, version, GUF_TRACE_EXTENSION_VERSION, error));
    *out_table = &trace_table();
    return GUF_OK;
  }
  if (name != nullptr && std::strcmp(name, "gufunc.kernels") == 0) {
    GUF_BACKEND_TRY(check_version(name, version, GUF_KERNELS_EXTENSION_VERSION, error));
    *out_table = &kKernelsExtension;
    return GUF_OK;
  }
  if (name == nullptr || std::strcmp(name, "gufunc.gpu") != 0) {
    return fail(error, GUF_E_UNSUPPORTED,
                "extension: expected 'gufunc.gpu', 'gufunc.kernels' or 'gufunc.trace', got '%.60s'",
                name == nullptr ? "" : name);
  }
  GUF_BACKEND_TRY(check_version(name, version, GUF_GPU_EXTENSION_VERSION, error));
  *out_table = &kExtension;
  return GUF_OK;
}

}  // namespace gufunc::gpu

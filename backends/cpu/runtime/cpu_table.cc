// SPDX-License-Identifier: Apache-2.0
// The function table of the cpu backend.
#include "backends/cpu/runtime/cpu_table.h"

#include <gufunc/backend/fork_watch.hpp>

#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_trace.h"
#include "backends/cpu/base/cpu_wait.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/tiled_loop.h"
#include "backends/cpu/runtime/cpu_device.h"
#include "backends/cpu/runtime/cpu_stream.h"

namespace gufunc::cpu {
namespace {

guf_status stream_open(void *, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error) {
  if (native != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "the cpu has no native streams to adopt");
  }
  if (flags != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "stream flags: 0x%x is not known to this plugin", flags);
  }
  auto *stream = create<Stream>();
  if (stream == nullptr) {
    return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory for a stream");
  }
  *out_stream = stream;
  return GUF_OK;
}

void stream_close(void *stream) {
  if (stream != nullptr) static_cast<Stream *>(stream)->close();
}

guf_status stream_query(void *stream, guf_error *error) {
  return stream == nullptr ? GUF_OK : static_cast<Stream *>(stream)->query(error);
}

guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error) {
  return stream == nullptr ? GUF_OK : static_cast<Stream *>(stream)->synchronize(timeout_ns, error);
}

guf_status event_open(void *, void **out_event, guf_error *error) {
  auto *event = create<Event>();
  if (event == nullptr) return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory for an event");
  *out_event = event;
  return GUF_OK;
}

void event_close(void *event) {
  if (event != nullptr) static_cast<Event *>(event)->release();
}

guf_status event_query(void *event, guf_error *error) {
  return static_cast<Event *>(event)->query(error);
}

guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error) {
  return static_cast<Event *>(event)->synchronize(timeout_ns, error);
}

guf_status shutdown(uint64_t timeout_ns, guf_error *) {
  const Deadline deadline(timeout_ns);
  GUF_BACKEND_TRY(Stream::wait_for_threads(timeout_ns));
  GUF_BACKEND_TRY(thread_pool().stop(deadline.left_ns()));
  TiledLoop::free_scratch();
  free_kernel_workers();
  return GUF_OK;
}

guf_status extension(const char *name, uint32_t version, const void **out_table, guf_error *error) {
  *out_table = nullptr;
  if (name != nullptr && std::strcmp(name, "gufunc.trace") == 0 &&
      version == GUF_TRACE_EXTENSION_VERSION) {
    *out_table = &trace_table();
    return GUF_OK;
  }
  if (name != nullptr && std::strcmp(name, "gufunc.kernels") == 0 &&
      version == GUF_KERNELS_EXTENSION_VERSION) {
    *out_table = &kKernelsExtension;
    return GUF_OK;
  }
  return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
              "the cpu backend has no extension '%.60s' of version %u", name == nullptr ? "" : name,
              version);
}

guf_backend_api make_table() {
  guf_backend_api api = {};
  api.name = "cpu";
  api.version = GUFUNC_CPU_VERSION;
  api.features = GUF_BACKEND_FP_FLAGS | GUF_BACKEND_METHOD_FP_FLAGS | GUF_BACKEND_METHOD_STRUCTURED;
#define GUF_REQUIRED_SLOT(slot) api.slot = slot;
#define GUF_OPTIONAL_SLOT(slot) api.slot = slot;
#include <gufunc/backend_slots.def>
  return api;
}

}  // namespace
}  // namespace gufunc::cpu

guf_status gufunc_backend_cpu_open(const guf_host_api *host, uint32_t host_minor,
                                   guf_backend_api *api, guf_error *) {
  gufunc::sdk::set_host(host);
  gufunc::sdk::start_fork_watch();
  gufunc::sdk::copy_table(gufunc::cpu::make_table(), host_minor, api);
  return GUF_OK;
}

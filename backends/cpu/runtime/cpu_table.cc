// SPDX-License-Identifier: Apache-2.0
// The function table of the cpu backend, and the slots that concern the whole plugin.
#include "backends/cpu/runtime/cpu_table.h"

#include <gufunc/backend/fork_watch.hpp>

#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_trace.h"
#include "backends/cpu/base/cpu_wait.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/tiled_loop.h"
#include "backends/cpu/runtime/cpu_stream.h"

namespace gufunc::cpu {
namespace {

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

}  // namespace gufunc::cpu

guf_status gufunc_backend_cpu_open(const guf_host_api *host, uint32_t host_minor,
                                   guf_backend_api *api, guf_error *) {
  gufunc::sdk::set_host(host);
  gufunc::sdk::start_fork_watch();
  gufunc::sdk::copy_table(gufunc::cpu::make_table(), host_minor, api);
  return GUF_OK;
}

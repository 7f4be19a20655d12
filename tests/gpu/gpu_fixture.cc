// SPDX-License-Identifier: Apache-2.0
// Finds the plugin in its folder. Opens the driver library by the same name as the plugin.
#include "tests/gpu/gpu_fixture.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace gufunc::gpu_test {
namespace {

void host_log(void *, int32_t, const char *message) {
  test_host().log.emplace_back(message);
}

void *host_alloc(void *, size_t size, size_t alignment) {
  if (test_host().fail_at.load() >= 0 && test_host().fail_at.fetch_sub(1) == 0) return nullptr;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void *const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory != nullptr) test_host().live.fetch_add(1);
  return memory;
}

void host_free(void *, void *memory) {
  if (memory == nullptr) return;
  test_host().live.fetch_sub(1);
  std::free(memory);
}

const char *host_config(void *, const char *name) {
  return secure_getenv(name);
}

const guf_host_api kHost = {
    sizeof(guf_host_api), GUF_BACKEND_ABI_MINOR, nullptr, host_log, host_alloc, host_free,
    host_config};

const char *backend_name() {
  const char *const name = secure_getenv("GUFUNC_TEST_BACKEND");
  return name == nullptr ? "cuda" : name;
}

template <class Function>
void bind(void *library, const char *name, Function *out) {
  *out = reinterpret_cast<Function>(dlsym(library, (std::string("gufunc_sim_") + name).c_str()));
  if (*out == nullptr) ADD_FAILURE() << "the driver is no simulated one: no gufunc_sim_" << name;
}

}  // namespace

bool is_cuda() {
  return std::strcmp(backend_name(), "cuda") == 0;
}

TestHost &test_host() {
  static TestHost host;
  return host;
}

const Sim &sim() {
  static const Sim found = [] {
    Sim result = {};
    const char *const name = is_cuda() ? "libcuda.so.1" : "libamdhip64.so.6";
    void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      ADD_FAILURE() << dlerror();
      return result;
    }
    result.library = library;
    bind(library, "set", &result.set);
    bind(library, "fault", &result.fault);
    bind(library, "clear_faults", &result.clear_faults);
    bind(library, "calls", &result.calls);
    bind(library, "clear_calls", &result.clear_calls);
    bind(library, "function", &result.function);
    bind(library, "live", &result.live);
    bind(library, "used_bytes", &result.used_bytes);
    bind(library, "ptx", &result.ptx);
    bind(library, "violations", &result.violations);
    bind(library, "violation", &result.violation);
    bind(library, "hide", &result.hide);
    bind(library, "heal", &result.heal);
    bind(library, "current", &result.current);
    return result;
  }();
  return found;
}

int last_error() {
  if (is_cuda()) return 0;
  static const auto function = reinterpret_cast<int (*)()>(dlsym(sim().library, "hipGetLastError"));
  return function();
}

const guf_backend_api &opened_plugin() {
  static const guf_backend_api table = [] {
    guf_backend_api api = {};
    api.struct_size = sizeof(api);
    const std::string path =
        std::string(GUFUNC_TEST_PLUGIN_DIR) + "/libgufunc_backend_" + backend_name() + ".so";
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      ADD_FAILURE() << dlerror();
      return api;
    }
    const auto open =
        reinterpret_cast<guf_backend_open_fn>(dlsym(library, "gufunc_backend_open_v1"));
    guf_error error = fresh_error();
    EXPECT_EQ(open(&kHost, GUF_BACKEND_ABI_MINOR, &api, &error), GUF_OK) << error.message;
    return api;
  }();
  return table;
}

const guf_backend_api &plugin() {
  static const guf_backend_api &table = [&]() -> const guf_backend_api & {
    const guf_backend_api &api = opened_plugin();
    int32_t ndevices = 0;
    char driver[128] = "";
    guf_error error = fresh_error();
    EXPECT_EQ(api.probe(&ndevices, driver, sizeof(driver), &error), GUF_OK) << error.message;
    return api;
  }();
  return table;
}

const guf_gpu_api &gpu_extension() {
  const void *table = nullptr;
  guf_error error = fresh_error();
  EXPECT_EQ(plugin().extension("gufunc.gpu", GUF_GPU_EXTENSION_VERSION, &table, &error), GUF_OK);
  return *static_cast<const guf_gpu_api *>(table);
}

const guf_kernels_api &kernels_extension() {
  const void *table = nullptr;
  guf_error error = fresh_error();
  EXPECT_EQ(plugin().extension("gufunc.kernels", GUF_KERNELS_EXTENSION_VERSION, &table, &error),
            GUF_OK);
  return *static_cast<const guf_kernels_api *>(table);
}

OpenDevice::OpenDevice(int32_t index) {
  guf_error error = fresh_error();
  info_.struct_size = sizeof(info_);
  EXPECT_EQ(plugin().device_open(index, 0, &device_, &info_, &error), GUF_OK) << error.message;
}

OpenDevice::~OpenDevice() {
  plugin().device_close(device_);
}

std::string live_objects() {
  std::string text;
  for (const char *const kind : {"allocation", "pinned", "registered", "stream", "event", "module",
                                 "library", "pool", "graph", "graph_exec", "context"}) {
    text += std::string(kind) + " " + std::to_string(sim().live(kind)) + "\n";
  }
  return text;
}

}  // namespace gufunc::gpu_test

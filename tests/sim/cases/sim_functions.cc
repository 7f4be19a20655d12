// SPDX-License-Identifier: Apache-2.0
// The interfaces of both simulated drivers.
#include "tests/sim/cases/sim_functions.h"

#include <dlfcn.h>

#include <string_view>

#include "tests/sim/sim_control.h"

namespace sim_test {
namespace {

void *cuda_pointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

class CudaInterface final : public DriverInterface {
 public:
  CudaInterface() : DriverInterface(SIM_TEST_CUDA) {}

  int start() override {
    int code = call("cuInit", 0u);
    void *context = nullptr;
    if (code == 0) code = call("cuDevicePrimaryCtxRetain", &context, 0);
    return code != 0 ? code : call("cuCtxSetCurrent", context);
  }
  bool is_cuda() const override { return true; }
  std::string name_of(const std::string &verb) const override {
    if (verb == "alloc") return "cuMemAlloc_v2";
    if (verb == "free") return "cuMemFree_v2";
    if (verb == "sync") return "cuStreamSynchronize";
    return "cuStreamQuery";
  }
  std::string image() const override { return ptx_image("6.3", "sm_75"); }

  int alloc(uint64_t *out, uint64_t bytes) override { return call("cuMemAlloc_v2", out, bytes); }
  int free(uint64_t address) override { return call("cuMemFree_v2", address); }
  int alloc_async(uint64_t *out, uint64_t bytes, void *stream) override {
    return call("cuMemAllocAsync", out, bytes, stream);
  }
  int free_async(uint64_t address, void *stream) override {
    return call("cuMemFreeAsync", address, stream);
  }
  int host_alloc(void **out, uint64_t bytes) override {
    return call("cuMemHostAlloc", out, bytes, 1u);
  }
  int host_free(void *memory) override { return call("cuMemFreeHost", memory); }
  int host_register(void *memory, uint64_t bytes) override {
    return call("cuMemHostRegister_v2", memory, bytes, 0u);
  }
  int host_unregister(void *memory) override { return call("cuMemHostUnregister", memory); }
  int managed(uint64_t *out, uint64_t bytes) override {
    return call("cuMemAllocManaged", out, bytes, 1u);
  }
  int memory_info(uint64_t *free, uint64_t *total) override {
    return call("cuMemGetInfo_v2", free, total);
  }
  int to_device(uint64_t to, const void *from, uint64_t bytes, void *stream) override {
    return call("cuMemcpyHtoDAsync_v2", to, from, bytes, stream);
  }
  int to_host(void *to, uint64_t from, uint64_t bytes, void *stream) override {
    return call("cuMemcpyDtoHAsync_v2", to, from, bytes, stream);
  }
  int on_device(uint64_t to, uint64_t from, uint64_t bytes, void *stream) override {
    return call("cuMemcpyDtoDAsync_v2", to, from, bytes, stream);
  }
  int fill32(uint64_t to, uint32_t value, uint64_t count, void *stream) override {
    return call("cuMemsetD32Async", to, value, count, stream);
  }
  int fill16(uint64_t to, uint16_t value, uint64_t count, void *stream) override {
    return call("cuMemsetD16Async", to, value, count, stream);
  }
  int stream(void **out, bool blocking) override {
    return call("cuStreamCreateWithPriority", out, blocking ? 0u : 1u, 0);
  }
  int stream_destroy(void *stream) override { return call("cuStreamDestroy_v2", stream); }
  int stream_query(void *stream) override { return call("cuStreamQuery", stream); }
  int stream_sync(void *stream) override { return call("cuStreamSynchronize", stream); }
  int stream_wait(void *stream, void *event) override {
    return call("cuStreamWaitEvent", stream, event, 0u);
  }
  int device_sync() override { return call("cuCtxSynchronize"); }
  int host_call(void *stream, void (*function)(void *), void *data) override {
    return call("cuLaunchHostFunc", stream, function, data);
  }
  int event(void **out, bool timing) override {
    return call("cuEventCreate", out, timing ? 0u : 2u);
  }
  int event_destroy(void *event) override { return call("cuEventDestroy_v2", event); }
  int event_record(void *event, void *stream) override {
    return call("cuEventRecord", event, stream);
  }
  int event_query(void *event) override { return call("cuEventQuery", event); }
  int event_sync(void *event) override { return call("cuEventSynchronize", event); }
  int event_elapsed(float *milliseconds, void *start, void *stop) override {
    return call("cuEventElapsedTime", milliseconds, start, stop);
  }
  int module_load(void **out, const void *image) override {
    return call("cuModuleLoadData", out, image);
  }
  int module_unload(void *module) override { return call("cuModuleUnload", module); }
  int module_function(void **out, void *module, const char *name) override {
    return call("cuModuleGetFunction", out, module, name);
  }
  int launch(void *function, uint32_t blocks, uint32_t threads, uint32_t shared, void *stream,
             const void *block) override {
    void *parameters[] = {const_cast<void *>(block)};
    return call("cuLaunchKernel", function, blocks, 1u, 1u, threads, 1u, 1u, shared, stream,
                static_cast<void **>(parameters), static_cast<void **>(nullptr));
  }
  int launch_extra(void *function, void *stream, void *block, uint64_t bytes) override {
    void *extra[] = {cuda_pointer(1), block, cuda_pointer(2), &bytes, cuda_pointer(0)};
    return call("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream,
                static_cast<void **>(nullptr), static_cast<void **>(extra));
  }
  int capture_begin(void *stream, int mode) override {
    return call("cuStreamBeginCapture_v2", stream, mode);
  }
  int capture_end(void *stream, void **graph) override {
    return call("cuStreamEndCapture", stream, graph);
  }
  int capture_status(void *stream, int *status) override {
    return call("cuStreamIsCapturing", stream, status);
  }
  int capture_mode(int *mode) override { return call("cuThreadExchangeStreamCaptureMode", mode); }
  int graph_instantiate(void **exec, void *graph) override {
    return call("cuGraphInstantiateWithFlags", exec, graph, 0ull);
  }
  int graph_update(void *exec, void *graph, int *result) override {
    struct {
      int result;
      void *nodes[2];
    } info = {};
    const int code = call("cuGraphExecUpdate_v2", exec, graph, static_cast<void *>(&info));
    *result = info.result;
    return code;
  }
  int graph_launch(void *exec, void *stream) override {
    return call("cuGraphLaunch", exec, stream);
  }
  int graph_destroy(void *graph) override { return call("cuGraphDestroy", graph); }
  int graph_exec_destroy(void *exec) override { return call("cuGraphExecDestroy", exec); }

 private:
  template <class... A>
  int call(const char *name, A... arguments) {
    return entry<int(A...)>(name)(arguments...);
  }
};

void *hip_pointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

class HipInterface final : public DriverInterface {
 public:
  HipInterface() : DriverInterface(SIM_TEST_HIP) {}

  int start() override {
    const int code = call("hipInit", 0u);
    return code != 0 ? code : call("hipSetDevice", 0);
  }
  bool is_cuda() const override { return false; }
  std::string name_of(const std::string &verb) const override {
    if (verb == "alloc") return "hipMalloc";
    if (verb == "free") return "hipFree";
    if (verb == "sync") return "hipStreamSynchronize";
    return "hipStreamQuery";
  }
  std::string image() const override { return amd_image(0x54C); }

  int alloc(uint64_t *out, uint64_t bytes) override {
    return call("hipMalloc", reinterpret_cast<void **>(out), bytes);
  }
  int free(uint64_t address) override { return call("hipFree", hip_pointer(address)); }
  int alloc_async(uint64_t *out, uint64_t bytes, void *stream) override {
    return call("hipMallocAsync", reinterpret_cast<void **>(out), bytes, stream);
  }
  int free_async(uint64_t address, void *stream) override {
    return call("hipFreeAsync", hip_pointer(address), stream);
  }
  int host_alloc(void **out, uint64_t bytes) override {
    return call("hipHostMalloc", out, bytes, 1u);
  }
  int host_free(void *memory) override { return call("hipHostFree", memory); }
  int host_register(void *memory, uint64_t bytes) override {
    return call("hipHostRegister", memory, bytes, 0u);
  }
  int host_unregister(void *memory) override { return call("hipHostUnregister", memory); }
  int managed(uint64_t *out, uint64_t bytes) override {
    return call("hipMallocManaged", reinterpret_cast<void **>(out), bytes, 1u);
  }
  int memory_info(uint64_t *free, uint64_t *total) override {
    return call("hipMemGetInfo", free, total);
  }
  int to_device(uint64_t to, const void *from, uint64_t bytes, void *stream) override {
    return call("hipMemcpyAsync", hip_pointer(to), from, bytes, 1, stream);
  }
  int to_host(void *to, uint64_t from, uint64_t bytes, void *stream) override {
    return call("hipMemcpyAsync", to, hip_pointer(from), bytes, 2, stream);
  }
  int on_device(uint64_t to, uint64_t from, uint64_t bytes, void *stream) override {
    return call("hipMemcpyAsync", hip_pointer(to), hip_pointer(from), bytes, 3, stream);
  }
  int fill32(uint64_t to, uint32_t value, uint64_t count, void *stream) override {
    return call("hipMemsetD32Async", hip_pointer(to), value, count, stream);
  }
  int fill16(uint64_t to, uint16_t value, uint64_t count, void *stream) override {
    return call("hipMemsetD16Async", hip_pointer(to), value, count, stream);
  }
  int stream(void **out, bool blocking) override {
    return call("hipStreamCreateWithPriority", out, blocking ? 0u : 1u, 0);
  }
  int stream_destroy(void *stream) override { return call("hipStreamDestroy", stream); }
  int stream_query(void *stream) override { return call("hipStreamQuery", stream); }
  int stream_sync(void *stream) override { return call("hipStreamSynchronize", stream); }
  int stream_wait(void *stream, void *event) override {
    return call("hipStreamWaitEvent", stream, event, 0u);
  }
  int device_sync() override { return call("hipDeviceSynchronize"); }
  int host_call(void *stream, void (*function)(void *), void *data) override {
    return call("hipLaunchHostFunc", stream, function, data);
  }
  int event(void **out, bool timing) override {
    return call("hipEventCreateWithFlags", out, timing ? 0u : 2u);
  }
  int event_destroy(void *event) override { return call("hipEventDestroy", event); }
  int event_record(void *event, void *stream) override {
    return call("hipEventRecord", event, stream);
  }
  int event_query(void *event) override { return call("hipEventQuery", event); }
  int event_sync(void *event) override { return call("hipEventSynchronize", event); }
  int event_elapsed(float *milliseconds, void *start, void *stop) override {
    return call("hipEventElapsedTime", milliseconds, start, stop);
  }
  int module_load(void **out, const void *image) override {
    return call("hipModuleLoadData", out, image);
  }
  int module_unload(void *module) override { return call("hipModuleUnload", module); }
  int module_function(void **out, void *module, const char *name) override {
    return call("hipModuleGetFunction", out, module, name);
  }
  int launch(void *function, uint32_t blocks, uint32_t threads, uint32_t shared, void *stream,
             const void *block) override {
    void *parameters[] = {const_cast<void *>(block)};
    return call("hipModuleLaunchKernel", function, blocks, 1u, 1u, threads, 1u, 1u, shared, stream,
                static_cast<void **>(parameters), static_cast<void **>(nullptr));
  }
  int launch_extra(void *function, void *stream, void *block, uint64_t bytes) override {
    void *extra[] = {hip_pointer(1), block, hip_pointer(2), &bytes, hip_pointer(3)};
    return call("hipModuleLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream,
                static_cast<void **>(nullptr), static_cast<void **>(extra));
  }
  int capture_begin(void *stream, int mode) override {
    return call("hipStreamBeginCapture", stream, mode);
  }
  int capture_end(void *stream, void **graph) override {
    return call("hipStreamEndCapture", stream, graph);
  }
  int capture_status(void *stream, int *status) override {
    return call("hipStreamIsCapturing", stream, status);
  }
  int capture_mode(int *mode) override { return call("hipThreadExchangeStreamCaptureMode", mode); }
  int graph_instantiate(void **exec, void *graph) override {
    return call("hipGraphInstantiate", exec, graph, static_cast<void **>(nullptr),
                static_cast<char *>(nullptr), size_t{0});
  }
  int graph_update(void *exec, void *graph, int *result) override {
    void *node = nullptr;
    return call("hipGraphExecUpdate", exec, graph, &node, result);
  }
  int graph_launch(void *exec, void *stream) override {
    return call("hipGraphLaunch", exec, stream);
  }
  int graph_destroy(void *graph) override { return call("hipGraphDestroy", graph); }
  int graph_exec_destroy(void *exec) override { return call("hipGraphExecDestroy", exec); }

 private:
  template <class... A>
  int call(const char *name, A... arguments) {
    return entry<int(A...)>(name)(arguments...);
  }
};

}  // namespace

DriverInterface::DriverInterface(const std::string &library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle_, nullptr) << dlerror();
  set("EMULATION", SIM_TEST_EMULATION);
}

void *DriverInterface::symbol(const std::string &name) const {
  return dlsym(handle_, name.c_str());
}

void DriverInterface::set(const char *name, const std::string &value) const {
  const auto change = entry<decltype(gufunc_sim_set)>("gufunc_sim_set");
  EXPECT_EQ(change(name, value.c_str()), 0) << name << "=" << value;
}
void DriverInterface::reset() const {
  entry<decltype(gufunc_sim_reset)>("gufunc_sim_reset")();
}
void DriverInterface::fault(const std::string &text) const {
  EXPECT_EQ(entry<decltype(gufunc_sim_fault)>("gufunc_sim_fault")(text.c_str()), 0) << text;
}
uint64_t DriverInterface::calls(const char *name) const {
  return entry<decltype(gufunc_sim_calls)>("gufunc_sim_calls")(name);
}
uint64_t DriverInterface::live(const char *kind) const {
  return entry<decltype(gufunc_sim_live)>("gufunc_sim_live")(kind);
}
uint32_t DriverInterface::violations() const {
  return entry<decltype(gufunc_sim_violations)>("gufunc_sim_violations")();
}
std::string DriverInterface::violation(uint32_t index) const {
  const char *text = entry<decltype(gufunc_sim_violation)>("gufunc_sim_violation")(index);
  return text == nullptr ? "" : text;
}
void DriverInterface::clear_violations() const {
  entry<decltype(gufunc_sim_clear_violations)>("gufunc_sim_clear_violations")();
}

SimTest::SimTest()
    : driver_(std::string_view(GetParam()) == "cuda" ? cuda_interface() : hip_interface()) {
  driver_.reset();
  EXPECT_EQ(driver_.start(), 0);
}

SimTest::~SimTest() {
  EXPECT_EQ(driver_.violations(), 0u) << driver_.violation(0);
  for (const char *name : {"DEVICES=1", "MEMORY=268435456", "ORDER=eager", "SEED=1", "DELAY_US=0",
                           "VERSION=0", "ARCH=", "TWICE=0", "MISSING=", "EXECUTE=1", "EDGES=0",
                           "DEVICE_CHECK=0", "EMULATION=" SIM_TEST_EMULATION}) {
    const std::string setting = name;
    const size_t middle = setting.find('=');
    driver_.set(setting.substr(0, middle).c_str(), setting.substr(middle + 1));
  }
  driver_.reset();
}

void SimTest::restart(const char *name, const std::string &value) {
  driver_.set(name, value);
  driver_.reset();
  SIM_OK(driver_.start());
}

DriverInterface &cuda_interface() {
  static auto *driver_interface = new CudaInterface;
  return *driver_interface;
}

DriverInterface &hip_interface() {
  static auto *driver_interface = new HipInterface;
  return *driver_interface;
}

}  // namespace sim_test

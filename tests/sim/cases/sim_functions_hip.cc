// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

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

DriverInterface &hip_interface() {
  static auto *driver_interface = new HipInterface;
  return *driver_interface;
}

}  // namespace sim_test

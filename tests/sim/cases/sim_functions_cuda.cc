// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/cases/sim_functions.h"

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

}  // namespace

DriverInterface &cuda_interface() {
  static auto *driver_interface = new CudaInterface;
  return *driver_interface;
}

}  // namespace sim_test

// SPDX-License-Identifier: Apache-2.0
// The driver interface for NVIDIA, part 4 of 4: modules, launches and graphs.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H
#define GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H

#include "backends/cuda/cuda_streams.h"

namespace gufunc::cuda {

class CudaDriver final : public CudaStreams {
 public:
  using CudaStreams::CudaStreams;

  // Drivers of CUDA 12 and later load an image as a library, which belongs to no context.
  // The handles of libraries stay valid if the owner of an adopted context destroys the context.
  // Such a driver may process an image only when it is used.
  // Requesting the module of the current context makes the driver check immediately whether it can
  // run the image, while another image can still be chosen.
  Code module_load(const void *image, Native *out_module) override {
    if (!has_libraries(api_)) return api_.module_load(out_module, image);
    Native library = nullptr, module = nullptr;
    Code code = api_.library_load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (code != kSuccess) return code;
    code = api_.library_module(&module, library);
    if (code != kSuccess) {
      api_.library_unload(library);
      return code;
    }
    *out_module = library;
    return kSuccess;
  }
  Code module_unload(Native module) override {
    return has_libraries(api_) ? api_.library_unload(module) : api_.module_unload(module);
  }
  Code function_find(Native module, const char *name, Native *out_function) override {
    if (!has_libraries(api_)) return api_.module_function(out_function, module, name);
    Native kernel = nullptr;
    const Code code = api_.library_kernel(&kernel, module, name);
    return code != kSuccess ? code : api_.kernel_function(out_function, kernel);
  }

  // Drivers load code lazily, so this function forces the load.
  // Without cuFuncLoad, a query forces it.
  Code function_prepare(Native function, uint32_t shared_bytes) override {
    int value = 0;
    const Result loaded = api_.function_load != nullptr
                              ? api_.function_load(function)
                              : api_.function_get(&value, kFunctionRegisters, function);
    if (loaded != kSuccess) return loaded;
    const Result code = api_.function_get(&value, kFunctionSharedBytes, function);
    if (code != kSuccess) return code;
    // Shared memory above this size must be enabled before a launch.
    // The limit includes the static shared memory of the function.
    constexpr int kUnannounced = 48 * 1024;
    const int most = static_cast<int>(shared_bytes) - value;
    if (most <= kUnannounced) return kSuccess;
    return api_.function_set(function, kFunctionDynamicSharedBytes, most);
  }

  Code function_facts(Native function, gpu::FunctionFacts *out) override {
    int values[4] = {};
    constexpr int kWanted[] = {kFunctionMaxThreads, kFunctionRegisters, kFunctionSharedBytes,
                               kFunctionLocalBytes};
    *out = {};
    for (int i = 0; i < 4; ++i) {
      const Result code = api_.function_get(&values[i], kWanted[i], function);
      if (code != kSuccess) return code;
    }
    *out = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
            static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3])};
    return kSuccess;
  }

  Code launch(Native function, const gpu::LaunchGrid &shape, const void *block,
              uint32_t block_bytes, Native stream) override {
    size_t size = block_bytes;
    void *arguments[] = {reinterpret_cast<void *>(uintptr_t{kLaunchBuffer}),
                         const_cast<void *>(block),
                         reinterpret_cast<void *>(uintptr_t{kLaunchBufferSize}), &size, nullptr};
    return api_.launch(function, shape.blocks, shape.blocks_y, shape.blocks_z, shape.threads,
                       shape.threads_y, shape.threads_z, shape.shared_bytes, stream, nullptr,
                       arguments);
  }

  Code capture_begin(Native stream, gpu::CaptureMode mode) override {
    if (api_.graph_instantiate == nullptr) return kNotSupported;
    return api_.capture_begin(stream, mode);
  }
  Code capture_end(Native stream, Native *out_graph) override {
    return api_.capture_end(stream, out_graph);
  }
  Code capture_exchange(gpu::CaptureMode *inout_mode) override {
    int mode = *inout_mode;
    const Result code = api_.capture_exchange(&mode);
    *inout_mode = static_cast<gpu::CaptureMode>(mode);
    return code;
  }

  Code graph_instantiate(Native graph, Native *out_executable) override {
    if (api_.graph_instantiate == nullptr) return kNotSupported;
    return api_.graph_instantiate(out_executable, graph, 0);
  }
  // A driver without this function cannot update graphs. The caller then instantiates a new graph.
  Code graph_update(Native executable, Native graph, bool *out_updated) override {
    *out_updated = false;
    if (api_.graph_update == nullptr) return kSuccess;
    GraphUpdateResult result = {};
    const Result code = api_.graph_update(executable, graph, &result);
    *out_updated = code == kSuccess;
    return code == kGraphUpdateFailure ? kSuccess : code;
  }
  Code graph_launch(Native executable, Native stream) override {
    return api_.graph_launch(executable, stream);
  }
  Code graph_close(Native graph) override { return api_.graph_destroy(graph); }
  Code executable_close(Native executable) override { return api_.executable_destroy(executable); }
};

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H

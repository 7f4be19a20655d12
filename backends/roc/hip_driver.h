// SPDX-License-Identifier: Apache-2.0
// The driver interface for HIP, part 4 of 4: modules, launches and graphs.
#ifndef GUFUNC_BACKENDS_ROC_HIP_DRIVER_H
#define GUFUNC_BACKENDS_ROC_HIP_DRIVER_H

#include "backends/roc/hip_streams.h"

namespace gufunc::roc {

class HipDriver final : public HipStreams {
 public:
  using HipStreams::HipStreams;

  Code module_load(const void *image, Native *out_module) override {
    return hip_.hipModuleLoadData(out_module, image);
  }
  Code module_unload(Native module) override { return hip_.hipModuleUnload(module); }
  Code function_find(Native module, const char *name, Native *out_function) override {
    return hip_.hipModuleGetFunction(out_function, module, name);
  }
  // HIP loads all code of a module immediately, and has one limit
  // of shared memory for all functions.
  Code function_prepare(Native, uint32_t) override { return kHipSuccess; }

  Code function_facts(Native function, gpu::FunctionFacts *out) override {
    *out = {};
    if (hip_.hipFuncGetAttribute == nullptr) return kHipSuccess;
    int values[4] = {};
    constexpr int kWanted[] = {kFunctionMaxThreads, kFunctionRegisters, kFunctionSharedBytes,
                               kFunctionLocalBytes};
    for (int i = 0; i < 4; ++i) {
      const HipError code = hip_.hipFuncGetAttribute(&values[i], kWanted[i], function);
      if (code != kHipSuccess) return code;
    }
    *out = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
            static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3])};
    return kHipSuccess;
  }

  Code launch(Native function, const gpu::LaunchGrid &shape, const void *block,
              uint32_t block_bytes, Native stream) override {
    // HIP counts the work-items of a grid in 32 bits.
    if (uint64_t{shape.blocks} * shape.threads > UINT32_MAX) return kHipInvalidConfiguration;
    constexpr uintptr_t kBuffer = 1, kSize = 2, kEnd = 3;
    size_t size = block_bytes;
    void *extra[] = {pointer_of(kBuffer), const_cast<void *>(block), pointer_of(kSize), &size,
                     pointer_of(kEnd)};
    return hip_.hipModuleLaunchKernel(function, shape.blocks, shape.blocks_y, shape.blocks_z,
                                      shape.threads, shape.threads_y, shape.threads_z,
                                      shape.shared_bytes, stream, nullptr, extra);
  }

  Code capture_begin(Native stream, gpu::CaptureMode mode) override {
    if (!has_graphs(hip_)) return kHipNotSupported;
    return hip_.hipStreamBeginCapture(stream, mode);
  }
  Code capture_end(Native stream, Native *out_graph) override {
    if (!has_graphs(hip_)) return kHipNotSupported;
    return hip_.hipStreamEndCapture(stream, out_graph);
  }
  Code capture_exchange(gpu::CaptureMode *inout_mode) override {
    if (hip_.hipThreadExchangeStreamCaptureMode == nullptr) return kHipNotSupported;
    int mode = *inout_mode;
    const HipError exchanged = hip_.hipThreadExchangeStreamCaptureMode(&mode);
    *inout_mode = static_cast<gpu::CaptureMode>(mode);
    return exchanged;
  }

  // If has_graphs() is false, no graph can be created, so the functions below need not check it.
  Code graph_instantiate(Native graph, Native *out_executable) override {
    return hip_.hipGraphInstantiate(out_executable, graph, nullptr, nullptr, 0);
  }
  Code graph_update(Native executable, Native graph, bool *out_updated) override {
    *out_updated = false;
    if (hip_.hipGraphExecUpdate == nullptr) return kHipSuccess;
    HipHandle node = nullptr;
    int result = 0;
    const HipError status = hip_.hipGraphExecUpdate(executable, graph, &node, &result);
    *out_updated = status == kHipSuccess;
    return status == kHipGraphUpdateFailure ? kHipSuccess : status;
  }
  Code graph_launch(Native executable, Native stream) override {
    return hip_.hipGraphLaunch(executable, stream);
  }
  Code graph_close(Native graph) override { return hip_.hipGraphDestroy(graph); }
  Code executable_close(Native executable) override { return hip_.hipGraphExecDestroy(executable); }
};

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_DRIVER_H

// SPDX-License-Identifier: Apache-2.0
// Implements modules, functions, launches and graphs.
#include "tests/sim/core/sim_module.h"

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/hip/sim_hip_api.h"

namespace {

using sim::Context;
using sim::Driver;
using sim::Kernel;
using sim::kSuccess;
namespace hip = sim::hip;

// Rejects launch shapes that the runtime rejects before it reads the arguments.
int check_shape(const Kernel &kernel, const sim::LaunchShape &shape) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (shape.blocks[i] == 0 || shape.threads[i] == 0) return sim::kInvalidConfiguration;
    if (shape.threads[i] > 1024) return sim::kInvalidConfiguration;
    threads *= shape.threads[i];
    // The number of work-items per dimension must fit 32 bits.
    if (uint64_t{shape.blocks[i]} * shape.threads[i] > UINT32_MAX) {
      return sim::kInvalidConfiguration;
    }
  }
  if (threads > 1024 || threads > kernel.message.max_threads) return sim::kInvalidConfiguration;
  if (uint64_t{shape.shared_bytes} + kernel.message.shared_bytes > hip::kSharedBytes) {
    return sim::kInvalidValue;
  }
  return kSuccess;
}

bool function_attribute(const Kernel &kernel, int attribute, int *out) {
  switch (attribute) {
    case hip::kFunctionMaxThreads:
      return *out = static_cast<int>(kernel.message.max_threads), true;
    case hip::kFunctionSharedBytes:
      return *out = static_cast<int>(kernel.message.shared_bytes), true;
    case hip::kFunctionLocalBytes:
      return *out = static_cast<int>(kernel.message.local_bytes), true;
    case hip::kFunctionRegisters:
      return *out = static_cast<int>(kernel.message.registers), true;
    case hip::kFunctionConstantBytes:
    case hip::kFunctionCacheMode:
    case hip::kFunctionCarveout:
      return *out = 0, true;
    case hip::kFunctionPtxVersion:
    case hip::kFunctionBinaryVersion:
      return *out = 30, true;
    case hip::kFunctionMaxDynamicShared:
      return *out = static_cast<int>(hip::kSharedBytes - kernel.message.shared_bytes), true;
    default:
      return false;
  }
}

}  // namespace

SIM_EXPORT int hipModuleLoadData(void **module, const void *code) {
  SIM_CALL(hipModuleLoadData, 0) {
    Context *current = nullptr;
    int usable = use_context(driver, &current);
    if (usable == kSuccess) usable = refuse_while_capturing(driver);
    if (usable != kSuccess) return usable;
    if (module == nullptr || code == nullptr) return sim::kInvalidValue;
    sim::Image image;
    const int read = sim::read_amd_image(code, driver.arch(), &image);
    if (read != kSuccess) return read;
    *module = add_module(driver, *current, image_digest(code, image), image)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipModuleUnload(void *module) {
  SIM_CALL(hipModuleUnload, sim::kReleases) {
    if (module == nullptr) return sim::kInvalidValue;
    const int refused = refuse_while_capturing(driver);
    return refused != kSuccess ? refused : remove_module(driver, lock, module);
  }
  SIM_END;
}

SIM_EXPORT int hipModuleGetFunction(void **function, void *module, const char *name) {
  SIM_CALL(hipModuleGetFunction, 0) {
    Context *current = nullptr;
    const int usable = use_context(driver, &current);
    if (usable != kSuccess) return usable;
    if (function == nullptr || name == nullptr) return sim::kInvalidValue;
    const std::shared_ptr<sim::Module> found = driver.modules.find(module);
    if (found == nullptr) return sim::kInvalidHandle;
    const std::shared_ptr<Kernel> kernel = kernel_of(driver, *found, name);
    if (kernel == nullptr) return sim::kNotFound;
    *function = kernel->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipFuncGetAttribute(int *value, int attribute, void *function) {
  SIM_CALL(hipFuncGetAttribute, 0) {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (value == nullptr) return sim::kInvalidValue;
    if (kernel == nullptr) return sim::kInvalidHandle;
    return function_attribute(*kernel, attribute, value) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared, void *stream,
                                     void **parameters, void **extra) {
  if (sim::launches_are_empty()) return kSuccess;
  SIM_CALL(hipModuleLaunchKernel, 0) {
    Context *current = nullptr;
    const int usable = use_context(driver, &current);
    if (usable != kSuccess) return usable;
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (kernel == nullptr) return sim::kInvalidHandle;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (failed != kSuccess) return failed;
    if (found->context != kernel->context) return sim::kInvalidHandle;
    const sim::LaunchShape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
    const int fits = check_shape(*kernel, shape);
    if (fits != kSuccess) return fits;
    if (parameters != nullptr && extra != nullptr) return sim::kInvalidValue;
    return launch(driver, found, kernel, shape, parameters, extra,
                  reinterpret_cast<const void *>(hip::kExtraEnd));
  }
  SIM_END;
}

SIM_EXPORT int hipGraphInstantiate(void **exec, void *graph, void **error_node, char *log,
                                   size_t log_bytes) {
  SIM_CALL(hipGraphInstantiate, 0) {
    const std::shared_ptr<sim::Graph> found = driver.graphs.find(graph);
    if (exec == nullptr || found == nullptr) return sim::kInvalidValue;
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes != 0) log[0] = '\0';
    return instantiate(driver, *found, exec);
  }
  SIM_END;
}

SIM_EXPORT int hipGraphExecUpdate(void *exec, void *graph, void **error_node, int *result) {
  SIM_CALL(hipGraphExecUpdate, 0) {
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    const std::shared_ptr<sim::Graph> source = driver.graphs.find(graph);
    if (target == nullptr || source == nullptr || error_node == nullptr || result == nullptr) {
      return sim::kInvalidValue;
    }
    *error_node = nullptr;
    *result = update_exec(*target, *source);
    return *result == 0 ? kSuccess : sim::kGraphUpdateFailure;
  }
  SIM_END;
}

SIM_EXPORT int hipGraphExecDestroy(void *exec) {
  SIM_CALL(hipGraphExecDestroy, sim::kReleases) {
    return driver.graph_execs.remove(exec) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int hipGraphDestroy(void *graph) {
  SIM_CALL(hipGraphDestroy, sim::kReleases) {
    return driver.graphs.remove(graph) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int hipGraphLaunch(void *exec, void *stream) {
  SIM_CALL(hipGraphLaunch, 0) {
    Context *current = nullptr;
    const int usable = use_context(driver, &current);
    if (usable != kSuccess) return usable;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (failed != kSuccess) return failed;
    const std::shared_ptr<sim::GraphExec> target = driver.graph_execs.find(exec);
    return target == nullptr ? static_cast<int>(sim::kInvalidValue)
                             : launch_graph(driver, target, found);
  }
  SIM_END;
}

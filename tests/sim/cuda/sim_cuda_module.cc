// SPDX-License-Identifier: Apache-2.0
// Implements modules, libraries, functions and launches.
#include "tests/sim/core/sim_module.h"

#include <algorithm>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/cuda/sim_cuda_api.h"
#include "tests/sim/cuda/sim_cuda_device.h"

namespace {

using sim::Context;
using sim::Driver;
using sim::Kernel;
using sim::kSuccess;

// Checks the grid and block limits that are the same for every function.
bool fits_grid(const sim::LaunchShape &shape) {
  constexpr uint64_t kBlocks[3] = {2147483647, 65535, 65535}, kThreads[3] = {1024, 1024, 64};
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (shape.blocks[i] == 0 || shape.blocks[i] > kBlocks[i]) return false;
    if (shape.threads[i] == 0 || shape.threads[i] > kThreads[i]) return false;
    threads *= shape.threads[i];
  }
  return threads <= 1024;
}

uint32_t dynamic_limit(const Kernel &kernel) {
  const uint32_t fixed = std::min(kernel.message.shared_bytes, sim::cuda::kDefaultShared);
  return kernel.shared_set ? kernel.max_dynamic_shared : sim::cuda::kDefaultShared - fixed;
}

int function_attribute(const Driver &driver, const Kernel &kernel, const sim::Module &module,
                       int attribute, int *out) {
  const int arch = sim::cuda::arch_of(driver);
  switch (attribute) {
    case sim::cuda::kFunctionMaxThreads:
      return *out = static_cast<int>(kernel.message.max_threads), kSuccess;
    case sim::cuda::kFunctionSharedBytes:
      return *out = static_cast<int>(kernel.message.shared_bytes), kSuccess;
    case sim::cuda::kFunctionConstantBytes:
    case sim::cuda::kFunctionCacheMode:
      return *out = 0, kSuccess;
    case sim::cuda::kFunctionLocalBytes:
      return *out = static_cast<int>(kernel.message.local_bytes), kSuccess;
    case sim::cuda::kFunctionRegisters:
      return *out = static_cast<int>(kernel.message.registers), kSuccess;
    case sim::cuda::kFunctionPtxVersion:
      return *out = module.image.ptx_version != 0 ? module.image.arch : arch, kSuccess;
    case sim::cuda::kFunctionBinaryVersion:
      return *out = module.image.ptx_version != 0 ? arch : module.image.arch, kSuccess;
    case sim::cuda::kFunctionMaxDynamicShared:
      return *out = static_cast<int>(dynamic_limit(kernel)), kSuccess;
    case sim::cuda::kFunctionCarveout:
      return *out = -1, kSuccess;
    default:
      return sim::kInvalidValue;
  }
}

int load(Driver &driver, const void *code, sim::Image *image) {
  const int read = sim::read_cuda_image(code, sim::cuda::target_of(driver), image);
  if (read != kSuccess) return read;
  if (image->ptx_version == 0) return driver.config.ptx ? sim::kNoBinaryForGpu : kSuccess;
  if (driver.config.ptx) {
    image->text = std::make_shared<const std::string>(static_cast<const char *>(code), image->size);
  }
  ++driver.ptx.texts;
  driver.ptx.bytes += image->size;
  driver.ptx.entries += image->kernels.size();
  return kSuccess;
}

// Returns the module of a library in the current context. The first call in a context creates the
// module.
int module_of(Driver &driver, void *library, std::shared_ptr<sim::Module> *out) {
  Context *current = nullptr;
  const int code = use_context(driver, &current);
  if (code != kSuccess) return code;
  const std::shared_ptr<sim::Library> found = driver.libraries.find(library);
  if (found == nullptr) return sim::kInvalidHandle;
  void *&known = found->modules[current->handle];
  if (known == nullptr) known = add_module(driver, *current, found->digest, found->image)->handle;
  *out = driver.modules.find(known);
  return kSuccess;
}

}  // namespace

SIM_EXPORT int cuModuleLoadData(void **module, const void *code) {
  SIM_CALL(cuModuleLoadData, 0) {
    Context *current = nullptr;
    int code_found = use_context(driver, &current);
    if (code_found == kSuccess) code_found = refuse_while_capturing(driver);
    if (code_found != kSuccess) return code_found;
    if (module == nullptr || code == nullptr) return sim::kInvalidValue;
    sim::Image image;
    const int read = load(driver, code, &image);
    if (read != kSuccess) return read;
    *module = add_module(driver, *current, image_digest(code, image), image)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuModuleUnload(void *module) {
  SIM_CALL(cuModuleUnload, sim::kReleases) {
    const int refused = refuse_while_capturing(driver);
    return refused != kSuccess ? refused : remove_module(driver, lock, module);
  }
  SIM_END;
}

SIM_EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  SIM_CALL(cuModuleGetFunction, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    const std::shared_ptr<sim::Module> found = driver.modules.find(module);
    if (function == nullptr || name == nullptr) return sim::kInvalidValue;
    if (found == nullptr) return sim::kInvalidHandle;
    const std::shared_ptr<Kernel> kernel = kernel_of(driver, *found, name);
    if (kernel == nullptr) return sim::kNotFound;
    *function = kernel->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuLibraryLoadData(void **library, const void *code, void **, void **,
                                 unsigned options, void **, void **, unsigned library_options) {
  SIM_CALL(cuLibraryLoadData, 0) {
    if (library == nullptr || code == nullptr) return sim::kInvalidValue;
    if (options != 0 || library_options != 0) return sim::kNotSupported;
    sim::Image image;
    const int read = load(driver, code, &image);
    if (read != kSuccess) return read;
    auto made = std::make_shared<sim::Library>();
    made->digest = image_digest(code, image);
    made->image = std::move(image);
    *library = driver.libraries.add(driver.new_handle(), made);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuLibraryUnload(void *library) {
  SIM_CALL(cuLibraryUnload, sim::kReleases) {
    const std::shared_ptr<sim::Library> found = driver.libraries.find(library);
    if (found == nullptr) return sim::kInvalidHandle;
    const int refused = refuse_while_capturing(driver);
    if (refused != kSuccess) return refused;
    for (const auto &[context, module] : found->modules) remove_module(driver, lock, module);
    for (const auto &[name, kernel] : found->kernels) driver.library_kernels.remove(kernel);
    driver.libraries.remove(library);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuLibraryGetModule(void **module, void *library) {
  SIM_CALL(cuLibraryGetModule, 0) {
    if (module == nullptr) return sim::kInvalidValue;
    std::shared_ptr<sim::Module> found;
    const int code = module_of(driver, library, &found);
    if (code == kSuccess) *module = found->handle;
    return code;
  }
  SIM_END;
}

// The name is looked up in the library, so no context is required.
SIM_EXPORT int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  SIM_CALL(cuLibraryGetKernel, 0) {
    const std::shared_ptr<sim::Library> found = driver.libraries.find(library);
    if (kernel == nullptr || name == nullptr) return sim::kInvalidValue;
    if (found == nullptr) return sim::kInvalidHandle;
    const auto &all = found->image.kernels;
    if (std::none_of(all.begin(), all.end(), [&](const auto &one) { return one.name == name; })) {
      return sim::kNotFound;
    }
    void *&known = found->kernels[name];
    if (known == nullptr) {
      const sim::LibraryKernel made{library, name};
      known = driver.library_kernels.add(driver.new_handle(),
                                         std::make_shared<sim::LibraryKernel>(made));
    }
    *kernel = known;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuKernelGetFunction(void **function, void *kernel) {
  SIM_CALL(cuKernelGetFunction, 0) {
    if (function == nullptr) return sim::kInvalidValue;
    const std::shared_ptr<sim::LibraryKernel> found = driver.library_kernels.find(kernel);
    if (found == nullptr) return sim::kInvalidHandle;
    std::shared_ptr<sim::Module> module;
    const int code = module_of(driver, found->library, &module);
    if (code == kSuccess) *function = kernel_of(driver, *module, found->name)->handle;
    return code;
  }
  SIM_END;
}

SIM_EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
  SIM_CALL(cuFuncGetAttribute, 0) {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (value == nullptr) return sim::kInvalidValue;
    if (kernel == nullptr) return sim::kInvalidHandle;
    return function_attribute(driver, *kernel, *driver.modules.find(kernel->module), attribute,
                              value);
  }
  SIM_END;
}

SIM_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  SIM_CALL(cuFuncSetAttribute, 0) {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (kernel == nullptr) return sim::kInvalidHandle;
    if (attribute == sim::cuda::kFunctionCarveout) return kSuccess;
    if (attribute != sim::cuda::kFunctionMaxDynamicShared || value < 0) return sim::kInvalidValue;
    const uint32_t most = sim::cuda::optin_shared(sim::cuda::arch_of(driver));
    if (static_cast<uint64_t>(value) + kernel->message.shared_bytes > most)
      return sim::kInvalidValue;
    kernel->max_dynamic_shared = static_cast<uint32_t>(value);
    kernel->shared_set = true;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuFuncLoad(void *function) {
  SIM_CALL(cuFuncLoad, 0) {
    return driver.kernels.find(function) == nullptr ? sim::kInvalidHandle : kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                           size_t shared) {
  SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, 0) {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (blocks == nullptr || threads <= 0) return sim::kInvalidValue;
    if (kernel == nullptr) return sim::kInvalidHandle;
    const uint64_t all = sim::cuda::optin_shared(sim::cuda::arch_of(driver)) + 1024;
    const uint64_t each = shared + kernel->message.shared_bytes + 1024;
    const uint64_t warps = (static_cast<uint64_t>(threads) + 31) / 32;
    *blocks = static_cast<uint32_t>(threads) > kernel->message.max_threads
                  ? 0
                  : static_cast<int>(std::min<uint64_t>({32, 64 / warps, all / each}));
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                              void *stream, void **parameters, void **extra) {
  if (sim::launches_are_empty()) return kSuccess;
  SIM_CALL(cuLaunchKernel, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(function);
    if (kernel == nullptr) return sim::kInvalidHandle;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (failed != kSuccess) return failed;
    if (found->context != kernel->context) return sim::kInvalidHandle;
    const sim::LaunchShape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
    if (!fits_grid(shape) || shared > dynamic_limit(*kernel)) return sim::kInvalidValue;
    if (parameters != nullptr && extra != nullptr) return sim::kInvalidValue;
    if (block_x * block_y * block_z > kernel->message.max_threads) return sim::kInvalidValue;
    return launch(driver, found, kernel, shape, parameters, extra,
                  reinterpret_cast<const void *>(sim::cuda::kExtraEnd));
  }
  SIM_END;
}

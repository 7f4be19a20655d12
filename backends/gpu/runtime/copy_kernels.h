// SPDX-License-Identifier: Apache-2.0
// The backend's own kernels, which convert, copy and fill. These kernels do not belong to a loop.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_COPY_KERNELS_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_COPY_KERNELS_H

#include <atomic>
#include <mutex>

#include "backends/gpu/geometry/entry.h"
#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;
class Module;

class CopyKernels {
 public:
  explicit CopyKernels(Device &device) : device_(device) {}

  // Returns the function of an entry. The first call loads the kernels.
  // The device's context must be current.
  // Errors  GUF_E_NO_IMAGE <= the plugin has no image for this device; the errors of Module::load
  guf_status function(Entry entry, Native *out, guf_error *error);
  void close();

 private:
  guf_status load(guf_error *error);
  guf_status load_best(guf_error *error);
  const guf_module_image *next_image(const guf_module_image *refused, int32_t refused_score,
                                     int32_t *out_score) const;

  static constexpr int kFirst = static_cast<int>(Entry::kLoopEntries);
  static constexpr int kCount = static_cast<int>(Entry::kEntries) - kFirst;

  Device &device_;
  std::atomic<bool> ready_{false};
  std::mutex mutex_;
  Module *module_ = nullptr;
  Native functions_[kCount] = {};
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_COPY_KERNELS_H

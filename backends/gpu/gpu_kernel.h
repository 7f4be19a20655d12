// SPDX-License-Identifier: Apache-2.0
// Images that were loaded, and the functions that they have for a loop.
#ifndef GUFUNC_BACKENDS_GPU_GPU_KERNEL_H
#define GUFUNC_BACKENDS_GPU_GPU_KERNEL_H

#include <mutex>

#include "backends/gpu/driver.h"
#include "backends/gpu/entry.h"

namespace gufunc::gpu {

class Device;

inline constexpr int kLoopEntries = static_cast<int>(Entry::kLoopEntries);

// All that an image has for one loop; NULL where it has none.
struct Kernel {
  Native functions[kLoopEntries] = {};
  uint32_t local_bytes[kLoopEntries] = {};  // Steps::local_bytes
  Native raw = nullptr;                     // of a raw kernel, which has nothing else
  char *name = nullptr;                     // behind the kernel
  Kernel *next = nullptr;

  Native function(Entry entry) const { return functions[static_cast<int>(entry)]; }
  uint32_t memory(Entry entry) const { return local_bytes[static_cast<int>(entry)]; }
};

class Module {
 public:
  Module(Device &device, Native native) : device_(device), native_(native) {}

  // The image must be plain. With the device's context current.
  // Errors  GUF_E_NO_IMAGE <= the driver refuses it, but perhaps takes another image; the message
  //         is the driver's answer;  GUF_E_UNSUPPORTED <= it is compressed
  static guf_status load(Device &device, const guf_module_image &image, Module **out,
                         guf_error *error);
  void unload();

  Device &device() const { return device_; }

  // The entries of a loop by its stem, with their code in the device's memory; found once.
  // Errors  GUF_E_NO_IMAGE <= the image has none of them
  guf_status kernel(const char *stem, Kernel **out, guf_error *error);
  // The function of one whole name; NULL: the image does not have it.
  guf_status function(const char *name, Native *out, guf_error *error);

 private:
  guf_status resolve(const char *stem, Kernel *kernel, guf_error *error);

  Device &device_;
  const Native native_;
  std::mutex mutex_;
  Kernel *first_ = nullptr;
};

// How well an image suits a device: 0 for what it cannot run.
int32_t score_image(Device &device, const guf_module_image &image);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_KERNEL_H

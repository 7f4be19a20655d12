// SPDX-License-Identifier: Apache-2.0
// Images that were loaded, and the functions that they have for a loop.
#ifndef GUFUNC_BACKENDS_GPU_GPU_KERNEL_H
#define GUFUNC_BACKENDS_GPU_GPU_KERNEL_H

#include <mutex>

#include "backends/gpu/driver.h"
#include "backends/gpu/entry.h"

namespace gufunc::gpu {

class Device;
class PtxText;

inline constexpr int kLoopEntries = static_cast<int>(Entry::kLoopEntries);

// All that an image has for one loop; NULL where it has none.
struct Kernel {
  Native functions[kLoopEntries] = {};
  uint32_t local_bytes[kLoopEntries] = {};  // CommandSink::local_bytes
  Native raw = nullptr;                     // of a raw kernel, which has nothing else
  Native module = nullptr;                  // of its own; NULL: its code is the whole image's
  char *name = nullptr;                     // behind the kernel
  Kernel *next = nullptr;

  Native function(Entry entry) const { return functions[static_cast<int>(entry)]; }
  uint32_t memory(Entry entry) const { return local_bytes[static_cast<int>(entry)]; }
};

// How an image in PTX is loaded, which the driver compiles; machine code is always loaded whole.
enum class LoadMode : uint8_t {
  kWhole,     // at once, for function()
  kByKernel,  // what each kernel needs, when kernel() is called for it
};

class Module {
 public:
  explicit Module(Device &device) : device_(device) {}

  // The image must be plain. With the device's context current.
  // Errors  GUF_E_NO_IMAGE <= the driver refuses it, but perhaps takes another image; the message
  //         is the driver's answer;  GUF_E_UNSUPPORTED <= it is compressed
  static guf_status load(Device &device, const guf_module_image &image, LoadMode mode, Module **out,
                         guf_error *error);
  void unload();

  Device &device() const { return device_; }

  // The entries of a loop by its stem, with their code in the device's memory; found once.
  // Errors  GUF_E_NO_IMAGE <= the image has none of them, or the driver refuses their code
  guf_status kernel(const char *stem, Kernel **out, guf_error *error);
  // The function of one whole name; NULL: the image does not have it. Requires kWhole.
  guf_status function(const char *name, Native *out, guf_error *error);

 private:
  guf_status open(const guf_module_image &image, LoadMode mode, guf_error *error);
  guf_status open_text(const guf_module_image &image, bool *out_whole, guf_error *error);
  guf_status load_native(const void *image, Native *out, guf_error *error);
  guf_status load_whole(guf_error *error);
  guf_status load_excerpt(const char *stem, Native *out, guf_error *error);
  guf_status resolve(const char *stem, Kernel *kernel, guf_error *error);
  guf_status resolve_in(Native native, const char *stem, Kernel *kernel, guf_error *error);
  guf_status find_function(Native native, const char *name, Native *out, guf_error *error);

  Device &device_;
  char target_[40] = "";        // of the image, for messages
  Native native_ = nullptr;     // the whole image; NULL: not loaded, or not yet
  PtxText *text_ = nullptr;     // what excerpts are made of; NULL: the image is loaded whole
  Native probe_ = nullptr;      // the probe of text_; NULL: none
  bool whole_refused_ = false;  // by the driver, after it refused an excerpt
  std::mutex mutex_;
  Kernel *first_ = nullptr;
};

// How well an image suits a device: 0 for what it cannot run.
int32_t score_image(Device &device, const guf_module_image &image);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_KERNEL_H

// SPDX-License-Identifier: Apache-2.0
// Loaded images and the entry functions of their loops.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_KERNEL_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_KERNEL_H

#include <mutex>

#include "backends/gpu/geometry/entry.h"
#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;
class PtxText;

inline constexpr int kLoopEntries = static_cast<int>(Entry::kLoopEntries);

// Entry points of one loop in an image; NULL if absent.
struct Kernel {
  Native functions[kLoopEntries] = {};
  uint32_t local_bytes[kLoopEntries] = {};  // results of CommandSink::local_bytes
  Native raw = nullptr;                     // function of a raw kernel, which has no other entry
  Native module = nullptr;  // module of an excerpt; NULL: the code is in the whole image
  char *name = nullptr;     // stored behind this struct, in the same allocation
  Kernel *next = nullptr;

  Native function(Entry entry) const { return functions[static_cast<int>(entry)]; }
  uint32_t memory(Entry entry) const { return local_bytes[static_cast<int>(entry)]; }
};

// How a PTX image, which the driver compiles, is loaded. Machine code is always loaded as a whole.
enum class LoadMode : uint8_t {
  kWhole,     // loads the whole image immediately, as function() requires
  kByKernel,  // each call of kernel() loads the text that the kernel needs
};

class Module {
 public:
  explicit Module(Device &device) : device_(device) {}

  // Loads an image. The image must not be compressed, and the device's context must be current.
  // Errors  GUF_E_NO_IMAGE <= the driver refuses the image, but may accept another image;
  //         the message is the driver's;
  //         GUF_E_UNSUPPORTED <= the image is compressed
  static guf_status load(Device &device, const guf_module_image &image, LoadMode mode, Module **out,
                         guf_error *error);
  void unload();

  Device &device() const { return device_; }

  // Returns the entries of the loop whose symbols begin with `stem`, or the raw kernel with the
  // symbol `stem`. Loads the code to device memory. Each stem is looked up only once.
  // Errors  GUF_E_NO_IMAGE <= the image has no entry of the loop, or the driver refuses the code
  guf_status kernel(const char *stem, Kernel **out, guf_error *error);
  // Returns the function with exactly this name, or NULL if the image
  // does not contain it. Requires kWhole.
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
  char target_[40] = "";        // target of the image, for messages
  Native native_ = nullptr;     // the whole image; NULL: not loaded
  PtxText *text_ = nullptr;     // the text for excerpts; NULL: the image is loaded as a whole
  Native probe_ = nullptr;      // probe of text_, or NULL
  bool whole_refused_ = false;  // the driver refused an excerpt and then the whole text
  std::mutex mutex_;
  Kernel *first_ = nullptr;
};

// Returns a score for how well an image suits a device, or 0 if the device cannot run it.
int32_t score_image(Device &device, const guf_module_image &image);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_KERNEL_H

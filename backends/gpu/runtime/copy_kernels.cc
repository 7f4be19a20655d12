// SPDX-License-Identifier: Apache-2.0
// Loads the copy and cast kernels from the best image that the driver accepts.
#include "backends/gpu/runtime/copy_kernels.h"

#include <cstdio>
#include <cstring>

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_kernel.h"

namespace gufunc::gpu {

guf_status CopyKernels::function(Entry entry, Native *out, guf_error *error) {
  if (!ready_.load(std::memory_order_acquire)) GUF_BACKEND_TRY(load(error));
  *out = functions_[static_cast<int>(entry) - kFirst];
  if (*out != nullptr) return GUF_OK;
  return fail(error, GUF_E_NO_IMAGE, "the plugin's image has no '%s'", entry_name(entry));
}

guf_status CopyKernels::load(guf_error *error) {
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard lock(mutex_);
  if (ready_.load(std::memory_order_acquire)) return GUF_OK;
  if (module_ == nullptr) GUF_BACKEND_TRY(load_best(error));
  for (int i = 0; i < kCount; ++i) {
    GUF_BACKEND_TRY(
        module_->function(entry_name(static_cast<Entry>(kFirst + i)), &functions_[i], error));
  }
  ready_.store(true, std::memory_order_release);
  return GUF_OK;
}

// Returns the best image that ranks below the image that the driver refused,
// or NULL if there is none.
const guf_module_image *CopyKernels::next_image(const guf_module_image *refused,
                                                int32_t refused_score, int32_t *out_score) const {
  const guf_module_v1 *const table = device_.vendor().copy_kernels();
  const guf_module_image *best = nullptr;
  *out_score = 0;
  for (uint32_t i = 0; table != nullptr && i < table->nimages; ++i) {
    const guf_module_image &image = table->images[i];
    const int32_t score = score_image(device_, image);
    if (score <= *out_score || score > refused_score) continue;
    if (score == refused_score && &image <= refused) continue;
    *out_score = score;
    best = &image;
  }
  return best;
}

// Loads the best image. If the driver refuses an image, tries the next best one.
guf_status CopyKernels::load_best(guf_error *error) {
  char refusals[300] = "";
  int32_t code = 0, score = INT32_MAX;
  // The caller's error is written only if all images fail.
  guf_error refusal = {};
  const guf_module_image *image = nullptr;
  while ((image = next_image(image, score, &score)) != nullptr) {
    refusal.struct_size = sizeof(refusal);
    const guf_status status = Module::load(device_, *image, LoadMode::kWhole, &module_, &refusal);
    if (status == GUF_OK) return status;
    if (status != GUF_E_NO_IMAGE) {
      if (error != nullptr && error->struct_size == sizeof(*error)) *error = refusal;
      return status;
    }
    code = refusal.native_code;
    const size_t length = std::strlen(refusals);
    std::snprintf(refusals + length, sizeof(refusals) - length, "%s%.40s (refused: %.80s)",
                  length == 0 ? "" : ", ", image->target, refusal.message);
  }
  return fail_native(
      error, GUF_E_NO_IMAGE, code,
      "no image of the copy and cast kernels for device %d, %s; available images: %s",
      device_.context().index, device_.properties().target,
      refusals[0] == '\0' ? "none for this target" : refusals);
}

void CopyKernels::close() {
  const std::lock_guard lock(mutex_);
  ready_.store(false, std::memory_order_relaxed);
  if (module_ != nullptr) module_->unload();
  module_ = nullptr;
}

}  // namespace gufunc::gpu

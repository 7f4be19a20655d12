// SPDX-License-Identifier: Apache-2.0
// Loading the moves: the best image that the driver takes.
#include "backends/gpu/move_kernels.h"

#include "backends/gpu/gpu_device.h"
#include "backends/gpu/gpu_kernel.h"

namespace gufunc::gpu {

guf_status MoveKernels::function(Entry entry, Native *out, guf_error *error) {
  if (!ready_.load(std::memory_order_acquire)) GUF_GPU_TRY(load(error));
  *out = functions_[static_cast<int>(entry) - kFirst];
  if (*out != nullptr) return GUF_OK;
  return fail(error, GUF_E_NO_IMAGE, "the plugin's image has no '%s'", entry_name(entry));
}

guf_status MoveKernels::load(guf_error *error) {
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard lock(mutex_);
  if (ready_.load(std::memory_order_acquire)) return GUF_OK;
  if (module_ == nullptr) GUF_GPU_TRY(load_best(error));
  for (int i = 0; i < kCount; ++i) {
    GUF_GPU_TRY(
        module_->function(entry_name(static_cast<Entry>(kFirst + i)), &functions_[i], error));
  }
  ready_.store(true, std::memory_order_release);
  return GUF_OK;
}

// An image that the driver refuses scores 0 from then on, and the next one is tried.
guf_status MoveKernels::load_best(guf_error *error) {
  const guf_module_v1 *const table = device_.vendor().moves();
  guf_status status = GUF_OK;
  guf_error refusal = {};  // the caller's record is for failures, and the next image may do
  refusal.struct_size = sizeof(refusal);
  for (;;) {
    const guf_module_image *best = nullptr;
    int32_t best_score = 0;
    for (uint32_t i = 0; table != nullptr && i < table->nimages; ++i) {
      const int32_t score = score_image(device_, table->images[i]);
      if (score <= best_score) continue;
      best_score = score;
      best = &table->images[i];
    }
    if (best == nullptr) break;
    status = Module::load(device_, *best, &module_, &refusal);
    if (status == GUF_OK) return status;
    if (status != GUF_E_NO_IMAGE) break;
  }
  if (status != GUF_OK) {
    if (error != nullptr && error->struct_size == sizeof(*error)) *error = refusal;
    return status;
  }
  return fail(error, GUF_E_NO_IMAGE, "the plugin has no moving kernels for %s",
              device_.facts().target);
}

void MoveKernels::close() {
  const std::lock_guard lock(mutex_);
  ready_.store(false, std::memory_order_relaxed);
  if (module_ != nullptr) module_->unload();
  module_ = nullptr;
}

}  // namespace gufunc::gpu

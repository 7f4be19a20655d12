// SPDX-License-Identifier: Apache-2.0
// Host images: selects the images that this machine can run and returns their functions as kernels.
#include <gufunc/module_table.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/runtime/cpu_table.h"

// The module tables that gufcc generates from kernels/standard. They are linked into the plugin.
// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" {
// The module of the standard library, which the `builtins` slot returns.
extern const guf_module_v1 gufunc_module_v1_std;
// The module of casts. Its only function, "cast", has a loop for each pair of dtypes.
extern const guf_module_v1 gufunc_module_v1_cast;
}
// NOLINTEND(readability-identifier-naming)

namespace gufunc::cpu {
namespace {

// The score of an image without a target. A program registered it as a table of function pointers,
// so it was compiled for this process.
constexpr int32_t kAnyLevelScore = 1;

guf_loop_numpy casts[kDtypes][kDtypes];
constinit std::atomic<bool> casts_ready{false};

const guf_module_image *best_image(const guf_module_v1 &module) {
  const guf_module_image *best = nullptr;
  int32_t best_score = 0;
  for (uint32_t i = 0; i < module.nimages; ++i) {
    const int32_t score = image_score(nullptr, &module.images[i]);
    if (score > best_score) {
      best_score = score;
      best = &module.images[i];
    }
  }
  return best;
}

// Several threads may fill the table at the same time,
// because they store the same values atomically.
void fill_casts() {
  const guf_module_v1 &module = gufunc_module_v1_cast;
  const guf_module_image *image = best_image(module);
  if (image == nullptr) return;
  for (uint32_t f = 0; f < module.nfunctions; ++f) {
    const guf_module_function &function = module.functions[f];
    for (uint32_t l = 0; l < function.nloops; ++l) {
      const guf_module_loop &loop = function.loops[l];
      const int from = dtype_index(loop.types[0]), to = dtype_index(loop.types[1]);
      if (from < 0 || to < 0) continue;
      std::atomic_ref<guf_loop_numpy>(casts[from][to])
          .store(reinterpret_cast<guf_loop_numpy>(image->entries[loop.kernel]),
                 std::memory_order_relaxed);
    }
  }
  casts_ready.store(true, std::memory_order_release);
}

bool is_builtin(const void *module) {
  const guf_module_v1 &table = gufunc_module_v1_std;
  return std::any_of(table.images, table.images + table.nimages,
                     [&](const guf_module_image &image) { return image.entries == module; });
}

}  // namespace

guf_loop_numpy find_cast(guf_dtype from, guf_dtype to) {
  if (!casts_ready.load(std::memory_order_acquire)) fill_casts();
  const int row = dtype_index(from), column = dtype_index(to);
  if (row < 0 || column < 0) return nullptr;
  return std::atomic_ref<guf_loop_numpy>(casts[row][column]).load(std::memory_order_relaxed);
}

const guf_module_v1 *builtins() {
  return &gufunc_module_v1_std;
}

int32_t image_score(void *, const guf_module_image *image) {
  if (image->format != GUF_IMAGE_HOST || image->codec != GUF_CODEC_NONE ||
      image->entries == nullptr) {
    return 0;
  }
  if (image->target == nullptr || image->target[0] == '\0') return kAnyLevelScore;
  const int level = parse_isa_level(image->target);
  return level == 0 || level > isa_level() ? 0 : kAnyLevelScore + level;
}

// A module handle is the function array of its image,
// which is constant data and lives as long as the module's code.
guf_status module_load(void *device, const guf_module_image *image, void **out_module,
                       guf_error *error) {
  if (image_score(device, image) == 0) {
    return fail(error, GUF_E_NO_IMAGE, kNone, kNone,
                "image: expected host code up to %s, got format %d for '%.40s'",
                isa_target(isa_level()), image->format,
                image->target == nullptr ? "" : image->target);
  }
  *out_module = const_cast<void *>(static_cast<const void *>(image->entries));
  return GUF_OK;
}

void module_unload(void *) {}

guf_status kernel_get(void *module, uint32_t index, const char *name, void **out_kernel,
                      guf_error *error) {
  const auto entries = static_cast<void (*const *)(void)>(module);
  if (entries[index] == nullptr) {
    return fail(error, GUF_E_NO_IMAGE, kNone, kNone, "the image has no code for kernel %u '%.60s'",
                index, name == nullptr ? "" : name);
  }
  *out_kernel = reinterpret_cast<void *>(entries[index]);
  if (is_builtin(module)) LoopCost(*out_kernel, nullptr).assume_ordinary();
  return GUF_OK;
}

}  // namespace gufunc::cpu

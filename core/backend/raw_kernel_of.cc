// SPDX-License-Identifier: Apache-2.0
// A raw kernel's code on a device, chosen among the module's images as a loop's is.
#include "core/backend/image_cache.h"
#include "core/backend/raw_kernel.h"

namespace gufunc::backend {
namespace {

bool has(const guf_module_image &image, const guf_module_kernel &kernel) {
  return image.family == 0 || image.family == kernel.family;
}

const guf_module_image *best_of(const guf_module_v1 &table, const guf_module_kernel &kernel,
                                const Device &device) {
  const guf_module_image *best = nullptr;
  int32_t best_score = 0;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    if (!has(image, kernel)) continue;
    const int32_t score = device.backend->api.image_score(device.native, &image);
    if (score > best_score && !is_refused(device, image)) {
      best_score = score;
      best = &image;
    }
  }
  return best;
}

guf_status no_code(const guf_module_v1 &table, const guf_module_kernel &kernel,
                   const Device &device, guf_error *error) {
  base::Text list;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    if (!has(image, kernel)) continue;
    list.add("%s%s%s", list.c_str()[0] == '\0' ? "" : ", ", image.target,
             is_refused(device, image) ? " (refused)" : "");
  }
  return base::fail(error, GUF_E_NO_IMAGE, base::kNone, base::kNone,
                    "no code of the kernel '%s:%s' for device %s (%s); images there are: %s",
                    table.name, kernel.name, device.spec.c_str(), device.info.target,
                    list.c_str()[0] == '\0' ? "none" : list.c_str());
}

}  // namespace

guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error) {
  *out = static_cast<const guf_kernels_api *>(device.kernels.load(std::memory_order_acquire));
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  const void *found = nullptr;
  ErrorRoom nobody(nullptr);
  const guf_status status = device.backend->api.extension(
      "gufunc.kernels", GUF_KERNELS_EXTENSION_VERSION, &found, nobody.get());
  const auto *const table = static_cast<const guf_kernels_api *>(found);
  if (status != GUF_OK || table == nullptr || table->struct_size < sizeof(guf_kernels_api)) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "%s: backend %s runs no raw kernels", device.spec.c_str(),
                      device.backend->name.c_str());
  }
  device.kernels.store(table, std::memory_order_release);
  *out = table;
  return GUF_OK;
}

guf_status raw_kernel_of(const guf_module_v1 &table, const guf_module_kernel &kernel,
                         Device &device, void **out, guf_error *error) {
  const guf_module_image *image = best_of(table, kernel, device);
  if (image == nullptr) return no_code(table, kernel, device, error);
  void *module = nullptr;
  // What the driver refused is never the best one again, so this ends.
  for (;;) {
    const guf_status status = load_image(device, *image, &module, error);
    if (status == GUF_OK) break;
    if (status != GUF_E_NO_IMAGE) return status;
    image = best_of(table, kernel, device);
    if (image == nullptr) return status;
  }
  ErrorRoom room(error);
  return device.backend->api.kernel_get(module, kernel.kernel, kernel.symbol, out, room.get());
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
#include "core/backend/image_choice.h"

#include "core/backend/image_cache.h"

namespace gufunc::backend {

void list_image(const Device &device, const guf_module_image &image, base::Text *list) {
  list->add("%s%s", list->c_str()[0] == '\0' ? "" : ", ", target_of(image));
  Refusal refusal;
  if (!find_refusal(device, image, &refusal)) return;
  list->add(refusal.reason[0] == '\0' ? " (refused)" : " (refused: %s)", refusal.reason);
}

base::Text list_images(const Device &device, const guf_module_v1 &table, uint32_t family) {
  base::Text list;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (serves(table.images[i], family)) list_image(device, table.images[i], &list);
  }
  if (list.c_str()[0] == '\0') list.add("none");
  return list;
}

int32_t refusal_code(const Device &device, const guf_module_v1 &table, uint32_t family) {
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (serves(table.images[i], family) && find_refusal(device, table.images[i], &refusal)) break;
  }
  return refusal.native_code;
}

const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family) {
  const guf_module_image *best = nullptr;
  int32_t best_score = 0;
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    if (!serves(image, family)) continue;
    const int32_t score = device.backend->api.image_score(device.native, &image);
    if (score > best_score && !find_refusal(device, image, &refusal)) {
      best_score = score;
      best = &image;
    }
  }
  return best;
}

// What was refused is never the best one again, so this ends.
guf_status load_best(Device &device, const guf_module_v1 &table, uint32_t family,
                     const guf_module_image *image, void **out_module, guf_error *error) {
  for (;;) {
    const guf_status status = load_image(device, *image, out_module, error);
    if (status != GUF_E_NO_IMAGE) return status;
    image = best_image(device, table, family);
    if (image == nullptr) return status;
  }
}

}  // namespace gufunc::backend

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
    if (has_family(table.images[i], family)) list_image(device, table.images[i], &list);
  }
  if (list.c_str()[0] == '\0') list.add("none");
  return list;
}

int32_t refusal_code(const Device &device, const guf_module_v1 &table, uint32_t family) {
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (has_family(table.images[i], family) && find_refusal(device, table.images[i], &refusal))
      break;
  }
  return refusal.native_code;
}

const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family, const guf_module_image *after) {
  const guf_backend_api &api = device.backend->api;
  const int32_t most = after == nullptr ? INT32_MAX : api.image_score(device.native, after);
  const guf_module_image *best = nullptr;
  int32_t best_score = 0;
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    if (!has_family(image, family)) continue;
    const int32_t score = api.image_score(device.native, &image);
    if (score <= best_score || score > most) continue;
    if (after != nullptr && score == most && &image <= after) continue;
    if (find_refusal(device, image, &refusal)) continue;
    best_score = score;
    best = &image;
  }
  return best;
}

namespace {

// Copies the error into the caller's error, whose struct_size may differ.
guf_status copy_error(guf_error *error, guf_status status, const guf_error &answer) {
  return base::fail_native(error, status, answer.argument, answer.axis, answer.native_code, "%s",
                           answer.message);
}

guf_status load_kernel_from_image(Device &device, const guf_module_image &image,
                                  const KernelName &kernel, void **out, bool *out_loaded,
                                  guf_error *error) {
  void *module = nullptr;
  *out_loaded = false;
  GUF_TRY(load_image(device, image, &module, error));
  *out_loaded = true;
  ErrorRecord record(error);
  return device.backend->api.kernel_get(module, kernel.index, kernel.name, out, record.get());
}

}  // namespace

guf_status load_kernel_from_best_image(Device &device, const guf_module_v1 &table,
                                       const KernelName &kernel, void **out, bool *out_refused,
                                       guf_error *error) {
  *out_refused = true;
  guf_error answer = {};
  const guf_module_image *image = nullptr;
  while ((image = best_image(device, table, kernel.family, image)) != nullptr) {
    guf_error latest = {};
    latest.struct_size = sizeof latest;
    latest.argument = latest.axis = base::kNone;
    bool loaded = false;
    const guf_status status = load_kernel_from_image(device, *image, kernel, out, &loaded, &latest);
    if (status == GUF_OK) return GUF_OK;
    if (status != GUF_E_NO_IMAGE) return copy_error(error, status, latest);
    if (loaded && *out_refused) answer = latest;
    if (loaded) *out_refused = false;
  }
  return *out_refused ? GUF_E_NO_IMAGE : copy_error(error, GUF_E_NO_IMAGE, answer);
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
// The cache of loaded images. The lock is not held while plugins are called. Two threads may
// therefore load the same image, and one of them then unloads its copy.
#include "core/backend/image_cache.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/backend/plain_image.h"
#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

struct LoadedImage {
  const guf_module_image *image;  // compared by address
  Device *device;
  void *module;  // nullptr if the driver rejected the image
  Refusal refusal;
  bool leaving = false;  // about to be unloaded; lookups ignore it
};

// Counts the modules that use one kernel table. If several contexts open the same file, their
// modules share its table, because the loader maps the file once.
struct SharedTable {
  const guf_module_v1 *table;
  uint64_t modules;
};

// An image whose only kernel is a host function. Plugins store the address of the image, which must
// not change.
struct HostImage {
  explicit HostImage(void (*f)(void)) : function(f) {
    image.format = GUF_IMAGE_HOST;
    image.codec = GUF_CODEC_NONE;
    image.target = "";
    image.entries = &function;
  }
  void (*const function)(void);
  guf_module_image image = {};
};

struct Cache {
  base::ForkLock lock;
  std::vector<LoadedImage> images;
  std::vector<SharedTable> tables;
  std::vector<std::unique_ptr<HostImage>> host_images;
};

Cache &cache() {
  static Cache *const instance = new Cache;  // never destroyed
  return *instance;
}

// Finds the image in the cache. Returns false if the image has neither been loaded nor rejected.
bool find_loaded(const Device &device, const guf_module_image &image, void **out_module,
                 Refusal *out_refusal) {
  Cache &all = cache();
  const std::lock_guard<base::ForkLock> hold(all.lock);
  for (const LoadedImage &loaded : all.images) {
    if (loaded.image != &image || loaded.device != &device || loaded.leaving) continue;
    *out_module = loaded.module;
    *out_refusal = loaded.refusal;
    return true;
  }
  return false;
}

// Stores a module in the cache. If another thread has already stored a module for the image,
// returns false and sets `*module` to the stored module.
bool keep_loaded(Device &device, const guf_module_image &image, void **module,
                 const Refusal &refusal = {}) {
  Cache &all = cache();
  const std::lock_guard<base::ForkLock> hold(all.lock);
  for (const LoadedImage &other : all.images) {
    if (other.image != &image || other.device != &device || other.leaving) continue;
    *module = other.module;
    return false;
  }
  all.images.push_back({&image, &device, *module, refusal});
  return true;
}

void keep_refused(Device &device, const guf_module_image &image, const guf_error &answer) {
  Refusal refusal = {.native_code = answer.native_code};
  // The reason is truncated at the start of a UTF-8 character.
  size_t length = strnlen(answer.message, sizeof refusal.reason - 1);
  while (length > 0 && (static_cast<unsigned char>(answer.message[length]) & 0xC0) == 0x80)
    --length;
  std::memcpy(refusal.reason, answer.message, length);
  void *none = nullptr;
  keep_loaded(device, image, &none, refusal);
}

bool is_of(const guf_module_v1 &table, const LoadedImage &loaded) {
  return std::any_of(table.images, table.images + table.nimages,
                     [&](const guf_module_image &own) { return &own == loaded.image; });
}

const guf_module_image &host_image(void (*function)(void)) {
  Cache &all = cache();
  const std::lock_guard<base::ForkLock> hold(all.lock);
  for (const auto &known : all.host_images) {
    if (known->function == function) return known->image;
  }
  all.host_images.push_back(std::make_unique<HostImage>(function));
  return all.host_images.back()->image;
}

}  // namespace

bool find_refusal(const Device &device, const guf_module_image &image, Refusal *out) {
  void *module = nullptr;
  return find_loaded(device, image, &module, out) && module == nullptr;
}

guf_status load_image(Device &device, const guf_module_image &image, void **out_module,
                      guf_error *error) {
  Refusal refusal;
  if (find_loaded(device, image, out_module, &refusal)) {
    if (*out_module != nullptr) return GUF_OK;
    return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone, refusal.native_code,
                             "device %s refused image %s before: %s", device.spec.c_str(),
                             image.target, refusal.reason);
  }
  const guf_backend_api &api = device.backend->api;
  PlainImage plain;
  const guf_module_image *given = &image;
  if (image.format != GUF_IMAGE_HOST) {
    GUF_TRY(plain.open(image, error));
    given = &plain.image();
  }
  guf_error answer = {};
  answer.struct_size = sizeof answer;
  void *module = nullptr;
  const guf_status status = api.module_load(device.native, given, &module, &answer);
  if (status != GUF_OK) {
    if (status == GUF_E_NO_IMAGE) keep_refused(device, image, answer);
    if (error != nullptr && error->struct_size == sizeof answer) *error = answer;
    return status;
  }
  *out_module = module;
  if (!keep_loaded(device, image, out_module)) api.module_unload(module);
  return GUF_OK;
}

guf_status wrap_host_loop(Device &device, void (*function)(void), const char *name,
                          void **out_kernel, guf_error *error) {
  const guf_module_image &image = host_image(function);
  const guf_backend_api &api = device.backend->api;
  if (api.image_score(device.native, &image) <= 0) {
    return base::fail(error, GUF_E_NO_IMAGE, base::kNone, base::kNone,
                      "the loop of '%s' is a host function, which device %s cannot run", name,
                      device.spec.c_str());
  }
  void *module = nullptr;
  GUF_TRY(load_image(device, image, &module, error));
  ErrorRecord record(error);
  return api.kernel_get(module, 0, name, out_kernel, record.get());
}

void retain_images(const guf_module_v1 &table) {
  Cache &all = cache();
  const std::lock_guard<base::ForkLock> hold(all.lock);
  for (SharedTable &known : all.tables) {
    if (known.table != &table) continue;
    ++known.modules;
    return;
  }
  all.tables.push_back({&table, 1});
}

void release_images(const guf_module_v1 &table) {
  Cache &all = cache();
  {
    const std::lock_guard<base::ForkLock> hold(all.lock);
    const auto known = std::find_if(all.tables.begin(), all.tables.end(),
                                    [&](const SharedTable &own) { return own.table == &table; });
    if (--known->modules != 0) return;
    all.tables.erase(known);
    for (LoadedImage &loaded : all.images) {
      if (is_of(table, loaded)) loaded.leaving = true;
    }
  }
  for (;;) {
    LoadedImage found;
    {
      const std::lock_guard<base::ForkLock> hold(all.lock);
      const auto place = std::find_if(
          all.images.begin(), all.images.end(),
          [&](const LoadedImage &loaded) { return loaded.leaving && is_of(table, loaded); });
      if (place == all.images.end()) return;
      found = *place;
      all.images.erase(place);
    }
    if (found.module != nullptr) found.device->backend->api.module_unload(found.module);
  }
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
// Plugins are called outside the lock; of two threads that load the same image, one gives its copy
// back.
#include "core/backend/image_cache.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

struct LoadedImage {
  const guf_module_image *image;  // its address is its identity
  Device *device;
  void *module;
};

// A host function as an image of one kernel. Its address must not move: plugins keep it.
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
  std::vector<std::unique_ptr<HostImage>> host_images;
};

Cache &cache() {
  static Cache *const instance = new Cache;  // immortal
  return *instance;
}

void *find_loaded(const Device &device, const guf_module_image &image) {
  Cache &all = cache();
  const std::lock_guard<base::ForkLock> hold(all.lock);
  for (const LoadedImage &loaded : all.images) {
    if (loaded.image == &image && loaded.device == &device) return loaded.module;
  }
  return nullptr;
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

guf_status load_image(Device &device, const guf_module_image &image, void **out_module,
                      guf_error *error) {
  if (*out_module = find_loaded(device, image); *out_module != nullptr) return GUF_OK;
  if (image.codec != GUF_CODEC_NONE) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "image %s is compressed (codec %d); this version inflates none",
                      image.target == nullptr ? "" : image.target, image.codec);
  }
  const guf_backend_api &api = device.backend->api;
  ErrorRoom room(error);
  void *module = nullptr;
  GUF_TRY(api.module_load(device.native, &image, &module, room.get()));
  Cache &all = cache();
  {
    const std::lock_guard<base::ForkLock> hold(all.lock);
    const auto first = std::find_if(all.images.begin(), all.images.end(), [&](const auto &other) {
      return other.image == &image && other.device == &device;
    });
    if (first == all.images.end()) {
      all.images.push_back({&image, &device, module});
      *out_module = module;
      return GUF_OK;
    }
    *out_module = first->module;
  }
  api.module_unload(module);
  return GUF_OK;
}

guf_status wrap_host_loop(Device &device, void (*function)(void), const char *name,
                          void **out_kernel, guf_error *error) {
  const guf_module_image &image = host_image(function);
  const guf_backend_api &api = device.backend->api;
  if (api.image_score(device.native, &image) <= 0) {
    return base::fail(error, GUF_E_NO_IMAGE, base::kNone, base::kNone,
                      "the loop of '%s' is a host function; device %s runs none", name,
                      device.spec.c_str());
  }
  void *module = nullptr;
  GUF_TRY(load_image(device, image, &module, error));
  ErrorRoom room(error);
  return api.kernel_get(module, 0, name, out_kernel, room.get());
}

void forget_images(const guf_module_v1 &table) {
  const auto is_of_table = [&](const LoadedImage &loaded) {
    return std::any_of(table.images, table.images + table.nimages,
                       [&](const guf_module_image &own) { return &own == loaded.image; });
  };
  for (;;) {
    LoadedImage found;
    Cache &all = cache();
    {
      const std::lock_guard<base::ForkLock> hold(all.lock);
      const auto place = std::find_if(all.images.begin(), all.images.end(), is_of_table);
      if (place == all.images.end()) return;
      found = *place;
      all.images.erase(place);
    }
    found.device->backend->api.module_unload(found.module);
  }
}

}  // namespace gufunc::backend

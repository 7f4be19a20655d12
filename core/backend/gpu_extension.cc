// SPDX-License-Identifier: Apache-2.0
#include "core/backend/gpu_extension.h"

namespace gufunc::backend {

guf_status gpu_extension(Device &device, const char *what, const guf_gpu_api **out,
                         guf_error *error) {
  *out = static_cast<const guf_gpu_api *>(device.gpu.load(std::memory_order_acquire));
  if (*out != nullptr) return GUF_OK;
  const void *found = nullptr;
  ErrorRoom nobody(nullptr);
  const guf_status status =
      device.backend->api.extension("gufunc.gpu", GUF_GPU_EXTENSION_VERSION, &found, nobody.get());
  const auto *const table = static_cast<const guf_gpu_api *>(found);
  // A table of an older plugin lacks what was appended since; this is the first version.
  if (status != GUF_OK || table == nullptr || table->struct_size < sizeof(guf_gpu_api)) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "%s: backend %s has no %s", device.spec.c_str(), device.backend->name.c_str(),
                      what);
  }
  device.gpu.store(table, std::memory_order_release);
  *out = table;
  return GUF_OK;
}

}  // namespace gufunc::backend

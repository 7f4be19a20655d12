// SPDX-License-Identifier: Apache-2.0
// Finds the extensions of backends.
#include "core/backend/extension.h"

namespace gufunc::backend {
namespace {

// Finds the backend's table `name` and caches it in `known`, so that a repeated call costs one
// atomic load. `what` names the feature in the error message, such as "graphs". All extension
// tables are still at their first version, so a table that is shorter than `Table` is treated as
// missing.
// Errors  GUF_E_UNSUPPORTED <= the backend has no such extension
template <class Table>
guf_status find_extension(Device &device, std::atomic<const void *> &known, const char *name,
                          uint32_t version, const char *what, const Table **out, guf_error *error) {
  *out = static_cast<const Table *>(known.load(std::memory_order_acquire));
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  const void *found = nullptr;
  ErrorRecord nobody(nullptr);
  const guf_status status = device.backend->api.extension(name, version, &found, nobody.get());
  const auto *const table = static_cast<const Table *>(found);
  if (status != GUF_OK || table == nullptr || table->struct_size < sizeof(Table)) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "%s: backend %s has no %s", device.spec.c_str(), device.backend->name.c_str(),
                      what);
  }
  known.store(table, std::memory_order_release);
  *out = table;
  return GUF_OK;
}

}  // namespace

guf_status gpu_extension(Device &device, const char *what, const guf_gpu_api **out,
                         guf_error *error) {
  return find_extension(device, device.gpu, "gufunc.gpu", GUF_GPU_EXTENSION_VERSION, what, out,
                        error);
}

guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error) {
  return find_extension(device, device.kernels, "gufunc.kernels", GUF_KERNELS_EXTENSION_VERSION,
                        "raw kernels", out, error);
}

}  // namespace gufunc::backend

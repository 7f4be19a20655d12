// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/kernel.h"

#include <algorithm>
#include <cstring>

#include "core/base/utf8.h"

namespace gufunc::kernel {

guf_status RawKernel::find(const base::Ref<module::Module> &module, const char *name,
                           base::Ref<RawKernel> *out, guf_error *error) {
  const std::span<const guf_module_kernel> all = backend::raw_kernels_of(module->table());
  const auto row = std::find_if(all.begin(), all.end(), [&](const guf_module_kernel &kernel) {
    return std::strcmp(kernel.name, name) == 0;
  });
  if (row != all.end()) {
    *out = base::Ref<RawKernel>::adopt(new RawKernel(module, *row));
    return GUF_OK;
  }
  base::Text names;
  for (const guf_module_kernel &kernel : all) {
    names.add("%s%s", names.c_str()[0] == '\0' ? "" : ", ", kernel.name);
  }
  return base::fail(error, GUF_E_NOT_FOUND, base::kNone, base::kNone,
                    "module '%s' has no raw kernel '%.*s'; it has: %s", module->table().name,
                    base::utf8_prefix(name, 64), name, all.empty() ? "none" : names.c_str());
}

guf_status RawKernel::on(backend::Device &device, void **out_kernel,
                         const guf_kernels_api **out_api, guf_error *error) {
  GUF_TRY(backend::kernels_extension(device, out_api, error));
  std::atomic<void *> &known = kernels_[static_cast<size_t>(device.number)];
  *out_kernel = known.load(std::memory_order_acquire);
  if (__builtin_expect(*out_kernel != nullptr, 1)) return GUF_OK;
  GUF_TRY(backend::load_raw_kernel(module_->table(), row_, device, out_kernel, error));
  known.store(*out_kernel, std::memory_order_release);
  return GUF_OK;
}

}  // namespace gufunc::kernel

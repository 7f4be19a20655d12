// SPDX-License-Identifier: Apache-2.0
#include "core/backend/gpu_extension.h"

#include "core/backend/extension.h"

namespace gufunc::backend {

guf_status gpu_extension(Device &device, const char *what, const guf_gpu_api **out,
                         guf_error *error) {
  return find_extension(device, device.gpu, "gufunc.gpu", GUF_GPU_EXTENSION_VERSION, what, out,
                        error);
}

}  // namespace gufunc::backend

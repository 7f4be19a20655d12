// SPDX-License-Identifier: Apache-2.0
// A failure of queued work that is stored until a caller queries it.
#ifndef GUFUNC_BACKENDS_GPU_GPU_FAILURE_H
#define GUFUNC_BACKENDS_GPU_GPU_FAILURE_H

#include <cstdint>

#include "backends/gpu/gpu_host.h"

namespace gufunc::gpu {

struct Failure {
  guf_status status = GUF_OK;
  uint64_t launch = 0;  // number of the launch in its stream, from 1
  int32_t native_code = 0;
  char message[400] = {};

  bool happened() const { return status != GUF_OK; }

  // Writes the failure into `error` and returns its status.
  guf_status report(guf_error *error) const {
    if (!happened()) return GUF_OK;
    return fail_native(error, status, native_code, "%s; launch %llu of the stream", message,
                       static_cast<unsigned long long>(launch));
  }
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_FAILURE_H

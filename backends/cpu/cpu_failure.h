// SPDX-License-Identifier: Apache-2.0
// A failure that is stored until a caller queries it.
#ifndef GUFUNC_BACKENDS_CPU_CPU_FAILURE_H
#define GUFUNC_BACKENDS_CPU_CPU_FAILURE_H

#include <gufunc/status.h>

#include <cstdint>

namespace gufunc::cpu {

struct Failure {
  guf_status status = GUF_OK;
  uint64_t launch = 0;  // number of the launch in its stream, from 1
  int32_t argument = -1, axis = -1, native_code = 0;
  char message[400] = {};

  bool happened() const { return status != GUF_OK; }
  // Copies `details`, which the failing work wrote; if `details.status` is GUF_OK, it wrote no
  // message.
  void keep(guf_status failed, uint64_t launch_number, const guf_error &details);
  // Writes the failure into `error` and returns its status.
  guf_status report(guf_error *error) const;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CPU_FAILURE_H

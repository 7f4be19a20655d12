// SPDX-License-Identifier: Apache-2.0
// A failure that is kept until somebody asks for it.
#ifndef GUFUNC_BACKENDS_CPU_CPU_FAILURE_H
#define GUFUNC_BACKENDS_CPU_CPU_FAILURE_H

#include <gufunc/status.h>

#include <cstdint>

namespace gufunc::cpu {

struct Failure {
  guf_status status = GUF_OK;
  uint64_t launch = 0;  // its number among the stream's launches, from 1
  int32_t argument = -1, axis = -1, native_code = 0;
  char message[400] = {};

  bool happened() const { return status != GUF_OK; }
  // From the record that the failing work filled; `details.status` GUF_OK: it left no text.
  void keep(guf_status failed, uint64_t launch_number, const guf_error &details);
  // Writes itself into `error` and returns the status.
  guf_status report(guf_error *error) const;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CPU_FAILURE_H

// SPDX-License-Identifier: Apache-2.0
// Keeps and reports a failure.
#include "backends/cpu/cpu_failure.h"

#include <cstring>

#include "backends/cpu/cpu_host.h"

namespace gufunc::cpu {

void Failure::keep(guf_status failed, uint64_t launch_number, const guf_error &details) {
  status = failed;
  launch = launch_number;
  const bool has_text = details.status != GUF_OK;
  argument = has_text ? details.argument : kNone;
  axis = has_text ? details.axis : kNone;
  native_code = has_text ? details.native_code : 0;
  std::memset(message, 0, sizeof(message));
  if (has_text) std::memcpy(message, details.message, sizeof(message) - 1);
}

guf_status Failure::report(guf_error *error) const {
  if (status == GUF_OK) return GUF_OK;
  if (message[0] == '\0') {
    return fail(error, status, argument, axis, "launch %llu of the stream failed",
                static_cast<unsigned long long>(launch));
  }
  fail(error, status, argument, axis, "%s; launch %llu of the stream", message,
       static_cast<unsigned long long>(launch));
  if (error != nullptr && error->struct_size == sizeof(*error)) error->native_code = native_code;
  return status;
}

}  // namespace gufunc::cpu

// SPDX-License-Identifier: Apache-2.0
// Stores a failure of queued work for a plugin until a stream or an event reports it.
#ifndef GUFUNC_BACKEND_FAILURE_HPP
#define GUFUNC_BACKEND_FAILURE_HPP

#include <gufunc/backend/host.hpp>

namespace gufunc::sdk {

struct Failure {
  guf_status status = GUF_OK;
  uint64_t launch = 0;  // number of the launch in its stream, counted from 1
  int32_t argument = kNone, axis = kNone, native_code = 0;
  char message[400] = {};

  bool happened() const { return status != GUF_OK; }

  // Stores a failure. `details` is the error record of the failed work;
  // its status is GUF_OK if the work wrote no message.
  void keep(guf_status failed, uint64_t launch_number, const guf_error &details) {
    *this = Failure();
    status = failed;
    launch = launch_number;
    if (details.status == GUF_OK) return;
    argument = details.argument;
    axis = details.axis;
    native_code = details.native_code;
    std::memcpy(message, details.message, sizeof message - 1);
  }

  // Writes the failure to `error` and returns its status.
  guf_status report(guf_error *error) const {
    if (!happened()) return GUF_OK;
    const auto number = static_cast<unsigned long long>(launch);
    if (message[0] == '\0') {
      fail(error, status, argument, axis, "launch %llu of the stream failed", number);
    } else {
      fail(error, status, argument, axis, "%s; launch %llu of the stream", message, number);
    }
    if (error != nullptr && error->struct_size == sizeof *error) error->native_code = native_code;
    return status;
  }
};

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_FAILURE_HPP

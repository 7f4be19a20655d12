// SPDX-License-Identifier: Apache-2.0
// Distinguishes error codes of this version from other values that a loop may return.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_KNOWN_STATUS_H
#define GUFUNC_BACKENDS_CPU_LOOPS_KNOWN_STATUS_H

#include <gufunc/status.h>

namespace gufunc::cpu {

// There is no default case, so that the compiler warns about a missing code.
inline bool is_error(guf_status status) {
  if (status < GUF_OK || status > GUF_E_INTERNAL) return false;
  switch (static_cast<guf_status_code>(status)) {
    case GUF_OK:
    case GUF_NOT_READY:
    case GUF_TIMEOUT:
      return false;
    case GUF_E_ARG:
    case GUF_E_HANDLE:
    case GUF_E_STRUCT:
    case GUF_E_BUFFER_TOO_SMALL:
    case GUF_E_EXISTS:
    case GUF_E_NOT_FOUND:
    case GUF_E_PLAN_MISMATCH:
    case GUF_E_DEVICE_MISMATCH:
    case GUF_E_DTYPE:
    case GUF_E_NO_LOOP:
    case GUF_E_CASTING:
    case GUF_E_SHAPE:
    case GUF_E_SIGNATURE:
    case GUF_E_READ_ONLY:
    case GUF_E_OVERLAP:
    case GUF_E_VALUE:
    case GUF_E_INDEX:
    case GUF_E_AXIS:
    case GUF_E_OVERFLOW:
    case GUF_E_FLOATING_POINT:
    case GUF_E_UNSUPPORTED:
    case GUF_E_NO_IMAGE:
    case GUF_E_CAPTURE:
    case GUF_E_NO_BACKEND:
    case GUF_E_NO_DRIVER:
    case GUF_E_DRIVER_OLD:
    case GUF_E_NO_DEVICE:
    case GUF_E_ABI:
    case GUF_E_UNTRUSTED:
    case GUF_E_NO_MEMORY:
    case GUF_E_DEVICE_MEMORY:
    case GUF_E_IO:
    case GUF_E_BAD_FILE:
    case GUF_E_LAUNCH:
    case GUF_E_LOOP:
    case GUF_E_CANCELLED:
    case GUF_E_FORKED:
    case GUF_E_SHUTDOWN:
    case GUF_E_DEVICE_LOST:
    case GUF_E_INTERNAL:
      return true;
  }
  return false;
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_KNOWN_STATUS_H

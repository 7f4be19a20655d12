// SPDX-License-Identifier: Apache-2.0
// Keeps and reports the first failed call of a loop.
#include "backends/cpu/loops/host_loop.h"

#include <cstdio>
#include <exception>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {
namespace {

// Distinguishes error codes of this version from other values that a loop may return.
// There is no default case, so that the compiler warns about a missing code.
bool is_error(guf_status status) {
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

}  // namespace

void LoopFailure::keep(guf_status returned, const guf_error *record) {
  guf_status none = GUF_OK;
  if (!returned_.compare_exchange_strong(none, returned, std::memory_order_acq_rel)) return;
  record_ = record != nullptr ? *record : guf_error{0, returned, kNone, kNone, 0, 0, {}};
  record_.message[sizeof record_.message - 1] =
      '\0';  // the loop may not have terminated the message
}

void LoopFailure::keep_thrown() {
  guf_error record = {0, GUF_E_LOOP, kNone, kNone, 0, 0, {}};
  try {
    throw;
  } catch (const std::exception &thrown) {
    std::snprintf(record.message, sizeof record.message, "the loop threw an exception: %s",
                  thrown.what());
  } catch (...) {
    std::snprintf(record.message, sizeof record.message, "the loop threw an exception");
  }
  keep(GUF_E_LOOP, &record);
}

void LoopFailure::replace(const LoopFailure &earlier) {
  returned_.store(earlier.returned_.load(std::memory_order_acquire), std::memory_order_release);
  record_ = earlier.record_;
}

guf_status LoopFailure::report(const char *text, guf_error *error) const {
  const guf_status returned = returned_.load(std::memory_order_acquire);
  const guf_status status = is_error(returned) ? returned : guf_status{GUF_E_LOOP};
  if (record_.message[0] != '\0') {
    fail(error, status, record_.argument, record_.axis, "%s", record_.message);
  } else if (returned == GUF_E_VALUE && text != nullptr) {
    fail(error, status, record_.argument, record_.axis, "%s", text);
  } else {
    fail(error, status, record_.argument, record_.axis, "a loop failed with status %d", returned);
  }
  if (error != nullptr && error->struct_size == sizeof(*error)) {
    error->native_code =
        record_.native_code == 0 && status != returned ? returned : record_.native_code;
  }
  return status;
}

}  // namespace gufunc::cpu

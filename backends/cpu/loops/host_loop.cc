// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/loops/loop_failure.h"

#include <cstdio>
#include <exception>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/known_status.h"

namespace gufunc::cpu {

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

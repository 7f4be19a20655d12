// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/loop_failure.h"

#include <cstdio>
#include <exception>

#include "backends/cpu/cpu_host.h"
#include "backends/cpu/known_status.h"

namespace gufunc::cpu {

void LoopFailure::keep(guf_status returned, const guf_error *told) {
  guf_status none = GUF_OK;
  if (!returned_.compare_exchange_strong(none, returned, std::memory_order_acq_rel)) return;
  told_ = told != nullptr ? *told : guf_error{0, returned, kNone, kNone, 0, 0, {}};
  told_.message[sizeof told_.message - 1] = '\0';  // the loop may not have terminated the message
}

void LoopFailure::keep_thrown() {
  guf_error told = {0, GUF_E_LOOP, kNone, kNone, 0, 0, {}};
  try {
    throw;
  } catch (const std::exception &thrown) {
    std::snprintf(told.message, sizeof told.message, "the loop threw an exception: %s",
                  thrown.what());
  } catch (...) {
    std::snprintf(told.message, sizeof told.message, "the loop threw an exception");
  }
  keep(GUF_E_LOOP, &told);
}

void LoopFailure::replace(const LoopFailure &earlier) {
  returned_.store(earlier.returned_.load(std::memory_order_acquire), std::memory_order_release);
  told_ = earlier.told_;
}

guf_status LoopFailure::report(const char *text, guf_error *error) const {
  const guf_status returned = returned_.load(std::memory_order_acquire);
  const guf_status status = is_error(returned) ? returned : guf_status{GUF_E_LOOP};
  if (told_.message[0] != '\0') {
    fail(error, status, told_.argument, told_.axis, "%s", told_.message);
  } else if (returned == GUF_E_VALUE && text != nullptr) {
    fail(error, status, told_.argument, told_.axis, "%s", text);
  } else {
    fail(error, status, told_.argument, told_.axis, "a loop failed with status %d", returned);
  }
  if (error != nullptr && error->struct_size == sizeof(*error)) {
    error->native_code =
        told_.native_code == 0 && status != returned ? returned : told_.native_code;
  }
  return status;
}

}  // namespace gufunc::cpu

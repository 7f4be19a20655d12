// SPDX-License-Identifier: Apache-2.0
// Compares the current process with the process that opened the driver.
#include "backends/gpu/runtime/driver_process.h"

#include <gufunc/backend/fork_watch.hpp>

#include <atomic>
#include <cstdint>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {
namespace {

constinit std::atomic<uint32_t> driver_fork_epoch{0};  // 0: the driver is not open

}  // namespace

void note_driver_process() {
  start_fork_watch();
  uint32_t none = 0;
  driver_fork_epoch.compare_exchange_strong(none, fork_epoch(), std::memory_order_acq_rel);
}

bool forked() {
  const uint32_t opened = driver_fork_epoch.load(std::memory_order_acquire);
  return __builtin_expect(opened != 0 && opened != fork_epoch(), 0);
}

guf_status fail_forked(guf_error *error) {
  return fail(error, GUF_E_FORKED,
              "the driver was opened before this process was forked; only the parent can use it");
}

}  // namespace gufunc::gpu

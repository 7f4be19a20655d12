// SPDX-License-Identifier: Apache-2.0
// Copies and fills in stream order. Callers hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_COPY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Where an address must be. kDevice: in memory that the driver allocated or registered. kHost:
// outside device memory. kAny: no requirement.
enum class Side { kHost, kDevice, kAny };

// Queues a copy. Pageable sources of at most 64 KiB are read before copy_async returns. Larger and
// pinned sources are read when the copy runs, and must not change until then.
// Errors  kInvalidValue (an address on the wrong side, a range that exceeds its allocation)
int copy_async(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream, void *to,
               Side to_side, const void *from, Side from_side, uint64_t bytes);

// Queues a fill: writes the low 1, 2 or 4 bytes of `pattern` `count` times. The address is aligned
// to that size.
int fill_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t to, uint64_t pattern,
               unsigned pattern_bytes, uint64_t count);

// Queues the call of a host function.
int call_async(Driver &driver, const std::shared_ptr<Stream> &stream, std::function<void()> call);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

// SPDX-License-Identifier: Apache-2.0
// Copies and fills in stream order. Callers hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_COPY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Requirement on the address of a copy. kDevice requires memory that the driver allocated or
// registered, kHost requires memory outside device memory, and kAny requires nothing.
enum class Side { kHost, kDevice, kAny };

// Queues a copy. copy_async reads a pageable source of at most 64 KiB before it returns. The copy
// reads any other source when it runs, so the host must not change this source until then.
// Errors  kInvalidValue (an address on the wrong side, a range that exceeds its allocation)
int copy_async(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream, void *to,
               Side to_side, const void *from, Side from_side, uint64_t bytes);

// Queues a fill, which writes the low 1, 2 or 4 bytes of `pattern` `count` times. The address must
// be a multiple of `pattern_bytes`.
int fill_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t to, uint64_t pattern,
               unsigned pattern_bytes, uint64_t count);

// Queues the call of a host function.
int call_async(Driver &driver, const std::shared_ptr<Stream> &stream, std::function<void()> call);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

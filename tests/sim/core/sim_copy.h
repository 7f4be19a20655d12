// SPDX-License-Identifier: Apache-2.0
// Copies and fills in the order of a stream. Called with the driver locked.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_COPY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Where an address of a copy must lie. Device: memory that a driver gave or registered. Host: not
// in an arena. Any: wherever it does.
enum class Side { kHost, kDevice, kAny };

// Pageable sources of at most 64 KiB are read before this returns, larger ones and pinned ones when
// the copy runs, and must not have changed till then.
// Errors  kInvalidValue (an address of the wrong side, a range that leaves its allocation)
int copy_async(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream, void *to,
               Side to_side, const void *from, Side from_side, uint64_t bytes);

// `count` times the low 1, 2 or 4 bytes of `pattern`; the address is aligned to them.
int fill_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t to, uint64_t pattern,
               unsigned pattern_bytes, uint64_t count);

// Calls a function of the host in the order of the stream.
int call_async(Driver &driver, const std::shared_ptr<Stream> &stream, std::function<void()> call);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_COPY_H

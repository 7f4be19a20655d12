// SPDX-License-Identifier: Apache-2.0
// Creates, finds and destroys streams and events. Copies and fills memory in stream order. Callers
// hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_STREAM_H
#define GUFUNC_TESTS_SIM_CORE_SIM_STREAM_H

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Finds a stream by its handle. In both vendors' APIs null and 1 are the legacy stream, and 2 is
// the stream of the calling thread.
// Errors  kContextIsDestroyed (no such stream), the failure of the stream's context
int find_stream(Driver &driver, Context &current, void *handle, std::shared_ptr<Stream> *out);

void *create_stream(Driver &driver, Context &context, bool blocking, unsigned flags, int priority);
int destroy_stream(Driver &driver, void *handle);
// Waits for the stream and returns the failure of its work, if any.
// Errors  kCaptureUnsupported
int synchronize_stream(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream);
int query_stream(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream);
int synchronize_context(Driver &driver, Lock &lock, Context &context);

void *create_event(Driver &driver, Context &context, bool timing);
int destroy_event(Driver &driver, void *handle);
// Errors  kCapturedEvent, kCaptureUnsupported, kNotReady
int synchronize_event(Driver &driver, Lock &lock, const std::shared_ptr<Event> &event);
int query_event(Driver &driver, Lock &lock, const std::shared_ptr<Event> &event);
// Errors  kInvalidHandle (an event without timing, or never recorded), kNotReady
int elapsed_time(Driver &driver, const Event &start, const Event &stop, float *out);

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

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_STREAM_H

// SPDX-License-Identifier: Apache-2.0
// Creates, finds and destroys streams and events. Callers hold the driver's lock.
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

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_STREAM_H

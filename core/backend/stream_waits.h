// SPDX-License-Identifier: Apache-2.0
// Dependencies between streams of a device, and the default stream.
#ifndef GUFUNC_CORE_BACKEND_STREAM_WAITS_H
#define GUFUNC_CORE_BACKEND_STREAM_WAITS_H

#include "core/backend/backend.h"

namespace gufunc::backend {

// Makes later work on `later` wait for the work queued on `first`. Both are the plugin's streams of
// `device`; nullptr is the default stream.
// Errors  as the slots event_open, event_record, stream_wait_event
guf_status make_stream_wait(const Device &device, void *first, void *later, guf_error *error);

// Opens the device's default stream, which runs the work of calls with a null stream. Must not be
// called for devices that use host memory: they have no default stream, because their calls with a
// null stream return when the work is complete.
// Errors  as the slot stream_open. Throws std::bad_alloc
guf_status open_default(Device &device, base::Ref<Stream> *out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_STREAM_WAITS_H

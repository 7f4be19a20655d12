// SPDX-License-Identifier: Apache-2.0
// The order of one queue of a device behind another, and the queue of work without a stream.
#ifndef GUFUNC_CORE_BACKEND_STREAM_WAITS_H
#define GUFUNC_CORE_BACKEND_STREAM_WAITS_H

#include "core/backend/backend.h"

namespace gufunc::backend {

// Work that is queued on `later` from now on comes behind what is queued on `first`, a stream of
// `device`. Both are the plugins' own streams; nullptr: the order of work without a stream.
// Errors  as the slots event_open, event_record, stream_wait_event
guf_status order_behind(const Device &device, void *first, void *later, guf_error *error);

// The order of what the device is given without a stream, as a stream. Not of host memory: such
// work is complete when it returns.
// Errors  as the slot stream_open.  Throws std::bad_alloc
guf_status open_default(Device &device, base::Ref<Stream> *out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_STREAM_WAITS_H

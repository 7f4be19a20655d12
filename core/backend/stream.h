// SPDX-License-Identifier: Apache-2.0
// Dependencies between streams of a device, the default stream, and streams that are borrowed for
// one call, so that the call itself reports all failures of its work.
#ifndef GUFUNC_CORE_BACKEND_STREAM_H
#define GUFUNC_CORE_BACKEND_STREAM_H

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

// Removes the number of the failed launch from an error message. The number counts launches on an
// internal stream, so it would be meaningless to the program.
void remove_launch_number(guf_error *error);

// A stream that only one call uses at a time. The device keeps a few such streams for later calls.
// Callers must queue nothing after `finish`.
class BorrowedStream {
 public:
  BorrowedStream() = default;
  BorrowedStream(const BorrowedStream &) = delete;
  BorrowedStream &operator=(const BorrowedStream &) = delete;
  ~BorrowedStream();

  // Obtains a stream that waits for the work queued on `after`. If `after` is nullptr,
  // the stream waits for the device's default stream.
  // Errors  as the slots stream_open, event_record, stream_wait_event
  guf_status open(Device &device, Stream *after, guf_error *error);

  Stream *get() const { return stream_.get(); }

  // Waits for all work on the stream.
  // Errors  the first failure of the work
  guf_status finish(guf_error *error);

 private:
  base::Ref<Stream> stream_;
  bool finished_ = false;
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_STREAM_H

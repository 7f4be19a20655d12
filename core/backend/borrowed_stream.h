// SPDX-License-Identifier: Apache-2.0
// A stream for the length of one call, so that what fails on it has failed in this call.
#ifndef GUFUNC_CORE_BACKEND_BORROWED_STREAM_H
#define GUFUNC_CORE_BACKEND_BORROWED_STREAM_H

#include "core/backend/backend.h"

namespace gufunc::backend {

// Cuts off what a failure of a stream's work says of its number among the stream's: of a stream
// that the program does not know it says nothing.
void forget_launch(guf_error *error);

// The device keeps a few for the next calls. Queues nothing after `finish`.
class BorrowedStream {
 public:
  BorrowedStream() = default;
  BorrowedStream(const BorrowedStream &) = delete;
  BorrowedStream &operator=(const BorrowedStream &) = delete;
  ~BorrowedStream();

  // Work of it waits for what `after` has queued so far; nullptr: for what the device was given
  // without a stream.
  // Errors  as the slots stream_open, event_record, stream_wait_event
  guf_status open(Device &device, Stream *after, guf_error *error);

  Stream *get() const { return stream_.get(); }

  // Waits for all of its work.   Errors  the first failure of the work
  guf_status finish(guf_error *error);

 private:
  base::Ref<Stream> stream_;
  bool finished_ = false;
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_BORROWED_STREAM_H

// SPDX-License-Identifier: Apache-2.0
// The null plugin's streams: work runs immediately, or waits until a test or a synchronize releases
// it.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H
#define GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

#include <gufunc/backend.h>

#include <deque>
#include <functional>

namespace null_plugin {

// Returns the status of the work.
using Work = std::function<guf_status(guf_error *error)>;

struct Failure {
  guf_status status = GUF_OK;
  guf_error details = {};
};

struct Stream {
  std::deque<Work> queue;
  Failure failure;  // first failure since the last report
};

// An event is signalled when the stream has run `position` work items; queued work sets a flag.
struct Event {
  bool pending = false;
  Failure failure;
};

// Queues work, or runs it immediately without a stream or without async. The stream keeps a failure
// of queued work.
guf_status submit(Stream *stream, Work work, guf_error *error);

guf_status query(Stream *stream);
guf_status synchronize(Stream *stream, uint64_t timeout_ns, guf_error *error);

// Runs queued work of all streams and returns the number of items.
uint32_t complete(uint32_t most);

void open_stream(Stream *stream);
void close_stream(Stream *stream);  // queued work still runs

}  // namespace null_plugin

#endif  // GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

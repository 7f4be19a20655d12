// SPDX-License-Identifier: Apache-2.0
// The streams of the null plugin. Work runs immediately, or waits until a test calls `complete` or
// a caller synchronizes.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H
#define GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

#include <gufunc/backend.h>

#include <deque>
#include <functional>

namespace null_plugin {

// Runs the work and returns its status.
using Work = std::function<guf_status(guf_error *error)>;

struct Failure {
  guf_status status = GUF_OK;
  guf_error details = {};
};

struct Stream {
  std::deque<Work> queue;
  Failure failure;  // first failure since the last report
};

// An event. Recording sets `pending` and queues work that clears `pending`.
struct Event {
  bool pending = false;
  Failure failure;
};

// Queues work, or runs the work immediately if `stream` is null or async is 0. A failure of queued
// work is stored in the stream.
guf_status submit(Stream *stream, Work work, guf_error *error);

guf_status query(Stream *stream);
guf_status synchronize(Stream *stream, uint64_t timeout_ns, guf_error *error);

// Runs at most `most` queued work items of all streams and returns their number.
uint32_t complete(uint32_t most);

void open_stream(Stream *stream);
void close_stream(Stream *stream);  // queued work still runs

}  // namespace null_plugin

#endif  // GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

// SPDX-License-Identifier: Apache-2.0
// The null plugin's streams: work runs at once, or waits until a test or a synchronize lets it.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H
#define GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

#include <gufunc/backend.h>

#include <deque>
#include <functional>

namespace null_plugin {

// Gives the status of the work.
using Work = std::function<guf_status(guf_error *error)>;

struct Failure {
  guf_status status = GUF_OK;
  guf_error details = {};
};

struct Stream {
  std::deque<Work> queue;
  Failure failure;  // the first since the last report
};

// A mark is passed when the stream has run `position` pieces of work; kept as a flag that queued
// work sets.
struct Event {
  bool pending = false;
  Failure failure;
};

// Queues work, or runs it now (no stream, or not async). A failure of queued work is kept by the
// stream.
guf_status submit(Stream *stream, Work work, guf_error *error);

guf_status query(Stream *stream);
guf_status synchronize(Stream *stream, uint64_t timeout_ns, guf_error *error);

// Runs queued work of all streams; returns how much.
uint32_t complete(uint32_t most);

void open_stream(Stream *stream);
void close_stream(Stream *stream);  // its work still runs

}  // namespace null_plugin

#endif  // GUFUNC_TESTS_PLUGINS_NULL_QUEUE_H

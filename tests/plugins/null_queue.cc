// SPDX-License-Identifier: Apache-2.0
// Implements the queue with one lock for all streams, because a test plugin need not be fast.
#include "tests/plugins/null_queue.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/plugins/null_script.h"
#include "tests/support/fresh_error.h"

namespace null_plugin {
namespace {

struct Streams {
  std::recursive_mutex mutex;
  std::vector<Stream *> open;
};

Streams &streams() {
  static Streams *const instance = new Streams;
  return *instance;
}

void run_first(Stream *stream) {
  Work work = std::move(stream->queue.front());
  stream->queue.pop_front();
  guf_error details = fresh_error();
  const guf_status status = work(&details);
  if (status >= 100 && stream->failure.status == GUF_OK) stream->failure = {status, details};
}

}  // namespace

guf_status submit(Stream *stream, Work work, guf_error *error) {
  const std::lock_guard lock(streams().mutex);
  if (stream == nullptr) return work(error);
  stream->queue.push_back(std::move(work));
  if (!settings().async.load()) {
    while (!stream->queue.empty()) run_first(stream);
  }
  return GUF_OK;
}

guf_status query(Stream *stream) {
  const std::lock_guard lock(streams().mutex);
  return stream->queue.empty() ? GUF_OK : GUF_NOT_READY;
}

guf_status synchronize(Stream *stream, uint64_t timeout_ns, guf_error *error) {
  const std::lock_guard lock(streams().mutex);
  if (!stream->queue.empty() && (settings().stuck.load() || timeout_ns == 0)) return GUF_TIMEOUT;
  while (!stream->queue.empty()) run_first(stream);
  const Failure failure = std::exchange(stream->failure, {});
  if (failure.status != GUF_OK) *error = failure.details;
  return failure.status;
}

uint32_t complete(uint32_t most) {
  const std::lock_guard lock(streams().mutex);
  uint32_t done = 0;
  for (Stream *const stream : streams().open) {
    for (; done < most && !stream->queue.empty(); ++done) run_first(stream);
  }
  return done;
}

void open_stream(Stream *stream) {
  const std::lock_guard lock(streams().mutex);
  streams().open.push_back(stream);
}

void close_stream(Stream *stream) {
  const std::lock_guard lock(streams().mutex);
  while (!stream->queue.empty()) run_first(stream);
  std::erase(streams().open, stream);
}

}  // namespace null_plugin

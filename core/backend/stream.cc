// SPDX-License-Identifier: Apache-2.0
// Opens and borrows streams, and destroys streams and events. The destructors run in base::collect,
// never during a release, so they may call drivers. In a forked child, they skip the objects of the
// parent process, because the driver state of these objects does not exist in the child.
#include "core/backend/stream.h"

#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>

#include "core/backend/backend.h"
#include "core/backend/graph.h"
#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

base::Ref<Stream> take_idle(Device &device) {
  const std::lock_guard<base::ForkLock> hold(device.idle_lock);
  while (device.nidle > 0) {
    base::Ref<Stream> stream = std::move(device.idle_stream[--device.nidle]);
    if (stream->fork_epoch == base::fork_epoch()) return stream;
  }
  return {};
}

}  // namespace

guf_status open_stream(Device &device, uint64_t native, base::Ref<Stream> *out, guf_error *error) {
  auto stream = base::Ref<Stream>::adopt(new Stream);
  stream->device = &device;
  stream->fork_epoch = base::fork_epoch();
  stream->adopted = native != 0;
  ErrorRecord record(error);
  GUF_TRY(device.backend->api.stream_open(device.native, native, 0, &stream->native, record.get()));
  *out = std::move(stream);
  return GUF_OK;
}

guf_status synchronize_default(Device &device, uint64_t timeout_ns, guf_error *error) {
  if (device.host_memory) return GUF_OK;  // calls return when their work is complete
  const guf_backend_api &api = device.backend->api;
  ErrorRecord record(error);
  void *native = nullptr;
  GUF_TRY(api.stream_open(device.native, 0, GUF_BACKEND_STREAM_DEFAULT, &native, record.get()));
  const guf_status status = api.stream_synchronize(native, timeout_ns, record.get());
  api.stream_close(native);
  // The program counts only launches on its own streams, so the launch number is removed.
  if (status != GUF_OK) remove_launch_number(record.get());
  return status;
}

Stream::~Stream() {
  if (capture != nullptr) abandon_capture(*this);
  if (native != nullptr && fork_epoch == base::fork_epoch()) {
    device->backend->api.stream_close(native);
  }
}

Event::~Event() {
  if (native != nullptr && fork_epoch == base::fork_epoch()) {
    device->backend->api.event_close(native);
  }
}

guf_status make_stream_wait(const Device &device, void *first, void *later, guf_error *error) {
  ErrorRecord record(error);
  const guf_backend_api &api = device.backend->api;
  void *event = nullptr;
  GUF_TRY(api.event_open(device.native, &event, record.get()));
  guf_status status = api.event_record(event, first, record.get());
  if (status == GUF_OK) status = api.stream_wait_event(later, event, record.get());
  api.event_close(event);
  return status;
}

guf_status open_default(Device &device, base::Ref<Stream> *out, guf_error *error) {
  ErrorRecord record(error);
  auto stream = base::Ref<Stream>::adopt(new Stream);
  stream->device = &device;
  stream->fork_epoch = base::fork_epoch();
  GUF_TRY(device.backend->api.stream_open(device.native, 0, GUF_BACKEND_STREAM_DEFAULT,
                                          &stream->native, record.get()));
  *out = std::move(stream);
  return GUF_OK;
}

void remove_launch_number(guf_error *error) {
  if (error == nullptr || error->struct_size < sizeof *error) return;
  static constexpr std::string_view kBegin = "; launch ", kEnd = " of the stream";
  const std::string_view text(error->message, strnlen(error->message, sizeof error->message));
  const size_t place = text.rfind(kBegin);
  if (place == std::string_view::npos || !text.ends_with(kEnd)) return;
  const size_t first = place + kBegin.size();
  if (first >= text.size() - kEnd.size()) return;
  const std::string_view number = text.substr(first, text.size() - kEnd.size() - first);
  if (number.find_first_not_of("0123456789") != std::string_view::npos) return;
  error->message[place] = '\0';
}

guf_status BorrowedStream::open(Device &device, Stream *after, guf_error *error) {
  ErrorRecord record(error);
  base::Ref<Stream> stream = take_idle(device);
  if (!stream) GUF_TRY(open_stream(device, 0, &stream, record.get()));
  GUF_TRY(make_stream_wait(device, after == nullptr ? nullptr : after->native, stream->native,
                           record.get()));
  stream_ = std::move(stream);
  return GUF_OK;
}

guf_status BorrowedStream::finish(guf_error *error) {
  ErrorRecord record(error);
  const guf_status status =
      stream_->device->backend->api.stream_synchronize(stream_->native, UINT64_MAX, record.get());
  finished_ = true;
  if (status != GUF_OK) remove_launch_number(error);
  return status;
}

BorrowedStream::~BorrowedStream() {
  if (!stream_) return;
  if (!finished_) finish(nullptr);  // the call failed earlier and has reported that failure
  Device &device = *stream_->device;
  const std::lock_guard<base::ForkLock> hold(device.idle_lock);
  if (device.nidle < std::size(device.idle_stream)) {
    device.idle_stream[device.nidle++] = std::move(stream_);
  }
}

}  // namespace gufunc::backend

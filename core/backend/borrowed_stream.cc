// SPDX-License-Identifier: Apache-2.0
#include "core/backend/stream.h"

#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>

#include "core/backend/stream_waits.h"
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

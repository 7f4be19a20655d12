// SPDX-License-Identifier: Apache-2.0
// Opens streams, and destroys streams and events. The destructors run in base::collect, never
// during a release, so they may call drivers. In a forked child, they skip the objects of the
// parent process, because the driver state of these objects does not exist in the child.
#include "core/backend/stream.h"
#include "core/backend/backend.h"
#include "core/backend/graph.h"
#include "core/base/fork.h"

namespace gufunc::backend {

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

}  // namespace gufunc::backend

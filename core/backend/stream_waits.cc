// SPDX-License-Identifier: Apache-2.0
#include "core/backend/stream_waits.h"

#include "core/base/fork.h"

namespace gufunc::backend {

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

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
#include "core/backend/stream_order.h"

namespace gufunc::backend {

guf_status order_behind(const Device &device, void *first, void *later, guf_error *error) {
  ErrorRoom room(error);
  const guf_backend_api &api = device.backend->api;
  void *event = nullptr;
  GUF_TRY(api.event_open(device.native, &event, room.get()));
  guf_status status = api.event_record(event, first, room.get());
  if (status == GUF_OK) status = api.stream_wait_event(later, event, room.get());
  api.event_close(event);
  return status;
}

}  // namespace gufunc::backend

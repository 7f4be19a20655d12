// SPDX-License-Identifier: Apache-2.0
// The end of streams and events. It comes from base::bury, never from a release, so drivers may be
// called; but not for objects of the parent process: their driver state is not in this one.
#include "core/backend/backend.h"
#include "core/base/fork.h"

namespace gufunc::backend {

Stream::~Stream() {
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

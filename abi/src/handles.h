// SPDX-License-Identifier: Apache-2.0
// Common operations of exported functions on handles: counting references, and finding objects by
// handles that may be NULL.
#ifndef GUFUNC_ABI_HANDLES_H
#define GUFUNC_ABI_HANDLES_H

#include "abi/src/capi.h"
#include "core/backend/backend.h"
#include "core/base/callbacks.h"
#include "core/base/fork.h"
#include "core/base/object.h"
#include "core/op/call_view.h"
#include "core/plugin/registry.h"

namespace gufunc::capi {

// retain and release do nothing if the handle is NULL.
// Errors  GUF_E_HANDLE <= not NULL and not a live handle of this kind
template <class HandleType>
guf_status retain(HandleType handle, base::Kind kind, const char *parameter, guf_error *error) {
  const auto value = reinterpret_cast<uint64_t>(handle);
  if (handle == nullptr || base::retain(value, kind)) return GUF_OK;
  return base::fail_handle(parameter, kind, error);
}
template <class HandleType>
guf_status release(HandleType handle, base::Kind kind, const char *parameter, guf_error *error) {
  const auto value = reinterpret_cast<uint64_t>(handle);
  if (handle == nullptr || base::release(value, kind)) return GUF_OK;
  return base::fail_handle(parameter, kind, error);
}

// Returns a typed handle with one reference, which the program owns. Throws std::bad_alloc
template <class HandleType, class T>
HandleType publish(const base::Ref<T> &object) {
  return reinterpret_cast<HandleType>(base::publish(object.get()));
}

// Checks that the object was not created by a parent process before a fork.  Errors  GUF_E_FORKED
template <class T>
guf_status check_epoch(const T &object, const char *parameter, guf_error *error) {
  if (__builtin_expect(object.fork_epoch == base::fork_epoch(), 1)) return GUF_OK;
  return base::fail(error, GUF_E_FORKED, base::kNone, base::kNone,
                    "%s was made before the process was forked; make a new one in the child",
                    parameter);
}

// Finds a device by its handle. For the handle of "auto", finds the device that "auto" selected.
// Errors  GUF_E_HANDLE
inline guf_status need_device(guf_device device, const char *parameter, backend::Device **out,
                              guf_error *error) {
  const auto value = reinterpret_cast<uint64_t>(device);
  *out = static_cast<backend::Device *>(base::find(value, base::Kind::kDevice));
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  backend::AutomaticDevice *automatic = nullptr;
  GUF_TRY(base::find_object(device, parameter, &automatic, error));
  *out = automatic->device;
  return GUF_OK;
}

// Checks that the library was not shut down. Functions that create objects or queue work call
// this.  Errors  GUF_E_SHUTDOWN
inline guf_status check_running(guf_error *error) {
  if (__builtin_expect(!plugin::is_shut_down(), 1)) return GUF_OK;
  return base::fail(error, GUF_E_SHUTDOWN, base::kNone, base::kNone, "the library was shut down");
}

// Runs pending callbacks of earlier releases. Functions that create arrays call this, because a
// program that only creates arrays never polls.
inline void run_deferred_callbacks() {
  if (base::callbacks_wait()) base::run_callbacks(0);
}

// Finds a live stream of this process.  Errors  GUF_E_HANDLE, GUF_E_FORKED
inline guf_status need_stream(guf_stream stream, backend::Stream **out, guf_error *error) {
  GUF_TRY(base::find_object(stream, "stream", out, error));
  return check_epoch(**out, "stream", error);
}

// Like need_stream, but accepts NULL and then sets *out to NULL.  Errors  GUF_E_HANDLE,
// GUF_E_FORKED
inline guf_status find_stream(guf_stream stream, backend::Stream **out, guf_error *error) {
  *out = nullptr;
  return stream == nullptr ? guf_status{GUF_OK} : need_stream(stream, out, error);
}

// Finds a live event of this process.  Errors  GUF_E_HANDLE, GUF_E_FORKED
inline guf_status need_event(guf_event event, const char *parameter, backend::Event **out,
                             guf_error *error) {
  GUF_TRY(base::find_object(event, parameter, out, error));
  return check_epoch(**out, parameter, error);
}

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_HANDLES_H

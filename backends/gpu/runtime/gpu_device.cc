// SPDX-License-Identifier: Apache-2.0
// Opens and closes a device.
#include "backends/gpu/runtime/gpu_device.h"

#include <gufunc/kernel/device_block.hpp>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/gpu_stream.h"

namespace gufunc::gpu {

Device::Device(Driver &driver, const Vendor &vendor, const DeviceProperties &properties,
               const Context &context)
    : driver_(driver),
      vendor_(vendor),
      properties_(properties),
      context_(context),
      traits_{properties.multiprocessors, guf::device::kRowVectors, properties.max_shared_bytes,
              vendor.multiprocessor_local_bytes},
      fences_(*this),
      memory_(*this, Backing::kDevice),
      pinned_(*this, Backing::kPinned),
      mapped_(*this, Backing::kMapped),
      managed_(*this, Backing::kManaged),
      status_ring_(*this),
      staged_copies_(*this),
      copy_kernels_(*this),
      tracer_(*this) {}

guf_status Device::start(guf_error *error) {
  // A driver that supports pools may fail to create one. Ordinary allocations are used then.
  if (properties_.pools) {
    const Code code = driver_.pool_open(context_, &driver_pool_);
    if (code != kDone) driver_pool_ = nullptr;
    if (ends_device(driver_.error_info(code).kind))
      return check(code, "creating a memory pool", error);
  }
  memory_.use(driver_pool_);
  const char *const no_cache = host_config("GUFUNC_NO_MEMORY_CACHE");
  if (no_cache != nullptr && no_cache[0] == '1') {
    for (MemoryPool *pool : {&memory_, &pinned_, &mapped_, &managed_}) pool->disable_cache();
  }
  GUF_BACKEND_TRY(make_stream(&default_stream_, error));
  GUF_BACKEND_TRY(make_stream(&idle_stream_, error));
  tracer_.start();
  return GUF_OK;
}

guf_status Device::make_stream(Stream **out, guf_error *error) {
  Native native = nullptr;
  GUF_BACKEND_TRY(check(driver_.stream_open(&native), "creating a stream", error));
  return open_stream(native, true, out, error);
}

void Device::wait_until_idle() {
  for (int i = 0; i < 2; ++i) {
    const Code code = driver_.context_synchronize();
    check_for_loss(code);
    if (code == kDone) return;
  }
}

void Device::close() {
  wait_until_idle();
  tracer_.close();
  status_ring_.close();
  staged_copies_.close();
  copy_kernels_.close();
  if (idle_stream_ != nullptr) {
    for (MemoryPool *pool : {&memory_, &pinned_, &mapped_, &managed_}) pool->close();
    // Stream-ordered releases of memory must be complete before the streams and the driver's pool
    // are closed.
    wait_until_idle();
  }
  for (Stream *stream : {default_stream_, idle_stream_}) {
    if (stream != nullptr) close_stream(*stream);
  }
  default_stream_ = idle_stream_ = nullptr;
  collect_streams(true);
  fences_.close();
  if (driver_pool_ != nullptr) check_for_loss(driver_.pool_close(driver_pool_));
}

MemoryPool &Device::pool(Backing backing) {
  switch (backing) {
    case Backing::kPinned:
      return pinned_;
    case Backing::kMapped:
      return mapped_;
    case Backing::kManaged:
      return managed_;
    case Backing::kDevice:
      break;
  }
  return memory_;
}

guf_status Device::open_stream(Native native, bool owned, Stream **out, guf_error *error) {
  auto *stream = create<Stream>(*this, native, owned);
  if (stream == nullptr) {
    if (owned) check_for_loss(driver_.stream_close(native));
    return fail_memory(error, "a stream");
  }
  memory_.add_stream(*stream);
  *out = stream;
  return GUF_OK;
}

// Ends the capture, because the driver refuses all later waits of the context while a capture is
// active.
void Device::drop_capture(Stream &stream) {
  bool captured = false;
  if (stream.capturing(&captured, nullptr) != GUF_OK || !captured) return;
  Native graph = nullptr;
  check_for_loss(driver_.capture_end(stream.native(), &graph));
  if (graph != nullptr) check_for_loss(driver_.graph_close(graph));
  memory_.release_captured(memory_.take_captured(stream), stream);
}

void Device::close_stream(Stream &stream) {
  if (stream.owned()) drop_capture(stream);
  status_ring_.recycle(captures_.close(stream), nullptr);
  memory_.remove_stream(stream);
  if (!stream.owned()) return stream.release();
  {
    const std::lock_guard lock(closing_mutex_);
    stream.next_closing = closing_;
    closing_ = &stream;
  }
  collect_streams();
}

// Only idle streams are destroyed, because some drivers wait when they destroy a busy stream.
void Device::collect_streams(bool all) {
  Stream *idle = nullptr;
  {
    const std::lock_guard lock(closing_mutex_);
    for (Stream **link = &closing_; *link != nullptr;) {
      Stream *const stream = *link;
      if (!all &&
          driver_.error_info(driver_.stream_query(stream->native())).kind == ErrorKind::kNotReady) {
        link = &stream->next_closing;
        continue;
      }
      *link = stream->next_closing;
      stream->next_closing = idle;
      idle = stream;
    }
  }
  while (idle != nullptr) {
    Stream *const stream = idle;
    idle = stream->next_closing;
    check_for_loss(driver_.stream_close(stream->native()));
    stream->release();
  }
}

guf_status Device::report_failure(Code code, const char *what, guf_error *error) {
  const ErrorInfo &info = driver_.error_info(code);
  if (ends_device(info.kind)) {
    Code none = kDone;
    lost_code_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }
  return fail_native(error, failure_of(info), code, "%s failed: %s (%d)", what, info.name, code);
}

guf_status Device::fail_lost(guf_error *error) const {
  const Code code = lost_code_.load(std::memory_order_relaxed);
  return fail_native(error, GUF_E_DEVICE_LOST, code,
                     "the device failed for good in this process: %s (%d)",
                     driver_.error_info(code).name, code);
}

}  // namespace gufunc::gpu

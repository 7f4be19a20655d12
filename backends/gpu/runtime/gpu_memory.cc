// SPDX-License-Identifier: Apache-2.0
// The slots that allocate, copy and fill memory.
#include <cstring>

#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/gpu/runtime/request.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kLargestPattern = 16;

guf_status backing_of(int32_t kind, Backing *out, guf_error *error) {
  switch (kind) {
    case GUF_MEMORY_DEVICE:
      *out = Backing::kDevice;
      return GUF_OK;
    case GUF_MEMORY_PINNED:
      *out = Backing::kPinned;
      return GUF_OK;
    case GUF_MEMORY_MAPPED:
      *out = Backing::kMapped;
      return GUF_OK;
    case GUF_MEMORY_MANAGED:
      *out = Backing::kManaged;
      return GUF_OK;
    default:
      return fail(error, GUF_E_UNSUPPORTED, "memory kind: expected 0..3, got %d", kind);
  }
}

// Returns the size of the shortest pattern whose repetition is the whole pattern.
uint32_t shorten(const unsigned char *pattern, uint32_t size) {
  while (size % 2 == 0 && std::memcmp(pattern, pattern + size / 2, size / 2) == 0) size /= 2;
  return size;
}

// Returns whether the driver's memset supports the pattern: 1, 2 or 4 bytes, aligned.
bool is_settable(uint64_t dst, uint32_t width) {
  return (width == 1 || width == 2 || width == 4) && dst % width == 0;
}

// Returns whether the host memory at both ends of a range is page-locked. Even then, the middle of
// the range may be pageable.
bool are_ends_page_locked(Driver &driver, uint64_t address, uint64_t size) {
  return driver.is_page_locked(address) && (size == 1 || driver.is_page_locked(address + size - 1));
}

// Copies memory without staging. A driver refuses to copy a range of host memory if only a part of
// the range is page-locked. The ends of the range do not reveal whether its middle is page-locked.
// If the driver refuses the copy, the copy is staged, which works with any memory.
guf_status copy_unstaged(Stream &stream, uint64_t dst, uint64_t src, uint64_t size, int32_t kind,
                         Direction direction, guf_error *error) {
  Device &device = stream.device();
  Code code = kDone;
  {
    TraceSpan span(stream, GUF_TRACE_COPY);
    span.set_copy(size, kind);
    code = device.driver().copy(dst, src, size, direction, stream.native());
  }
  if (code == kDone) return GUF_OK;
  if (direction != Direction::kWithin &&
      device.driver().error_info(code).kind == ErrorKind::kValue) {
    return device.staged_copies().queue(dst, src, size, direction, stream, error);
  }
  return device.check(code, "copying memory", error);
}

guf_status fill_on_stream(Device &device, Stream &stream, uint64_t dst,
                          const unsigned char *pattern, uint32_t size, uint64_t count,
                          guf_error *error) {
  const uint32_t width = shorten(pattern, size);
  if (is_settable(dst, width)) {
    uint32_t value = 0;
    std::memcpy(&value, pattern, width);
    const TraceSpan span(stream, GUF_TRACE_FILL);
    return device.check(
        device.driver().set(dst, value, width, count * (size / width), stream.native()),
        "filling memory", error);
  }
  Request request(stream, nullptr, StatusRequest());
  GUF_BACKEND_TRY(queue_fill(dst, pattern, size, count, request, error));
  return request.finish(error);
}

}  // namespace

guf_status memory_alloc(void *device, uint64_t size, int32_t kind, void *stream,
                        uint64_t *out_address, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  Backing backing = Backing::kDevice;
  GUF_BACKEND_TRY(backing_of(kind, &backing, error));
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  if (backing == Backing::kManaged && !owner.properties().managed) {
    return fail(error, GUF_E_UNSUPPORTED, "memory kind: device %d has no managed memory",
                owner.context().index);
  }
  return owner.pool(backing).allocate(size, static_cast<Stream *>(stream), out_address, error);
}

guf_status memory_free(void *device, uint64_t address, uint64_t size, int32_t kind, void *stream,
                       guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  Backing backing = Backing::kDevice;
  GUF_BACKEND_TRY(backing_of(kind, &backing, error));
  if (address == 0) return GUF_OK;
  ScopedContext scope(owner);
  if (!scope.begin_closing()) return fail_forked(error);
  return owner.pool(backing).release(address, size, static_cast<Stream *>(stream), error);
}

guf_status copy(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t size, int32_t kind,
                guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (kind < GUF_COPY_HOST_TO_DEVICE || kind > GUF_COPY_DEVICE_TO_DEVICE) {
    return fail(error, GUF_E_UNSUPPORTED, "copy kind: expected 0..2, got %d", kind);
  }
  if (size == 0) return GUF_OK;
  const Direction direction = kind == GUF_COPY_HOST_TO_DEVICE   ? Direction::kToDevice
                              : kind == GUF_COPY_DEVICE_TO_HOST ? Direction::kToHost
                                                                : Direction::kWithin;
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Stream &target = owner.stream_of(stream);
  const bool host_side = direction != Direction::kWithin;
  // If `stream` is NULL, this function waits for the copy, so the driver can access the host memory
  // directly.
  if (host_side && stream != nullptr &&
      !are_ends_page_locked(owner.driver(), direction == Direction::kToDevice ? src : dst, size)) {
    return owner.staged_copies().queue(dst, src, size, direction, target, error);
  }
  GUF_BACKEND_TRY(copy_unstaged(target, dst, src, size, kind, direction, error));
  if (!host_side || stream != nullptr) return GUF_OK;
  const RelaxedCapture relaxed(owner.driver());
  const guf_status status = target.synchronize(UINT64_MAX, error);
  owner.tracer().collect();
  return status;
}

guf_status fill(void *device, void *stream, uint64_t dst, const void *pattern,
                uint32_t pattern_size, uint64_t count, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (pattern_size == 0 || pattern_size > kLargestPattern) {
    return fail(error, GUF_E_UNSUPPORTED, "pattern size: expected 1..%u bytes, got %u",
                kLargestPattern, pattern_size);
  }
  if (count == 0) return GUF_OK;
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  return fill_on_stream(owner, owner.stream_of(stream), dst,
                        static_cast<const unsigned char *>(pattern), pattern_size, count, error);
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// Copies of elements. On a device, elementwise copies use the backend's convert slot. Dimensions
// are sorted by the steps of the destination and merged where possible.
//
// Between a device and the host, only contiguous bytes are copied, through contiguous staging
// arrays where necessary. Strided elements are packed or unpacked where they are stored. Casts run
// on the host. Copies between two GPUs of the same backend do not pass through host memory.
#include "core/memory/transfer.h"

#include <sched.h>

#include <algorithm>
#include <limits>

#include "core/array/overlap.h"
#include "core/backend/extension.h"
#include "core/backend/graph.h"
#include "core/backend/pending.h"
#include "core/backend/stream.h"
#include "core/base/checked.h"
#include "core/plugin/find_device.h"

namespace gufunc::memory {
namespace {

struct Axis {
  int64_t extent;
  int64_t to_step;
  int64_t from_step;
};

// The dimensions of the copy, innermost first, without axes of extent 1.
struct Loops {
  int32_t ndim = 0;
  bool empty = false;
  uint64_t to = 0;
  uint64_t from = 0;
  Axis axis[GUF_MAX_NDIM];
};

// Adds a dimension. Its step through `to` is made non-negative, so that `merge_neighbours` can
// detect contiguous dimensions by multiplication.
void add_axis(Axis axis, Loops *loops) {
  if (axis.to_step < 0) {
    loops->to += base::offset_of(axis.to_step, axis.extent - 1);
    loops->from += base::offset_of(axis.from_step, axis.extent - 1);
    axis.to_step = base::negated(axis.to_step);
    axis.from_step = base::negated(axis.from_step);
  }
  loops->axis[loops->ndim++] = axis;
}

void merge_neighbours(Loops *loops) {
  int32_t kept = 0;
  for (int32_t i = 1; i < loops->ndim; ++i) {
    Axis &inner = loops->axis[kept];
    const Axis &outer = loops->axis[i];
    int64_t merged = 0;
    if (base::is_product(outer.to_step, inner.to_step, inner.extent) &&
        base::is_product(outer.from_step, inner.from_step, inner.extent) &&
        base::checked_mul(inner.extent, outer.extent, &merged)) {
      inner.extent = merged;
    } else {
      loops->axis[++kept] = outer;
    }
  }
  loops->ndim = loops->ndim == 0 ? 0 : kept + 1;
}

void make_loops(const array::Layout &to, const array::Layout &from, Loops *loops) {
  loops->to = to.address;
  loops->from = from.address;
  for (int32_t i = 0; i < to.ndim; ++i) {
    const int32_t axis = to.ndim - 1 - i;
    const int32_t source = from.ndim - 1 - i;
    const int64_t extent = to.shape[axis];
    if (extent == 0) {
      loops->empty = true;
      return;
    }
    if (extent == 1) continue;
    const bool stretched = source < 0 || from.shape[source] == 1;
    add_axis({extent, to.strides[axis], stretched ? 0 : from.strides[source]}, loops);
  }
  std::sort(loops->axis, loops->axis + loops->ndim,
            [](const Axis &a, const Axis &b) { return a.to_step < b.to_step; });
  merge_neighbours(loops);
}

uint32_t operand_flags(const CopyOperand &operand, uint64_t address, const Loops &loops,
                       int64_t Axis::*step) {
  uint64_t bits = address;
  for (int32_t i = 0; i < loops.ndim; ++i) bits |= static_cast<uint64_t>(loops.axis[i].*step);
  uint32_t flags = 0;
  if (operand.swapped) flags |= GUF_LAUNCH_OPERAND_SWAPPED;
  if (bits % dtype::alignment(operand.layout.dtype) != 0) flags |= GUF_LAUNCH_OPERAND_UNALIGNED;
  return flags;
}

// Sets every field that a convert slot reads. The other fields of the block stay uninitialised.
void fill_block(const CopyOperand &to, const CopyOperand &from, const Loops &loops,
                guf_launch_block *block) {
  block->noperands = 2;
  block->nin = 1;
  block->nloop = std::min<int32_t>(loops.ndim, GUF_MAX_LOOP_NDIM);
  block->ncore = 0;
  block->ncorestrides = 0;
  block->items = 1;
  block->size[0] = 1;
  block->step[0] = 0;
  block->step[1] = 0;
  for (int32_t i = 0; i < block->nloop; ++i) {
    const Axis &axis = loops.axis[i];
    block->items *= static_cast<uint64_t>(axis.extent);
    (i == 0 ? block->size[0] : block->outer_size[i - 1]) = axis.extent;
    int64_t *const steps = i == 0 ? block->step : block->outer_step[i - 1];
    steps[0] = axis.from_step;
    steps[1] = axis.to_step;
  }
  block->mask = 0;
  block->dtype[0] = block->loop_dtype[0] = from.layout.dtype;
  block->dtype[1] = block->loop_dtype[1] = to.layout.dtype;
  block->core_ndim[0] = block->core_ndim[1] = 0;
  const uint32_t from_flags = operand_flags(from, loops.from, loops, &Axis::from_step);
  const uint32_t to_flags = operand_flags(to, loops.to, loops, &Axis::to_step);
  block->operand_flags[0] = from_flags | GUF_LAUNCH_OPERAND_READ;
  if (from.immediate) block->operand_flags[0] |= GUF_LAUNCH_OPERAND_IMMEDIATE;
  block->operand_flags[1] = to_flags | GUF_LAUNCH_OPERAND_WRITTEN;
  block->flags = GUF_LAUNCH_ANY_THREAD;
  if (from.layout.dtype != to.layout.dtype) block->flags |= GUF_LAUNCH_CAST;
  if ((from_flags | to_flags) != 0) block->flags |= GUF_LAUNCH_SWAPPED;
}

using array::Array;
using backend::Device;
using backend::Stream;

constexpr char kUnlikeCopy[] =
    "a copy from or to host memory that casts, packs strides or overlaps";

bool is_plain(const CopyEndpoint &endpoint) {
  int64_t strides[GUF_MAX_NDIM];
  const array::Layout &layout = endpoint.operand.layout;
  array::contiguous_strides(layout.dtype, layout.ndim, layout.shape, GUF_ORDER_C, strides);
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    if (layout.shape[axis] != 1 && layout.strides[axis] != strides[axis]) return false;
  }
  return !endpoint.operand.swapped;
}

// Returns whether both endpoints have the same dtype and store contiguous elements in C order and
// in native byte order. Does not compare the shapes.
bool same_bytes(const CopyEndpoint &to, const CopyEndpoint &from) {
  return to.operand.layout.dtype == from.operand.layout.dtype && is_plain(to) && is_plain(from);
}

uint64_t nbytes(const array::Layout &layout) {
  uint64_t bytes = dtype::itemsize(layout.dtype);
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    bytes *= static_cast<uint64_t>(layout.shape[axis]);
  }
  return bytes;
}

// Returns whether one copy of all bytes can replace an elementwise copy between host and device.
// This is not possible if the endpoints overlap, which happens if the same managed memory is
// wrapped as a host array and as a device array.
bool can_copy_bytes(const CopyEndpoint &to, const CopyEndpoint &from) {
  const uint64_t size = nbytes(to.operand.layout);
  if (nbytes(from.operand.layout) != size || !same_bytes(to, from)) return false;
  const uint64_t target = to.operand.layout.address, source = from.operand.layout.address;
  return target >= source + size || source >= target + size;
}

// Waits for the queued work of the stream, which may still write memory that the host then reads.
guf_status wait_for(Stream *stream, guf_error *error) {
  if (stream == nullptr) return GUF_OK;
  const guf_backend_api &api = stream->device->backend->api;
  backend::ErrorRecord record(error);
  void *event = nullptr;
  GUF_TRY(api.event_open(stream->device->native, &event, record.get()));
  guf_status status = api.event_record(event, stream->native, record.get());
  if (status == GUF_OK) {
    status = api.event_synchronize(event, std::numeric_limits<uint64_t>::max(), record.get());
  }
  api.event_close(event);
  return status;
}

// Allocates a contiguous staging array with the shape of `like`.
guf_status make_staging(Device &device, guf_dtype dtype, const array::Layout &like,
                        backend::RetainedObjects *retained, base::Ref<Array> *out,
                        guf_error *error) {
  GUF_TRY(allocate(device, dtype, like.ndim, like.shape, nullptr, GUF_ORDER_C, out, error));
  retained->add(out->get());
  return GUF_OK;
}

guf_status copy_bytes(const CopyEndpoint &to, const CopyEndpoint &from, int32_t kind,
                      Stream *stream, guf_error *error) {
  const Device &device = kind == GUF_COPY_HOST_TO_DEVICE ? *to.device : *from.device;
  const uint64_t size = nbytes(to.operand.layout);
  if (size == 0) return GUF_OK;
  backend::ErrorRecord record(error);
  const guf_status status = device.backend->api.copy(
      device.native, stream == nullptr ? nullptr : stream->native, to.operand.layout.address,
      from.operand.layout.address, size, kind, record.get());
  // The copy may report a failed launch on the default stream. Its launch number is removed from
  // the error, because the program counts only launches on its own streams.
  if (status != GUF_OK && stream == nullptr) backend::remove_launch_number(record.get());
  return status;
}

guf_status host_to_device(const CopyEndpoint &to, const CopyEndpoint &from, Stream *stream,
                          guf_error *error) {
  if (can_copy_bytes(to, from)) {
    return copy_bytes(to, from, GUF_COPY_HOST_TO_DEVICE, stream, error);
  }
  GUF_TRY(backend::check_not_captured(stream, kUnlikeCopy, error));
  backend::RetainedObjects retained(stream);
  Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  base::Ref<Array> host;
  GUF_TRY(make_staging(*cpu, to.operand.layout.dtype, to.operand.layout, &retained, &host, error));
  GUF_TRY(wait_for(stream, error));
  GUF_TRY(convert(*cpu, nullptr, {host->layout(), false}, from.operand, error));
  const CopyEndpoint plain = endpoint_of(*host, *cpu);
  if (is_plain(to)) return copy_bytes(to, plain, GUF_COPY_HOST_TO_DEVICE, stream, error);
  base::Ref<Array> staged;
  GUF_TRY(make_staging(*to.device, to.operand.layout.dtype, to.operand.layout, &retained, &staged,
                       error));
  GUF_TRY(
      copy_bytes(endpoint_of(*staged, *to.device), plain, GUF_COPY_HOST_TO_DEVICE, stream, error));
  return convert(*to.device, stream, to.operand, {staged->layout(), false}, error);
}

guf_status device_to_host(const CopyEndpoint &to, const CopyEndpoint &from, Stream *stream,
                          guf_error *error) {
  if (can_copy_bytes(to, from)) {
    return copy_bytes(to, from, GUF_COPY_DEVICE_TO_HOST, stream, error);
  }
  GUF_TRY(backend::check_not_captured(stream, kUnlikeCopy, error));
  backend::RetainedObjects retained(stream);
  CopyEndpoint source = from;
  base::Ref<Array> staged;
  if (!is_plain(from)) {
    GUF_TRY(make_staging(*from.device, from.operand.layout.dtype, from.operand.layout, &retained,
                         &staged, error));
    GUF_TRY(convert(*from.device, stream, {staged->layout(), false}, from.operand, error));
    source = endpoint_of(*staged, *from.device);
  }
  Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  base::Ref<Array> host;
  GUF_TRY(make_staging(*cpu, source.operand.layout.dtype, source.operand.layout, &retained, &host,
                       error));
  GUF_TRY(copy_bytes(endpoint_of(*host, *cpu), source, GUF_COPY_DEVICE_TO_HOST, stream, error));
  GUF_TRY(wait_for(stream, error));
  return convert(*cpu, nullptr, to.operand, {host->layout(), false}, error);
}

guf_status through_host(const CopyEndpoint &to, const CopyEndpoint &from, Stream *stream,
                        guf_error *error) {
  Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  backend::RetainedObjects retained(stream);
  base::Ref<Array> host;
  GUF_TRY(
      make_staging(*cpu, from.operand.layout.dtype, from.operand.layout, &retained, &host, error));
  const bool source_queues = stream != nullptr && stream->device == from.device;
  GUF_TRY(device_to_host(endpoint_of(*host, *cpu), from, source_queues ? stream : nullptr, error));
  GUF_TRY(wait_for(source_queues ? stream : nullptr, error));
  return host_to_device(to, endpoint_of(*host, *cpu), source_queues ? nullptr : stream, error);
}

// One of the two devices in a copy between devices of the same backend. It uses the caller's stream
// if the stream belongs to this device, and the device's default stream otherwise.
struct End {
  End(Device *where, Stream *own) : device(where), stream(own) {}
  ~End() {
    if (stream == nullptr && native != nullptr) device->backend->api.stream_close(native);
  }
  End(const End &) = delete;
  End &operator=(const End &) = delete;

  Device *const device;
  Stream *const stream;    // nullptr selects the default stream
  void *native = nullptr;  // the plugin's stream

  guf_status open(guf_error *error) {
    if (stream != nullptr) native = stream->native;
    if (stream != nullptr) return GUF_OK;
    return device->backend->api.stream_open(device->native, 0, GUF_BACKEND_STREAM_DEFAULT, &native,
                                            error);
  }
  // Makes later work of `other` wait for the work that is queued on this stream.
  guf_status make_other_wait(const End &other, guf_error *error) const {
    return backend::make_stream_wait(*device, native, other.native, error);
  }
  // Polls until the stream is idle. Used if `make_other_wait` fails. stream_synchronize is not
  // used, because it would clear a failure that must be reported to the program.
  void wait_until_idle() const {
    backend::ErrorRecord record(nullptr);
    while (device->backend->api.stream_query(native, record.get()) == GUF_NOT_READY) sched_yield();
  }
};

// Copies between two devices of the same backend. Strided elements are packed on the
// source device, and casts run on the destination device. Staging memory stays valid
// during the copy, because the default streams of both devices wait for the copy, and a
// caller's stream retains the staging arrays.
guf_status between_peers(const guf_gpu_api &gpu, const CopyEndpoint &to, const CopyEndpoint &from,
                         Stream *stream, guf_error *error) {
  const auto stream_of = [stream](const Device *device) {
    return stream != nullptr && stream->device == device ? stream : nullptr;
  };
  backend::ErrorRecord record(error);
  backend::RetainedObjects retained(stream);
  End source(from.device, stream_of(from.device)), target(to.device, stream_of(to.device));
  GUF_TRY(source.open(record.get()));
  GUF_TRY(target.open(record.get()));
  base::Ref<Array> packed, landed;
  CopyEndpoint sent = from, received = to;
  const array::Layout &layout = from.operand.layout;
  if (!is_plain(from)) {
    GUF_TRY(make_staging(*from.device, layout.dtype, layout, &retained, &packed, error));
    sent = endpoint_of(*packed, *from.device);
  }
  const uint64_t size = nbytes(layout);
  const bool lands = size != nbytes(to.operand.layout) || !same_bytes(to, sent);
  if (lands) {
    GUF_TRY(make_staging(*to.device, layout.dtype, layout, &retained, &landed, error));
    received = endpoint_of(*landed, *to.device);
  }
  if (packed) GUF_TRY(convert(*from.device, source.stream, sent.operand, from.operand, error));
  GUF_TRY(source.make_other_wait(target, record.get()));
  guf_status status = gpu.peer_copy(
      to.device->native, target.native, received.operand.layout.address, to.device->native,
      sent.operand.layout.address, from.device->native, size, record.get());
  if (status == GUF_OK && lands) {
    status = convert(*to.device, target.stream, to.operand, received.operand, error);
  }
  backend::ErrorRecord later(status == GUF_OK ? error : nullptr);
  const guf_status waited = target.make_other_wait(source, later.get());
  if (waited != GUF_OK) target.wait_until_idle();
  return status != GUF_OK ? status : waited;
}

guf_status between_devices(const CopyEndpoint &to, const CopyEndpoint &from, Stream *stream,
                           guf_error *error) {
  GUF_TRY(backend::check_not_captured(stream, "a copy between devices", error));
  if (nbytes(to.operand.layout) == 0) return GUF_OK;
  const guf_gpu_api *gpu = nullptr;
  if (to.device->backend != from.device->backend ||
      backend::gpu_extension(*to.device, "peers", &gpu, nullptr) != GUF_OK) {
    return through_host(to, from, stream, error);
  }
  const guf_status status = between_peers(*gpu, to, from, stream, error);
  return status == GUF_E_UNSUPPORTED ? through_host(to, from, stream, error) : status;
}

}  // namespace

guf_status convert(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                   const CopyOperand &from, guf_error *error) {
  if (__builtin_expect(to.layout.ndim > GUF_MAX_NDIM, 0)) {  // the capacity of `loops`
    return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                      "expected a copy of at most %d axes, got %d", static_cast<int>(GUF_MAX_NDIM),
                      to.layout.ndim);
  }
  Loops loops;
  make_loops(to.layout, from.layout, &loops);
  if (loops.empty) return GUF_OK;
  guf_launch_block block;
  fill_block(to, from, loops, &block);
  backend::ErrorRecord record(error);
  void *const native = stream == nullptr ? nullptr : stream->native;
  // One block describes at most 8 dimensions. This loop iterates over the remaining dimensions.
  int64_t index[GUF_MAX_NDIM] = {};
  for (;;) {
    block.address[0] = loops.from;
    block.address[1] = loops.to;
    GUF_TRY(device.backend->api.convert(device.native, native, &block, record.get()));
    int32_t k = GUF_MAX_LOOP_NDIM;
    for (; k < loops.ndim; ++k) {
      const Axis &axis = loops.axis[k];
      loops.to += static_cast<uint64_t>(axis.to_step);
      loops.from += static_cast<uint64_t>(axis.from_step);
      if (++index[k] < axis.extent) break;
      loops.to -= base::offset_of(axis.to_step, axis.extent);
      loops.from -= base::offset_of(axis.from_step, axis.extent);
      index[k] = 0;
    }
    if (k >= loops.ndim) return GUF_OK;
  }
}

guf_status copy_overlapping(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                            const CopyOperand &from, guf_error *error) {
  if (array::same_view(to.layout, from.layout)) {
    if (to.swapped == from.swapped) return GUF_OK;
    return convert(device, stream, to, from, error);
  }
  if (!array::shares_memory(to.layout, from.layout)) {
    return convert(device, stream, to, from, error);
  }
  GUF_TRY(backend::check_not_captured(stream, "a copy between overlapping arrays", error));
  base::Ref<array::Array> staging;
  GUF_TRY(allocate(device, from.layout.dtype, from.layout.ndim, from.layout.shape, nullptr,
                   GUF_ORDER_C, &staging, error));
  // `retained` is needed because queued work may read the staging memory even if the second copy
  // fails.
  backend::RetainedObjects retained(stream);
  retained.add(staging.get());
  const CopyOperand staged = {staging->layout(), from.swapped};
  GUF_TRY(convert(device, stream, staged, from, error));
  return convert(device, stream, to, staged, error);
}

CopyEndpoint endpoint_of(const Array &array, Device &device) {
  return {{array.layout(), (array.flags() & GUF_ARRAY_SWAPPED) != 0}, &device};
}

guf_status device_of(const Array &array, Device **out, guf_error *error) {
  *out = array.device();
  return *out != nullptr ? GUF_OK : plugin::cpu_device(out, error);
}

guf_status check_stream(const Stream *stream, const Device &a, const Device &b, guf_error *error) {
  if (stream == nullptr) return GUF_OK;
  const Device *const own = stream->device;
  const bool all_host = a.host_memory && b.host_memory;
  if ((own == &a || own == &b) && (all_host || !own->host_memory)) return GUF_OK;
  return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                    "the stream is of device %s; got arrays on %s and %s", own->spec.c_str(),
                    a.spec.c_str(), b.spec.c_str());
}

guf_status transfer(const CopyEndpoint &to, const CopyEndpoint &from, Stream *stream,
                    guf_error *error) {
  if (to.device->host_memory && from.device->host_memory) {
    Device &worker = stream != nullptr ? *stream->device : *to.device;
    return copy_overlapping(worker, stream, to.operand, from.operand, error);
  }
  if (to.device == from.device)
    return copy_overlapping(*to.device, stream, to.operand, from.operand, error);
  if (from.device->host_memory) return host_to_device(to, from, stream, error);
  if (to.device->host_memory) return device_to_host(to, from, stream, error);
  return between_devices(to, from, stream, error);
}

}  // namespace gufunc::memory

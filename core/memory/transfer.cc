// SPDX-License-Identifier: Apache-2.0
// Copies between memories. Between a device and the host, only contiguous bytes are copied. Casts
// and strided accesses run where the elements are stored, through contiguous staging arrays. Copies
// between two GPUs of the same backend do not pass through host memory.
#include "core/memory/transfer.h"

#include <sched.h>

#include <limits>

#include "core/backend/extension.h"
#include "core/backend/graph.h"
#include "core/backend/pending.h"
#include "core/backend/stream.h"
#include "core/plugin/find_device.h"

namespace gufunc::memory {
namespace {

using array::Array;
using backend::Device;
using backend::Stream;

constexpr char kUnlikeCopy[] = "a copy from or to host memory that casts, or packs strides,";

bool is_plain(const CopyEndpoint &endpoint) {
  int64_t strides[GUF_MAX_NDIM];
  const array::Layout &layout = endpoint.operand.layout;
  array::contiguous_strides(layout.dtype, layout.ndim, layout.shape, GUF_ORDER_C, strides);
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    if (layout.shape[axis] != 1 && layout.strides[axis] != strides[axis]) return false;
  }
  return !endpoint.operand.swapped;
}

// Returns whether both endpoints store the elements as the same bytes in the same order. Leading
// axes of extent 1 have no influence.
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

// Waits for work that may still be writing memory which the host is about to read.
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
  const bool matches = nbytes(to.operand.layout) == nbytes(from.operand.layout);
  if (matches && same_bytes(to, from)) {
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
  const bool matches = nbytes(to.operand.layout) == nbytes(from.operand.layout);
  if (matches && same_bytes(to, from)) {
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

// SPDX-License-Identifier: Apache-2.0
// Does the work of guf_call_chunked by hand, with page-locked arrays, three streams and three slots
// of device arrays. The slots are allocated once and reused for all chunks. Usage: chunk_loop
// MODULE.so [cuda:0]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gufunc/gufunc.hpp>

using gufunc::Array;
using gufunc::check;
using Stream = gufunc::Handle<guf_stream, guf_stream_retain, guf_stream_release>;
using Event = gufunc::Handle<guf_event, guf_event_retain, guf_event_release>;

constexpr int64_t kItems = 1000000, kChunk = 65536;

Stream make_stream(guf_device device) {
  guf_stream stream = nullptr;
  check(guf_stream_create, device, 0U, &stream);
  return Stream(stream);
}

Event make_event(guf_device device) {
  guf_event event = nullptr;
  check(guf_event_create, device, 0U, &event);
  return Event(event);
}

Array part(const Array &whole, int64_t first, int64_t end) {
  const int64_t step = 1;
  guf_array view = nullptr;
  check(guf_array_slice, whole.get(), 1, &first, &end, &step, &view);
  return Array(view);
}

// A page-locked host array, which is copied to and from `device` without staging.
struct Pinned {
  Array array;
  double *data = nullptr;
  explicit Pinned(guf_device device) {
    guf_array made = nullptr;
    check(guf_array_alloc_host, device, int32_t{GUF_HOST_PINNED}, guf_dtype{GUF_F64}, 1, &kItems,
          nullptr, int32_t{GUF_ORDER_C}, &made);
    array = Array(made);
    guf_array_info info = {};
    info.struct_size = sizeof info;
    check(guf_array_get_info, made, &info);
    data = reinterpret_cast<double *>(info.address);
  }
};

struct Slot {
  Array operand[4];
  Event brought, computed, sent;
  explicit Slot(guf_device device)
      : brought(make_event(device)), computed(make_event(device)), sent(make_event(device)) {
    for (Array &array : operand) {
      guf_array made = nullptr;
      check(guf_array_alloc, device, guf_dtype{GUF_F64}, 1, &kChunk, nullptr, int32_t{GUF_ORDER_C},
            &made);
      array = Array(made);
    }
  }
};

struct Streams {
  Stream in, compute, out;
  explicit Streams(guf_device device)
      : in(make_stream(device)), compute(make_stream(device)), out(make_stream(device)) {}
};

void launch(const gufunc::Ufunc &ufunc, const Array *arrays, const Stream &stream) {
  guf_operand operands[4] = {};
  for (int k = 0; k < 4; ++k) {
    operands[k].kind = GUF_OPERAND_ARRAY;
    operands[k].array = arrays[k].get();
  }
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 3, args.noutputs = 1;
  args.inputs = operands, args.outputs = operands + 3;
  args.options.stream = stream.get();
  check(guf_call, ufunc.get(), &args);
}

// Queues one chunk and returns: copies of a, b and c to the device, the kernel, and a copy of x
// back.
void queue(const gufunc::Ufunc &ufunc, guf_device device, const Pinned *host, int64_t first,
           int64_t end, const Slot &slot, const Streams &streams) {
  Array there[4];
  for (int k = 0; k < 4; ++k) there[k] = part(slot.operand[k], 0, end - first);
  // The slot's inputs can be overwritten when its previous kernel has finished. Waiting for an
  // event that was never recorded returns immediately.
  check(guf_stream_wait_event, streams.in.get(), slot.computed.get());
  for (int k = 0; k < 3; ++k) {
    guf_array target = there[k].get();
    check(guf_array_to_device, part(host[k].array, first, end).get(), device, streams.in.get(),
          &target);
  }
  check(guf_event_record, slot.brought.get(), streams.in.get());
  // The slot's output can be overwritten when its previous result has been copied to the host.
  check(guf_stream_wait_event, streams.compute.get(), slot.brought.get());
  check(guf_stream_wait_event, streams.compute.get(), slot.sent.get());
  launch(ufunc, there, streams.compute);
  check(guf_event_record, slot.computed.get(), streams.compute.get());
  check(guf_stream_wait_event, streams.out.get(), slot.computed.get());
  check(guf_array_copy_to_host, there[3].get(), static_cast<void *>(host[3].data + first),
        sizeof(double) * static_cast<uint64_t>(end - first), int32_t{GUF_ORDER_C},
        streams.out.get());
  check(guf_event_record, slot.sent.get(), streams.out.get());
}

int main(int argc, char **argv) try {
  const gufunc::Module module(argc > 1 ? argv[1] : "discriminant.so");
  const gufunc::Ufunc discriminant("discriminant");
  guf_device device = nullptr;
  check(guf_device_get, nullptr, argc > 2 ? argv[2] : "cpu", &device);
  const Pinned host[] = {Pinned(device), Pinned(device), Pinned(device), Pinned(device)};
  double *const a = host[0].data, *const b = host[1].data, *const c = host[2].data;
  for (int64_t i = 0; i < kItems; ++i) {
    const double t = static_cast<double>(i) / kItems;
    a[i] = t, b[i] = 10 + t, c[i] = 1 - t;
  }
  const Streams streams(device);
  const Slot slots[] = {Slot(device), Slot(device), Slot(device)};
  int chunks = 0;
  for (int64_t first = 0; first < kItems; first += kChunk)
    queue(discriminant, device, host, first, std::min(first + kChunk, kItems), slots[chunks++ % 3],
          streams);
  check(guf_stream_synchronize, streams.out.get(), UINT64_MAX);
  const double *const x = host[3].data;
  int64_t wrong = 0;
  for (int64_t i = 0; i < kItems; ++i) {
    if (x[i] != std::sqrt(b[i] * b[i] - 4 * a[i] * c[i])) ++wrong;
  }
  std::printf("%d chunks, %.17g ... %.17g, %lld wrong\n", chunks, x[0], x[kItems - 1],
              static_cast<long long>(wrong));
  return wrong != 0;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}

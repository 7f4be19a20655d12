// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs.
#ifndef GUFUNC_CPP_STREAM_HPP
#define GUFUNC_CPP_STREAM_HPP

#include <gufunc/graph.h>
#include <gufunc/cpp/device.hpp>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

class Event;

// Work of a stream that is captured once and can be launched many times.
class Graph : public Handle<guf_graph, guf_graph_retain, guf_graph_release> {
 public:
  using Handle::Handle;
  Result<void> launch(guf_stream stream) const { return check(guf_graph_launch, get(), stream); }
};

// A queue of work on a device, which runs in order. `synchronize` waits for the queued work and
// reports its first failure.
class Stream : public Handle<guf_stream, guf_stream_retain, guf_stream_release> {
 public:
  using Handle::Handle;
#ifndef GUFUNC_NO_EXCEPTIONS
  explicit Stream(Device device) : Stream(create(device)) {}
#endif
  operator guf_stream() const noexcept { return get(); }
  static Result<Stream> create(Device device) {
    detail::Record record;
    guf_stream made = nullptr;
    const guf_status status = guf_stream_create(device, 0, &made, record);
    return detail::result(status, record, [&] { return Stream(made); });
  }
  // Adopts a CUstream or hipStream_t. The program still owns it, and it must outlive this object.
  static Result<Stream> adopt(Device device, uint64_t native) {
    detail::Record record;
    guf_stream made = nullptr;
    const guf_status status = guf_stream_adopt(device, native, 0, &made, record);
    return detail::result(status, record, [&] { return Stream(made); });
  }
  Result<Device> device() const {
    detail::Record record;
    guf_device found = nullptr;
    const guf_status status = guf_stream_get_device(get(), &found, record);
    return detail::result(status, record, [&] { return Device(found); });
  }
  Result<uint64_t> native() const {
    detail::Record record;
    uint64_t found = 0;
    const guf_status status = guf_stream_get_native(nullptr, get(), &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Returns whether all queued work is complete. Does not block and does not report failures of the
  // work.
  Result<bool> query() const {
    detail::Record record;
    const guf_status status = guf_stream_query(get(), record);
    return detail::query_result(status, record, GUF_NOT_READY);
  }
  // Waits for all queued work. Returns false if work was still running after `timeout_ns`
  // nanoseconds.
  Result<bool> synchronize(uint64_t timeout_ns = kForever) const {
    detail::Record record;
    const guf_status status = guf_stream_synchronize(get(), timeout_ns, record);
    return detail::query_result(status, record, GUF_TIMEOUT);
  }
  // Makes work that is queued later wait for the event. Does not block.
  inline Result<void> wait_event(const Event &event) const;

  // Starts a capture: until end_capture, work that is queued on the stream is recorded and does not
  // run.
  Result<void> begin_capture() const { return check(guf_stream_begin_capture, get()); }
  // Ends the capture and returns the recorded work as a new graph. If `replaced` is not empty,
  // replaces the work of `replaced` and returns it instead.
  Result<Graph> end_capture(Graph replaced = Graph()) const {
    detail::Record record;
    guf_graph made = replaced.get();
    const guf_status status = guf_stream_end_capture(get(), &made, record);
    return detail::result(status, record,
                          [&] { return replaced ? std::move(replaced) : Graph(made); });
  }
};

// A point in a stream that other streams and the host can wait for.
class Event : public Handle<guf_event, guf_event_retain, guf_event_release> {
 public:
  using Handle::Handle;
#ifndef GUFUNC_NO_EXCEPTIONS
  explicit Event(Device device) : Event(create(device)) {}
#endif
  operator guf_event() const noexcept { return get(); }
  static Result<Event> create(Device device) {
    detail::Record record;
    guf_event made = nullptr;
    const guf_status status = guf_event_create(device, 0, &made, record);
    return detail::result(status, record, [&] { return Event(made); });
  }
  Result<void> record(guf_stream stream) const { return check(guf_event_record, get(), stream); }
  Result<bool> query() const {
    detail::Record record;
    const guf_status status = guf_event_query(get(), record);
    return detail::query_result(status, record, GUF_NOT_READY);
  }
  // Returns false if the event was not reached within `timeout_ns` nanoseconds.
  Result<bool> wait(uint64_t timeout_ns = kForever) const {
    detail::Record record;
    const guf_status status = guf_event_wait(get(), timeout_ns, record);
    return detail::query_result(status, record, GUF_TIMEOUT);
  }
  // Returns the milliseconds from `earlier` to this event. Both events must be complete.
  Result<double> elapsed_since(const Event &earlier) const {
    detail::Record record;
    double milliseconds = 0;
    const guf_status status = guf_event_elapsed(earlier.get(), get(), &milliseconds, record);
    return detail::result(status, record, [&] { return milliseconds; });
  }
};

inline Result<void> Stream::wait_event(const Event &event) const {
  return check(guf_stream_wait_event, get(), event.get());
}

// Waits for a stream at the end of the scope, even if an exception is thrown. Does not report
// failures.
class AutoSynchronize {
 public:
  explicit AutoSynchronize(const Stream &stream) : stream_(stream) {}
  AutoSynchronize(const AutoSynchronize &) = delete;
  AutoSynchronize &operator=(const AutoSynchronize &) = delete;
  ~AutoSynchronize() { guf_stream_synchronize(stream_.get(), kForever, nullptr); }

 private:
  const Stream stream_;
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_STREAM_HPP

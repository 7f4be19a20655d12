// SPDX-License-Identifier: Apache-2.0
// Writes records as Chrome trace events.
#ifndef GUFUNC_CORE_TRACE_EVENT_TEXT_H
#define GUFUNC_CORE_TRACE_EVENT_TEXT_H

#include <cstddef>
#include <cstdint>

#include "core/trace/queue.h"
#include "core/trace/trace_file.h"

namespace gufunc::trace {

// Builds one JSON object. Bytes that are not valid UTF-8 become U+FFFD.
class JsonText {
 public:
  JsonText &raw(const char *text);
  JsonText &string(const char *text, size_t size);  // quoted; up to `size` bytes or the NUL
  JsonText &string(const char *text) { return string(text, SIZE_MAX); }
  JsonText &number(uint64_t value);
  JsonText &microseconds(uint64_t nanoseconds);
  // Appends `,"name":`.
  JsonText &member(const char *name);

  const char *text() const { return text_; }
  size_t length() const { return length_; }
  bool whole() const { return whole_; }  // whether all of the text fitted

 private:
  void put(const char *bytes, size_t count);

  static constexpr size_t kCapacity = 4096;
  size_t length_ = 0;
  bool whole_ = true;
  char text_[kCapacity];
};

// Writes records to a file. Writes the name of each track before its first record.
class EventWriter {
 public:
  EventWriter(TraceFile &file, uint32_t process) : file_(file), process_(process) {}

  // Errors  those of TraceFile::add
  guf_status begin(guf_error *error);
  guf_status write(const Record &record, guf_error *error);
  // Writes how many records were lost so far.
  guf_status write_dropped(uint64_t dropped, uint64_t now_ns, guf_error *error);
  // Writes how much work of a device its backend could not report so far.
  guf_status write_left_out(int32_t backend, int32_t device, uint64_t count, uint64_t now_ns,
                            guf_error *error);

 private:
  struct Track {
    int32_t backend;  // -1: a thread of the process
    int32_t device;
    uint32_t number;  // number of the stream or the thread
  };
  static constexpr uint32_t kTracks = 1024;
  static constexpr uint32_t kFirstNumber = 1U << 24;  // above all thread numbers

  guf_status add(const JsonText &text, guf_error *error);
  void begin_instant(const char *name, uint64_t now_ns, JsonText *text) const;
  guf_status name_track(const char *kind, uint32_t process, uint32_t number, const char *name,
                        guf_error *error);
  guf_status find_track(const Record &record, uint32_t *out_process, uint32_t *out_number,
                        guf_error *error);
  guf_status write_arrow(const Record &record, uint32_t process, uint32_t number, guf_error *error);

  TraceFile &file_;
  const uint32_t process_;
  uint64_t narrows_ = 0;
  uint32_t ntracks_ = 0, last_ = 0;
  Track tracks_[kTracks];
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_EVENT_TEXT_H

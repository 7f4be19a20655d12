// SPDX-License-Identifier: Apache-2.0
// Conversion of records to Chrome trace events.
#ifndef GUFUNC_CORE_TRACE_EVENT_TEXT_H
#define GUFUNC_CORE_TRACE_EVENT_TEXT_H

#include <cstddef>
#include <cstdint>

#include "core/trace/recorder.h"
#include "core/trace/trace_file.h"

namespace gufunc::trace {

// Builds the text of one JSON object. Bytes that are not valid UTF-8 are replaced by U+FFFD.
class JsonText {
 public:
  JsonText &raw(const char *text);
  JsonText &string(const char *text, size_t size);  // adds quotes; stops at `size` or a NUL
  JsonText &string(const char *text) { return string(text, SIZE_MAX); }
  JsonText &number(uint64_t value);
  JsonText &microseconds(uint64_t nanoseconds);
  // Appends a comma and the name of the next member: `,"name":`.
  JsonText &member(const char *name);

  const char *text() const { return text_; }
  size_t length() const { return length_; }
  bool whole() const { return whole_; }  // whether no text was cut off

 private:
  void put(const char *bytes, size_t count);

  static constexpr size_t kCapacity = 4096;
  size_t length_ = 0;
  bool whole_ = true;
  char text_[kCapacity];
};

// Writes records to a file. The name of a track is written before the first record of the track.
class EventWriter {
 public:
  EventWriter(TraceFile &file, uint32_t process) : file_(file), process_(process) {}

  // Errors  as TraceFile::add
  guf_status begin(guf_error *error);
  guf_status write(const Record &record, guf_error *error);
  // Writes the number of records that were lost so far.
  guf_status write_dropped(uint64_t dropped, uint64_t now_ns, guf_error *error);
  // Writes the amount of work of a device that its backend could not report so far.
  guf_status write_unreported(int32_t backend, int32_t device, uint64_t count, uint64_t now_ns,
                              guf_error *error);

 private:
  struct Track {
    int32_t backend;  // -1 for a thread of the process
    int32_t device;
    uint32_t number;  // number of the stream or thread
  };
  static constexpr uint32_t kTracks = 1024;
  static constexpr uint32_t kFirstNumber = 1U << 24;  // above all thread IDs

  guf_status add(const JsonText &text, guf_error *error);
  void begin_instant(const char *name, uint64_t now_ns, JsonText *text) const;
  guf_status name_track(const char *kind, uint32_t process, uint32_t number, const char *name,
                        guf_error *error);
  guf_status find_track(const Record &record, uint32_t *out_process, uint32_t *out_number,
                        guf_error *error);
  guf_status write_flow(const Record &record, uint32_t process, uint32_t number, guf_error *error);

  TraceFile &file_;
  const uint32_t process_;
  uint64_t nflows_ = 0;
  uint32_t ntracks_ = 0, last_ = 0;
  Track tracks_[kTracks];
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_EVENT_TEXT_H

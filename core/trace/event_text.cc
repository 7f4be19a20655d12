// SPDX-License-Identifier: Apache-2.0
// Converts records to trace events. Each thread is a track of the program's process. Each device is
// shown as a separate process, with its streams as tracks. A flow event, drawn as an arrow,
// connects queued work with the call that queued it.
#include "core/trace/event_text.h"

#include <errno.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/utf8.h"
#include "core/trace/layer.h"
#include "core/trace/recorder.h"

namespace gufunc::trace {
namespace {

const char *category(int32_t kind) {
  static constexpr const char *kNames[] = {"other", "launch", "method", "convert", "copy",
                                           "fill",  "graph",  "wait",   "other"};
  return kind > 0 && kind <= GUF_TRACE_OTHER ? kNames[kind] : kNames[0];
}

const char *direction_name(const guf_trace_work &work) {
  if ((work.flags & GUF_TRACE_PEER) != 0) return "peer";
  static constexpr const char *kNames[] = {"H2D", "D2H", "D2D"};
  return work.direction >= 0 && work.direction < 3 ? kNames[work.direction] : "?";
}

void add_triple(const char *name, const uint32_t (&value)[3], JsonText *text) {
  text->member(name).raw("[").number(value[0]).raw(",").number(value[1]).raw(",");
  text->number(value[2]).raw("]");
}

// The name of a device, such as "cpu" or "cuda:0".
struct Spec {
  Spec(int32_t backend, int32_t device) {
    const char *const name = backend_name(backend);
    const bool cpu = std::strcmp(name, "cpu") == 0;
    std::snprintf(text, sizeof text, cpu ? "%s" : "%s:%d", name, device);
  }
  char text[48];
};

void add_device(const Record &record, JsonText *text) {
  if (record.work.device < 0 || record.backend < 0) return;
  text->member("device").string(Spec(record.backend, record.work.device).text);
}

void add_arguments(const Record &record, JsonText *text) {
  const guf_trace_work &work = record.work;
  text->member("args").raw("{\"call\":").number(work.call);
  add_device(record, text);
  if (record.on_stream) text->member("stream").number(work.stream);
  if (record.handle != 0) {
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx",
                  static_cast<unsigned long long>(record.handle));
    text->member("stream_handle").string(address);
  }
  if (work.kind == GUF_TRACE_COPY) text->member("direction").string(direction_name(work));
  if (work.items != 0) text->member("items").number(work.items);
  if (work.bytes != 0) text->member("bytes").number(work.bytes);
  if (work.chunk != 0) text->member("chunk").number(work.chunk);
  if (work.kernel[0] != '\0') text->member("kernel").string(work.kernel, sizeof work.kernel);
  if ((work.flags & GUF_TRACE_GRID) != 0) {
    add_triple("grid", work.grid, text);
    add_triple("block", work.block, text);
    const bool known = (work.flags & GUF_TRACE_FUNCTION) != 0;
    text->member("shared_bytes").number(work.shared_bytes + (known ? work.static_shared_bytes : 0));
  }
  if ((work.flags & GUF_TRACE_FUNCTION) != 0) {
    text->member("registers").number(work.registers);
    text->member("local_bytes").number(work.local_bytes);
  }
  if (record.status != GUF_OK) text->member("status").number(static_cast<uint64_t>(record.status));
  if (record.on_stream) {
    text->member("time").string((work.flags & GUF_TRACE_HOST_TIME) != 0 ? "host" : "device");
  }
  text->raw("}");
}

}  // namespace

guf_status EventWriter::add(const JsonText &text, guf_error *error) {
  return text.whole() ? file_.add(text.text(), text.length(), error) : guf_status{GUF_OK};
}

guf_status EventWriter::name_track(const char *kind, uint32_t process, uint32_t number,
                                   const char *name, guf_error *error) {
  JsonText text;
  text.raw("{\"ph\":\"M\",\"name\":").string(kind).member("pid").number(process);
  text.member("tid").number(number).member("args").raw("{\"name\":").string(name).raw("}}");
  return add(text, error);
}

guf_status EventWriter::begin(guf_error *error) {
  return name_track("process_name", process_, process_, program_invocation_short_name, error);
}

guf_status EventWriter::find_track(const Record &record, uint32_t *out_process,
                                   uint32_t *out_number, guf_error *error) {
  const guf_trace_work &work = record.work;
  Track requested = {-1, -1, work.thread};
  if (record.on_stream) requested = {record.backend, work.device, work.stream};
  const auto same = [&](const Track &track) {
    return track.backend == requested.backend && track.device == requested.device &&
           track.number == requested.number;
  };
  uint32_t found = last_;
  const bool again = found < ntracks_ && same(tracks_[found]);
  if (!again)
    found = static_cast<uint32_t>(std::find_if(tracks_, tracks_ + ntracks_, same) - tracks_);
  const auto device = static_cast<uint32_t>(requested.backend * 64 + requested.device);
  *out_process = record.on_stream ? kFirstNumber + device : process_;
  *out_number = record.on_stream ? kFirstNumber + found : requested.number;
  last_ = found;
  // If the table of tracks is full, all further tracks share one unnamed track.
  if (found < ntracks_ || ntracks_ == kTracks) return GUF_OK;
  const bool new_device = std::none_of(tracks_, tracks_ + ntracks_, [&](const Track &track) {
    return track.backend == requested.backend && track.device == requested.device;
  });
  tracks_[ntracks_++] = requested;
  char name[80];
  if (!record.on_stream) {
    std::snprintf(name, sizeof name, work.thread == process_ ? "main thread" : "thread %u",
                  work.thread);
    return name_track("thread_name", *out_process, *out_number, name, error);
  }
  const Spec spec(record.backend, work.device);
  if (new_device) {
    GUF_TRY(name_track("process_name", *out_process, *out_number, spec.text, error));
  }
  const bool is_default = (work.flags & GUF_TRACE_DEFAULT_STREAM) != 0;
  const char *const format = is_default ? "%s default stream" : "%s stream %u";
  std::snprintf(name, sizeof name, format, spec.text, work.stream);
  return name_track("thread_name", *out_process, *out_number, name, error);
}

guf_status EventWriter::write_flow(const Record &record, uint32_t process, uint32_t number,
                                   guf_error *error) {
  const guf_trace_work &work = record.work;
  ++nflows_;
  const auto end = [&](const char *phase, uint32_t pid, uint32_t tid, uint64_t at) {
    JsonText text;
    text.raw("{\"ph\":").raw(phase).member("cat").string("queue").member("name").string("queued");
    text.member("id").number(nflows_).member("pid").number(pid).member("tid").number(tid);
    text.member("ts").microseconds(at).raw("}");
    return add(text, error);
  };
  GUF_TRY(end("\"s\"", process_, work.thread, work.queued_ns));
  return end("\"f\",\"bp\":\"e\"", process, number, std::max(work.begin_ns, work.queued_ns));
}

guf_status EventWriter::write(const Record &record, guf_error *error) {
  const guf_trace_work &work = record.work;
  uint32_t process = 0, number = 0;
  GUF_TRY(find_track(record, &process, &number, error));
  JsonText text;
  text.raw("{\"ph\":\"X\",\"cat\":").string(category(work.kind));
  text.member("name").string(work.name, sizeof work.name);
  text.member("pid").number(process).member("tid").number(number);
  text.member("ts").microseconds(work.begin_ns);
  text.member("dur").microseconds(std::max(work.end_ns, work.begin_ns) - work.begin_ns);
  add_arguments(record, &text);
  text.raw("}");
  GUF_TRY(add(text, error));
  if (!record.on_stream || work.call == 0) return GUF_OK;
  return write_flow(record, process, number, error);
}

void EventWriter::begin_instant(const char *name, uint64_t now_ns, JsonText *text) const {
  text->raw("{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"trace\",\"name\":").string(name);
  text->member("pid").number(process_).member("tid").number(process_);
  text->member("ts").microseconds(now_ns);
}

guf_status EventWriter::write_dropped(uint64_t dropped, uint64_t now_ns, guf_error *error) {
  JsonText text;
  begin_instant("records lost", now_ns, &text);
  text.member("args").raw("{\"lost\":").number(dropped).raw("}}");
  return add(text, error);
}

guf_status EventWriter::write_unreported(int32_t backend, int32_t device, uint64_t count,
                                         uint64_t now_ns, guf_error *error) {
  JsonText text;
  begin_instant("unreported work", now_ns, &text);
  text.member("args").raw("{\"unreported\":").number(count);
  text.member("device").string(Spec(backend, device).text).raw("}}");
  return add(text, error);
}

void JsonText::put(const char *bytes, size_t count) {
  if (!whole_ || count > kCapacity - length_) {
    whole_ = false;
    return;
  }
  std::memcpy(text_ + length_, bytes, count);
  length_ += count;
}

JsonText &JsonText::raw(const char *text) {
  put(text, std::strlen(text));
  return *this;
}

JsonText &JsonText::string(const char *text, size_t size) {
  const size_t length = strnlen(text, size);
  put("\"", 1);
  for (size_t i = 0; i < length;) {
    const size_t sequence = base::utf8_length(text + i, length - i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (sequence == 0) {
      raw("\\ufffd");
      ++i;
    } else if (byte == '"' || byte == '\\') {
      const char escaped[2] = {'\\', text[i++]};
      put(escaped, 2);
    } else if (byte < 0x20 || byte == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      raw(escaped);
      ++i;
    } else {
      put(text + i, sequence);
      i += sequence;
    }
  }
  put("\"", 1);
  return *this;
}

JsonText &JsonText::number(uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
  return raw(digits);
}

JsonText &JsonText::microseconds(uint64_t nanoseconds) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%llu.%03u",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  return raw(digits);
}

JsonText &JsonText::member(const char *name) {
  return raw(",\"").raw(name).raw("\":");
}

}  // namespace gufunc::trace

// SPDX-License-Identifier: Apache-2.0
// The trace as a file: an array of Chrome's trace events, JSON after every write.
#ifndef GUFUNC_CORE_TRACE_TRACE_FILE_H
#define GUFUNC_CORE_TRACE_TRACE_FILE_H

#include <cstddef>
#include <cstdint>

#include "core/base/error.h"

namespace gufunc::trace {

// The path with each "%p" replaced by the process's number. False: it does not fit.
bool expand_path(const char *path, int64_t process, char *out, size_t size);

class TraceFile {
 public:
  TraceFile() = default;
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;
  ~TraceFile();

  // Makes the file, or empties the one that is there.
  // Errors  GUF_E_IO <= it cannot be opened; a link, or no ordinary file; another process has it
  guf_status open(const char *path, guf_error *error);

  // Adds one event: an object without a comma. Kept in memory until there is a buffer full.
  // Errors  GUF_E_IO <= the file cannot be written; it then ends with the last whole buffer
  guf_status add(const char *event, size_t length, guf_error *error);
  // Writes what is kept.
  guf_status write_out(guf_error *error);

 private:
  guf_status write_at(const char *bytes, size_t length, uint64_t offset, guf_error *error);

  static constexpr size_t kRoom = 64 * 1024;
  static constexpr char kClosing[] = "\n]\n";

  int descriptor_ = -1;
  bool first_ = true;
  uint64_t end_ = 0;  // where the closing bracket stands
  size_t used_ = 0;
  char room_[kRoom + sizeof kClosing];
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_TRACE_FILE_H

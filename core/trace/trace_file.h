// SPDX-License-Identifier: Apache-2.0
// The trace file: an array of Chrome trace events that is valid JSON after every write.
#ifndef GUFUNC_CORE_TRACE_TRACE_FILE_H
#define GUFUNC_CORE_TRACE_TRACE_FILE_H

#include <cstddef>
#include <cstdint>

#include "core/base/descriptor.h"
#include "core/base/error.h"

namespace gufunc::trace {

// Replaces each "%p" in the path by the process ID. Returns false if the result does not fit.
bool expand_path(const char *path, int64_t process, char *out, size_t size);

class TraceFile {
 public:
  TraceFile() = default;
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  // Creates the file, or truncates an existing one.
  // Errors  GUF_E_IO <= the file cannot be opened, is a symbolic link, is neither a regular file
  //         nor a character device, or is in use by another process
  guf_status open(const char *path, guf_error *error);

  // Adds one event, a JSON object without a trailing comma. Events are buffered.
  // Errors  GUF_E_IO <= the file cannot be written; it then ends with the last complete buffer
  guf_status add(const char *event, size_t length, guf_error *error);
  // Writes the buffered events.
  guf_status write_out(guf_error *error);

 private:
  guf_status write_at(const char *bytes, size_t length, uint64_t offset, guf_error *error);

  static constexpr size_t kCapacity = 64 * 1024;
  static constexpr char kClosing[] = "\n]\n";

  base::Descriptor file_;
  bool first_ = true;
  uint64_t end_ = 0;  // offset of the closing bracket
  size_t used_ = 0;
  char buffer_[kCapacity + sizeof kClosing];
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_TRACE_FILE_H

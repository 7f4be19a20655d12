// SPDX-License-Identifier: Apache-2.0
// Writes a trace of all work to the file that GUFUNC_TRACE names (docs/tracing.md). Without a
// trace, the core calls the slots of the backends directly. With a trace, every slot that runs work
// is wrapped, and each call is a slice on the track of its thread. Backends with the extension
// "gufunc.trace" also report the work of their streams.
//
// Tracing never makes the traced calls fail. Frequent calls add records to a bounded queue without
// a lock; records that do not fit are dropped and counted. One thread writes the file.
#ifndef GUFUNC_CORE_TRACE_TRACE_H
#define GUFUNC_CORE_TRACE_TRACE_H

#include <gufunc/backend.h>

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::trace {

namespace internal {
// Fork epoch of the process that records; 0 if no process records.
extern std::atomic<uint32_t> recording_epoch;
}  // namespace internal

// Returns whether this process records. A forked child never records, because its parent owns the
// file.
inline bool on() {
  const uint32_t epoch = internal::recording_epoch.load(std::memory_order_acquire);
  return __builtin_expect(epoch != 0, 0) && epoch == base::fork_epoch();
}

// Replaces slots of a newly opened backend by slots that record their calls. The first call decides
// whether a trace is written. `backend` must never be freed.
void interpose(const char *backend, guf_backend_api *api);

// Sets the name under which a kernel appears in slices.
void name_kernel(const void *kernel, const char *name);

// Makes the writer thread write all records immediately. Does not wait for the writer.
void flush();

// Closes the file when all records are written, after a few seconds at most. Ends the recording.
void end();

// Adds a text of at most 95 characters to this thread's track, at the current time. Must be called
// only if on() returned true.
void note(const char *text);

// Records one chunk of guf_call_chunked as a slice of its thread. Work that is queued during the
// chunk contains the number of the chunk. Numbers start at 1.
class ChunkSlice {
 public:
  ChunkSlice(const char *what, int64_t number, int64_t first, int64_t count) {
    if (on()) open(what, number, first, count);
  }
  ChunkSlice(const ChunkSlice &) = delete;
  ChunkSlice &operator=(const ChunkSlice &) = delete;
  ~ChunkSlice() {
    if (begin_ns_ != 0) close();
  }

 private:
  void open(const char *what, int64_t number, int64_t first, int64_t count);
  void close();

  uint64_t begin_ns_ = 0;
  const char *what_ = nullptr;
  int64_t number_ = 0, first_ = 0, count_ = 0;
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_TRACE_H

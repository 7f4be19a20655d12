// SPDX-License-Identifier: Apache-2.0
// What ran when, into the file that GUFUNC_TRACE names (docs/tracing.md). Where no trace is written
// nothing stands between the core and its backends: their tables are as the plugins filled them.
// Where one is, each call of a slot that runs work is a slice on its thread's track, and backends
// with the extension "gufunc.trace" tell what their streams did.
//
// Nothing here fails what is traced. Hot calls put records into a bounded queue, without a lock;
// what it has no room for is counted. One thread writes.
#ifndef GUFUNC_CORE_TRACE_TRACE_H
#define GUFUNC_CORE_TRACE_TRACE_H

#include <gufunc/backend.h>

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::trace {

namespace internal {
// The epoch of the process that records; 0: none does.
extern std::atomic<uint32_t> recording_epoch;
}  // namespace internal

// Whether this process records: a forked child does not, the file is its parent's.
inline bool on() {
  const uint32_t epoch = internal::recording_epoch.load(std::memory_order_acquire);
  return __builtin_expect(epoch != 0, 0) && epoch == base::fork_epoch();
}

// Puts the slots of a backend that was just opened behind ones that record. The first call decides
// whether there is a trace. The name is immortal.
void interpose(const char *backend, guf_backend_api *api);

// What slices of the kernel are called.
void name_kernel(const void *kernel, const char *name);

// Has what is recorded by now written at once, by the writer's thread. Does not wait for it.
void hurry();

// Waits, at most seconds, until it is written, and closes the file: nothing is recorded any more.
void end();

// A line of text at this moment, on the track of its thread. While on(); cut after 95 characters.
void note(const char *text);

// A piece of guf_call_chunked, as a slice of its thread. Work that is queued meanwhile tells its
// number, from 1 on.
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

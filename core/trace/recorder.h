// SPDX-License-Identifier: Apache-2.0
// The trace of the process: functions that add records, and functions for the writer.
#ifndef GUFUNC_CORE_TRACE_RECORDER_H
#define GUFUNC_CORE_TRACE_RECORDER_H

#include <gufunc/backend_trace.h>

#include "core/trace/trace.h"

namespace gufunc::trace {

constexpr int32_t kMaxBackends = 8;        // further backends are not traced
constexpr int32_t kMaxTracedDevices = 64;  // limit per backend

// One slice of the trace. In a slice of a thread, `work.thread` is the thread
// and `work.call` is the number of the call.
struct Record {
  guf_trace_work work;
  int32_t backend;  // index for backend_name; -1 for none
  guf_status status;
  bool on_stream;   // whether the slice is on the track of a stream
  uint64_t handle;  // the stream that the call received, or 0
};

uint64_t now_ns();          // time of CLOCK_MONOTONIC
uint32_t current_thread();  // the thread ID of the operating system

// Returns whether this process records. The first call opens the file that GUFUNC_TRACE names.
bool begin();

// Adds a record. Must be called only if on() returned true.
void put(const Record &record);
// Counts work that a backend could not report because its buffer was full.
void count_unreported(int32_t backend, int32_t device);
uint64_t unreported(int32_t backend, int32_t device);  // number of such pieces of work so far
uint64_t unreported();                                 // the sum over all devices

// The slot call that the thread is executing. Work that is queued during the call refers to the
// call.
struct Current {
  guf_trace_work call;  // uses the fields kind, items, bytes, name and call
  Current *outer;
};
extern constinit thread_local Current *current;
extern constinit thread_local uint32_t current_chunk;
uint64_t next_call();

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_RECORDER_H

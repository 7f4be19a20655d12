// SPDX-License-Identifier: Apache-2.0
// The trace of the process: functions that add records, and functions that the writer uses.
#ifndef GUFUNC_CORE_TRACE_RECORDER_H
#define GUFUNC_CORE_TRACE_RECORDER_H

#include "core/trace/queue.h"
#include "core/trace/trace.h"

namespace gufunc::trace {

constexpr int32_t kMostBackends = 8;  // further backends are not traced
constexpr int32_t kMostDevices = 64;  // per backend

uint64_t now_ns();          // CLOCK_MONOTONIC
uint32_t current_thread();  // thread ID of the kernel

// The first call opens the file that GUFUNC_TRACE names. Returns whether this process records.
bool begin();

// Adds a record. Requires on().
void put(const Record &record);
// Counts work that a backend could not report, for lack of space.
void leave_out(int32_t backend, int32_t device);
uint64_t left_out(int32_t backend, int32_t device);  // count so far
uint64_t left_out();                                 // sum over all devices

// The slot that the thread is running. Work that is queued meanwhile refers to it.
struct Current {
  guf_trace_work call;  // uses kind, items, bytes, name and call
  Current *outer;
};
extern constinit thread_local Current *current;
extern constinit thread_local uint32_t current_chunk;
uint64_t next_call();

// Defined in layer.cc.
const char *backend_name(int32_t backend);
void collect_all();

// Defined in kernel_names.cc. Returns nullptr for a kernel without a name.
const char *kernel_name(const void *kernel);

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_RECORDER_H

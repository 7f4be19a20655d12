// SPDX-License-Identifier: Apache-2.0
// The one trace of the process: where records are put, and what the writer needs of it.
#ifndef GUFUNC_CORE_TRACE_RECORDER_H
#define GUFUNC_CORE_TRACE_RECORDER_H

#include "core/trace/queue.h"
#include "core/trace/trace.h"

namespace gufunc::trace {

constexpr int32_t kMostBackends = 8;  // further ones are not traced
constexpr int32_t kMostDevices = 64;  // of each

uint64_t now_ns();          // CLOCK_MONOTONIC
uint32_t current_thread();  // the kernel's number

// The first call opens the file that GUFUNC_TRACE names. Whether this process records.
bool begin();

// While on().
void put(const Record &record);
// The same for work that its backend has no room for: it is counted.
void leave_out(int32_t backend, int32_t device);
uint64_t left_out(int32_t backend, int32_t device);  // so far
uint64_t left_out();                                 // of all devices

// What a thread is doing inside a slot, for the work that is queued meanwhile.
struct Current {
  guf_trace_work call;  // kind, items, bytes, name, call
  Current *outer;
};
extern constinit thread_local Current *current;
extern constinit thread_local uint32_t current_chunk;
uint64_t next_call();

// layer.cc
const char *backend_name(int32_t backend);
void collect_all();

// kernel_names.cc: nullptr where it was not named.
const char *kernel_name(const void *kernel);

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_RECORDER_H

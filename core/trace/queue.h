// SPDX-License-Identifier: Apache-2.0
// A bounded queue of records. Any thread adds records, and the writer thread removes them.
#ifndef GUFUNC_CORE_TRACE_QUEUE_H
#define GUFUNC_CORE_TRACE_QUEUE_H

#include <gufunc/backend_trace.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace gufunc::trace {

// One slice of the trace. In a slice of a thread, `work.thread` is the thread
// and `work.call` is the number of the call.
struct Record {
  guf_trace_work work;
  int32_t backend;  // index for backend_name; -1 for none
  guf_status status;
  bool on_stream;   // whether the slice is on the track of a stream
  uint64_t handle;  // the stream that the call received, or 0
};

class Queue {
 public:
  static constexpr uint64_t kCells = 8192;

  bool allocate();  // returns false if memory is exhausted

  // Adds a record without a lock. If the queue is full, counts a lost record and returns false.
  bool put(const Record &record);
  // Removes a record. Must not be called by several threads at the same time.
  bool take(Record *out);

  uint64_t put_so_far() const { return tail_.load(std::memory_order_acquire); }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Cell {
    std::atomic<uint64_t> sequence;
    Record record;
  };

  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<uint64_t> tail_{0};
  alignas(64) std::atomic<uint64_t> dropped_{0};
  uint64_t head_ = 0;  // used by `take` only
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_QUEUE_H

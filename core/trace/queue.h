// SPDX-License-Identifier: Apache-2.0
// Records on their way to the file: bounded, any thread puts, the writer takes.
#ifndef GUFUNC_CORE_TRACE_QUEUE_H
#define GUFUNC_CORE_TRACE_QUEUE_H

#include <gufunc/backend_trace.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace gufunc::trace {

// One slice. On a thread's track `work.thread` is that thread, and `work.call` the call it is.
struct Record {
  guf_trace_work work;
  int32_t backend;  // of backend_name; -1: none
  guf_status status;
  bool on_stream;   // the track is a stream's, else a thread's
  uint64_t handle;  // of the stream that the call was given; 0: none
};

class Queue {
 public:
  static constexpr uint64_t kCells = 8192;

  bool allocate();  // false: no memory

  // Without a lock. False: there is no room, and it is counted.
  bool put(const Record &record);
  // One taker at a time.
  bool take(Record *out);

  uint64_t put_so_far() const { return tail_.load(std::memory_order_acquire); }
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Cell {
    std::atomic<uint64_t> turn;
    Record record;
  };

  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<uint64_t> tail_{0};
  alignas(64) std::atomic<uint64_t> dropped_{0};
  uint64_t head_ = 0;  // the taker's
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_QUEUE_H

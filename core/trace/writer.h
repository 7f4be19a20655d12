// SPDX-License-Identifier: Apache-2.0
// The thread that writes records to the file, every 50 ms and on request, and the bounded queue of
// its records.
#ifndef GUFUNC_CORE_TRACE_WRITER_H
#define GUFUNC_CORE_TRACE_WRITER_H

#include <gufunc/backend_trace.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/trace/event_text.h"
#include "core/trace/recorder.h"

namespace gufunc::trace {

// A bounded queue of records. Any thread adds records, and the writer thread removes them.
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

// Created once and never destroyed, because another thread may still be adding a record.
class Writer {
 public:
  explicit Writer(uint32_t process) : events_(file_, process) {}
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  // Errors  GUF_E_IO, GUF_E_NO_MEMORY
  guf_status start(const char *path, guf_error *error);

  void put(const Record &record);
  // Makes the thread immediately collect records from plugins and write them. Does not wait for the
  // thread.
  void flush();
  // Waits for at most a few seconds until all records are written and the thread has ended.
  void stop();

 private:
  static void *thread_entry(void *self);
  void run();
  guf_status drain(guf_error *error);
  guf_status write_unreported(guf_error *error);

  Queue queue_;
  TraceFile file_;
  EventWriter events_;
  sem_t wake_;
  pthread_t thread_{};
  std::atomic<bool> stopping_{false}, ended_{false}, flush_requested_{false};
  uint64_t reported_dropped_ = 0;
  uint64_t written_unreported_of_all_ = 0;
  uint64_t written_unreported_[kMaxBackends][kMaxTracedDevices] = {};
};

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_WRITER_H

// SPDX-License-Identifier: Apache-2.0
// The thread that writes records to the file, every 50 ms and on request.
#ifndef GUFUNC_CORE_TRACE_WRITER_H
#define GUFUNC_CORE_TRACE_WRITER_H

#include <pthread.h>
#include <semaphore.h>

#include <atomic>

#include "core/trace/event_text.h"
#include "core/trace/queue.h"
#include "core/trace/recorder.h"

namespace gufunc::trace {

// Created once and never destroyed, because another thread may still be adding a record.
class Writer {
 public:
  explicit Writer(uint32_t process) : events_(file_, process) {}
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  // Errors  GUF_E_IO, GUF_E_NO_MEMORY
  guf_status start(const char *path, guf_error *error);

  void put(const Record &record);
  // Makes the thread collect records from plugins and write them at once. Does not wait for the
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

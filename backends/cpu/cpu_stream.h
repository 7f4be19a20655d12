// SPDX-License-Identifier: Apache-2.0
// Work in order: an idle stream runs what is small on its caller, a busy one has a thread of its
// own.
#ifndef GUFUNC_BACKENDS_CPU_CPU_STREAM_H
#define GUFUNC_BACKENDS_CPU_CPU_STREAM_H

#include <gufunc/backend.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backends/cpu/cpu_failure.h"
#include "backends/cpu/cpu_trace.h"

namespace gufunc::cpu {

class Stream;

// One piece of queued work. Made with create<>, destroyed by the stream.
class Task {
 public:
  virtual ~Task() = default;
  // Runs on the stream's thread. What it returns other than GUF_OK becomes the stream's failure.
  virtual guf_status run(Stream &stream, guf_error *error) = 0;
  // The memory that create<> took.
  virtual void dispose() = 0;

  Task *next = nullptr;
  uint64_t launch = 0;               // number among the stream's launches; 0: not a launch
  guf_trace_work *traced = nullptr;  // owned by whoever runs the task; a copy takes it over
};

// Where a piece of work may run.
enum class Place {
  kInlineWhenIdle,  // small: on the caller if nothing is pending
  kQueue,           // large, or waiting: on the stream's thread
  kCaller           // only on the caller: waits for what is pending first
};

class Stream {
 public:
  Stream();

  // Runs `task_on_stack` now, or queues the copy that `make_copy(context)` returns.
  // A failure of the work itself is kept by the stream, not returned.
  // Errors  GUF_E_NO_MEMORY <= no memory to queue; GUF_E_FORKED
  using MakeCopy = Task *(*)(const Task &task);
  guf_status submit(Task &task, MakeCopy copy, Place place, guf_error *error);

  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);
  void close();  // never waits; pending work completes first

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // First failure since the last report. Called by tasks, so by whoever runs the stream now.
  Failure failure();

  // Waits until no stream of this process has a thread.
  static guf_status wait_for_threads(uint64_t timeout_ns);

 private:
  // state_: who may run. The fast path of an idle stream is one compare-and-swap in and one out.
  static constexpr uint32_t kRunning = 1;  // somebody runs: an inline caller or the thread
  static constexpr uint32_t kNoticed = 2;  // somebody queued or waits: take the lock when you end

  class InlineRun;

  ~Stream() = default;
  template <class T>
  friend void destroy(T *object);

  guf_status check_fork(guf_error *error) const;
  bool begin_inline();
  void end_inline();
  bool notice_runner();
  guf_status begin_on_caller(guf_error *error);
  void run_task(Task &task);
  void enqueue(Task *task);
  void wake_thread(std::unique_lock<std::mutex> &lock);
  void drain(std::unique_lock<std::mutex> &lock);
  static void *thread_entry(void *self);
  void serve();

  std::atomic<uint32_t> state_{0};
  std::atomic<uint64_t> launches_{0};
  std::atomic<bool> failed_{false};
  const uint32_t generation_;
  const uint32_t number_;  // for traces

  std::mutex mutex_;  // guards the rest
  std::condition_variable work_arrived_, work_ended_;
  Task *head_ = nullptr, *tail_ = nullptr;
  uint64_t queued_ = 0, completed_ = 0;  // tasks that went through the queue
  uint64_t inline_ended_ = 0;            // noticed inline runs that ended
  bool queue_runs_ = false;              // kRunning belongs to the queue
  bool has_thread_ = false;
  bool closed_ = false;
  Failure failure_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CPU_STREAM_H

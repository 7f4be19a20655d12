// SPDX-License-Identifier: Apache-2.0
// A queue of work that runs in order. An idle stream runs small work on the calling thread; a busy
// stream has its own thread.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H

#include <gufunc/backend.h>
#include <gufunc/backend/failure.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_trace.h"

namespace gufunc::cpu {

class Stream;

// One piece of queued work. Created with create<> and destroyed by the stream.
class Task {
 public:
  virtual ~Task() = default;
  // Runs on the stream's thread. A result other than GUF_OK becomes the stream's failure.
  virtual guf_status run(Stream &stream, guf_error *error) = 0;
  // Frees the memory from create<>.
  virtual void dispose() = 0;

  Task *next = nullptr;
  uint64_t launch = 0;               // number among the stream's launches; 0: not a launch
  guf_trace_work *traced = nullptr;  // owned by the code that runs the task; a copy takes it over
};

// Where a task may run.
enum class Place {
  kInlineWhenIdle,  // small: on the caller if no work is pending
  kQueue,           // large, or a wait: on the stream's thread
  kCaller           // only on the caller, which first waits for pending work
};

class Stream {
 public:
  Stream();

  // Runs the task now, or queues the copy that `copy` returns. The stream keeps a failure of the
  // task itself; this function does not return it.
  // Errors  GUF_E_NO_MEMORY <= no memory to queue; GUF_E_FORKED
  using MakeCopy = Task *(*)(const Task &task);
  guf_status submit(Task &task, MakeCopy copy, Place place, guf_error *error);

  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);
  void close();  // never waits; pending work completes first

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Returns the first failure since the last report. Called by tasks, that is, by the thread that
  // runs the stream.
  Failure failure();

  // Waits until no stream of this process has a thread.
  static guf_status wait_for_threads(uint64_t timeout_ns);

 private:
  // Bits of state_. On an idle stream, the fast path is one compare-and-swap before the work and
  // one after it.
  static constexpr uint32_t kRunning = 1;  // an inline caller or the stream's thread runs work
  static constexpr uint32_t kNoticed = 2;  // a thread queued or waits: the runner locks at its end

  class InlineRun;

  ~Stream() = default;
  template <class T>
  friend void sdk::destroy(T *object);

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

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_arrived_, work_ended_;
  Task *head_ = nullptr, *tail_ = nullptr;
  uint64_t queued_ = 0, completed_ = 0;  // tasks that went through the queue
  uint64_t inline_ended_ = 0;            // inline runs that ended with kNoticed set
  bool queue_runs_ = false;              // kRunning was set for the queue
  bool has_thread_ = false;
  bool closed_ = false;
  Failure failure_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H

// SPDX-License-Identifier: Apache-2.0
// Streams and events. A stream is a queue of work that runs in order. An idle stream runs small
// work on the calling thread. A busy stream has its own thread. An event is a point in a stream
// that can be queried and waited for.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H

#include <gufunc/backend.h>
#include <gufunc/backend/failure.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_trace.h"

namespace gufunc::cpu {

class Stream;

// One unit of work on a stream. A task that runs immediately is owned by the caller of submit(). A
// queued task is a copy, which create<> allocates and the stream destroys.
class Task {
 public:
  virtual ~Task() = default;
  // Does the work, on the stream's thread or on the thread that called submit(). A result other
  // than GUF_OK becomes the stream's failure.
  virtual guf_status run(Stream &stream, guf_error *error) = 0;
  // Called after run. Lets other threads know that the task is complete.
  // The caller may own the stream's lock.
  virtual void complete() {}
  // Destroys a task that create<> allocated.
  virtual void dispose() = 0;

  Task *next = nullptr;
  uint64_t launch = 0;  // number of the launch in its stream; 0: the task is not a launch
  // The task's trace record. The code that runs the task owns the record; a copy of the task takes
  // over the ownership.
  guf_trace_work *traced = nullptr;
};

// Which thread may run a task, and when.
enum class RunPolicy {
  kInlineWhenIdle,  // small task: runs on the calling thread if no work is pending
  kQueue,           // large task or wait: runs on the stream's thread
  kCaller           // runs only on the calling thread, which first waits for pending work
};

class Stream {
 public:
  Stream();

  // Runs the task immediately, or queues the copy that `copy` returns.
  // A failure of the task itself becomes the stream's failure; this function does not return it.
  // Errors  GUF_E_NO_MEMORY <= no memory to queue the task; GUF_E_FORKED
  using MakeCopy = Task *(*)(const Task &task);
  guf_status submit(Task &task, MakeCopy copy, RunPolicy policy, guf_error *error);

  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);
  void close();  // never waits; pending work completes before the stream is destroyed

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Returns the first failure since the last report, if there is one.
  // Only the thread that runs the stream's tasks may call this function.
  std::optional<Failure> failure();

  // Waits until no stream of this process has a thread.
  static guf_status wait_for_threads(uint64_t timeout_ns);

 private:
  // Bits of state_. On an idle stream, a small task needs one
  // compare-and-swap before it runs and one after it.
  static constexpr uint32_t kRunning = 1;  // the stream's thread or an inline caller runs work
  // Another thread has queued work or waits for the thread that runs work. The running thread must
  // therefore acquire mutex_ when its work ends.
  static constexpr uint32_t kContended = 2;

  class InlineRun;

  ~Stream() = default;
  template <class T>
  friend void sdk::destroy(T *object);

  guf_status check_fork(guf_error *error) const;
  bool begin_inline();
  void end_inline(Task &task);
  bool mark_contended();
  guf_status begin_on_caller(guf_error *error);
  void run_task(Task &task);
  void enqueue(Task *task);
  void wake_thread(std::unique_lock<std::mutex> &lock);
  void drain(std::unique_lock<std::mutex> &lock);
  static void *thread_entry(void *self);
  void thread_main();

  std::atomic<uint32_t> state_{0};
  std::atomic<uint64_t> launches_{0};
  std::atomic<bool> failed_{false};
  const uint32_t fork_epoch_;
  const uint32_t number_;  // identifies the stream in traces

  std::mutex mutex_;  // protects the members below
  std::condition_variable work_arrived_, work_ended_;
  Task *head_ = nullptr, *tail_ = nullptr;
  uint64_t queued_ = 0, completed_ = 0;  // counts of all queued tasks and of completed ones
  uint64_t inline_ended_ = 0;            // inline runs that ended with kContended set
  bool queue_runs_ = false;              // kRunning is set for the queue, not for an inline run
  bool has_thread_ = false;
  bool closed_ = false;
  Failure failure_;
};

// An event that was never recorded is complete. After a second recording, query and synchronize
// refer to the new recording. A stream that already waits continues to wait for the earlier
// recording.
class Event {
 public:
  Event();

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // Starts a new recording and returns its number. The stream passes the number to `complete` when
  // the stream reaches the recording.
  uint64_t begin_record();
  void complete(uint64_t record, const Failure &failure);

  uint64_t last_record();
  void wait_for(uint64_t record);  // used by streams; has no timeout and reports no failure

  // Errors  GUF_NOT_READY <= the last recording is not complete (query only);
  //         GUF_TIMEOUT <= the last recording is not complete after the timeout (synchronize only);
  //         the failure of the stream when it completed the recording;
  //         GUF_E_FORKED <= the event was created before this process was forked
  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  guf_status forked(guf_error *error) const;

  std::atomic<uint32_t> references_{1};
  const uint32_t fork_epoch_;
  std::mutex mutex_;
  std::condition_variable completed_changed_;
  uint64_t recorded_ = 0, completed_ = 0;
  Failure failure_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_STREAM_H

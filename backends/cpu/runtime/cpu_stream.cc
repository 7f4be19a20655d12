// SPDX-License-Identifier: Apache-2.0
// The queue of a stream, and the choice of the thread that runs its tasks.
//
// PERF  Passing work to another thread takes 2 to 32 us. If the stream is idle, the calling thread
//       runs the work itself, which takes two compare-and-swaps and no lock.
//
// An event counts its recordings and the completed ones. A mutex protects the counters.
#include "backends/cpu/runtime/cpu_stream.h"

#include <pthread.h>
#include <gufunc/backend/fork_watch.hpp>
#include <gufunc/float_control.hpp>

#include <chrono>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_wait.h"
#include "backends/cpu/base/thread_count.h"
#include "backends/cpu/runtime/cpu_table.h"

namespace gufunc::cpu {
namespace {

// A thread without work exits after this time. The next task starts another thread.
constexpr auto kIdleLife = std::chrono::milliseconds(50);

constinit std::atomic<uint32_t> nstreams{0};  // number of streams created so far

// The lower half of the word contains the number of threads of all streams. The upper half contains
// the fork epoch of the process that owns the threads, because a forked child inherits the number
// but not the threads.
constinit std::atomic<uint64_t> live_threads{0};
// This word is incremented when a thread ends. wait_for_threads() sleeps on it.
constinit std::atomic<uint32_t> ended_threads{0};

uint32_t count_live() {
  const uint64_t seen = live_threads.load(std::memory_order_acquire);
  return seen >> 32 == fork_epoch() ? static_cast<uint32_t>(seen) : 0;
}

void thread_starts() {
  const uint64_t process = uint64_t{fork_epoch()} << 32;
  uint64_t seen = live_threads.load(std::memory_order_relaxed);
  uint64_t requested;
  do {
    requested = seen >> 32 == process >> 32 ? seen + 1 : process + 1;
  } while (!live_threads.compare_exchange_weak(seen, requested, std::memory_order_relaxed));
}

// Counts a thread as ended. Must run on a thread of this process.
void thread_ends() {
  live_threads.fetch_sub(1, std::memory_order_acq_rel);
  ended_threads.fetch_add(1, std::memory_order_release);
  futex_wake(&ended_threads, INT32_MAX);
}

}  // namespace

Stream::Stream()
    : fork_epoch_(fork_epoch()), number_(nstreams.fetch_add(1, std::memory_order_relaxed)) {}

guf_status Stream::check_fork(guf_error *error) const {
  if (__builtin_expect(fork_epoch_ == fork_epoch(), 1)) return GUF_OK;
  return fail(error, GUF_E_FORKED, kNone, kNone,
              "the stream was made before this process was forked");
}

// Ends an inline run in its destructor, which also runs if a user's loop ends the calling thread.
class Stream::InlineRun {
 public:
  InlineRun(Stream &stream, Task &task) : stream_(stream), task_(task) {}
  ~InlineRun() { stream_.end_inline(task_); }
  InlineRun(const InlineRun &) = delete;
  InlineRun &operator=(const InlineRun &) = delete;

 private:
  Stream &stream_;
  Task &task_;
};

guf_status Stream::submit(Task &task, MakeCopy copy, RunPolicy policy, guf_error *error) {
  GUF_BACKEND_TRY(check_fork(error));
  if (is_traced()) task.traced = make_traced(number_);
  bool ours = policy == RunPolicy::kInlineWhenIdle && begin_inline();
  if (policy == RunPolicy::kCaller) {
    if (const guf_status status = begin_on_caller(error); status != GUF_OK) {
      drop_traced(task.traced);
      return status;
    }
    ours = true;
  }
  if (ours) {
    const InlineRun run(*this, task);
    run_task(task);
    return GUF_OK;
  }
  Task *queued = copy(task);
  if (queued == nullptr) {
    drop_traced(task.traced);
    return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory to queue work on the stream");
  }
  enqueue(queued);
  return GUF_OK;
}

bool Stream::begin_inline() {
  uint32_t idle = 0;
  return state_.compare_exchange_strong(idle, kRunning, std::memory_order_acq_rel);
}

// A thread that waited for the task's event may expect an idle stream, so the stream becomes idle
// before the task is complete.
void Stream::end_inline(Task &task) {
  uint32_t running = kRunning;
  if (state_.compare_exchange_strong(running, 0, std::memory_order_acq_rel)) {
    return task.complete();
  }
  std::unique_lock lock(mutex_);
  task.complete();
  ++inline_ended_;
  if (head_ != nullptr) {
    queue_runs_ = true;
    wake_thread(lock);
  } else {
    state_.store(0, std::memory_order_release);
  }
  work_ended_.notify_all();
}

// Returns whether another thread runs work. If so, sets kContended, so that the thread acquires the
// lock when its work ends. Callers must own the lock.
bool Stream::mark_contended() {
  if ((state_.fetch_or(kContended, std::memory_order_acq_rel) & kRunning) != 0) return true;
  state_.store(0, std::memory_order_release);
  return false;
}

// Waits until all work that is pending now is complete. The calling thread then becomes the thread
// that runs the stream's work.
guf_status Stream::begin_on_caller(guf_error *error) {
  // Another caller may start first, even after each wake-up, so kContended is set again each time.
  // A failure of earlier work is not reported here; it stays in the stream until the next
  // synchronize.
  while (!begin_inline()) {
    std::unique_lock lock(mutex_);
    work_ended_.wait(lock, [&] { return !mark_contended(); });
  }
  return check_fork(error);
}

void Stream::run_task(Task &task) {
  guf_error details;
  details.struct_size = sizeof(details);
  details.status = GUF_OK;
  guf_status status;
  {
    const TracedRun traced(task.traced);
    status = task.run(*this, &details);
  }
  if (__builtin_expect(status == GUF_OK, 1)) return;
  const std::lock_guard lock(mutex_);
  if (!failure_.happened()) failure_.keep(status, task.launch, details);
  failed_.store(true, std::memory_order_release);
}

std::optional<Failure> Stream::failure() {
  if (!failed_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Stream::enqueue(Task *task) {
  std::unique_lock lock(mutex_);
  if (tail_ != nullptr) {
    tail_->next = task;
  } else {
    head_ = task;
  }
  tail_ = task;
  ++queued_;
  const uint32_t before = state_.fetch_or(kRunning | kContended, std::memory_order_acq_rel);
  if ((before & kRunning) == 0) queue_runs_ = true;
  if (queue_runs_) wake_thread(lock);
}

// Must be called when the queue can run. Wakes the stream's thread or starts one. If no thread can
// be started, runs the queue on the calling thread.
void Stream::wake_thread(std::unique_lock<std::mutex> &lock) {
  if (has_thread_) return work_arrived_.notify_one();
  thread_starts();
  has_thread_ = start_thread(thread_entry, this);
  if (has_thread_) return;
  thread_ends();
  has_thread_ = true;  // the calling thread acts as the stream's thread
  drain(lock);
  has_thread_ = false;
}

// Runs the queue until it is empty, then marks the stream as idle.
void Stream::drain(std::unique_lock<std::mutex> &lock) {
  while (head_ != nullptr) {
    Task *task = head_;
    head_ = task->next;
    if (head_ == nullptr) tail_ = nullptr;
    lock.unlock();
    ensure_default_float_control();  // the loop of the previous task may have changed the control
    run_task(*task);
    lock.lock();
    task->complete();
    task->dispose();
    ++completed_;
    work_ended_.notify_all();
  }
  queue_runs_ = false;
  state_.store(0, std::memory_order_release);
  work_ended_.notify_all();
}

void *Stream::thread_entry(void *self) {
  const AlternateStack signals;
  pthread_setname_np(pthread_self(), "gufunc-stream");
  static_cast<Stream *>(self)->thread_main();
  thread_ends();
  return nullptr;
}

void Stream::thread_main() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (queue_runs_) drain(lock);
    if (closed_) break;
    if (!work_arrived_.wait_for(lock, kIdleLife, [&] { return queue_runs_ || closed_; })) break;
  }
  has_thread_ = false;
  const bool last = closed_;
  lock.unlock();
  if (last) destroy(this);
}

guf_status Stream::query(guf_error *error) {
  GUF_BACKEND_TRY(check_fork(error));
  const auto running = [&] { return (state_.load(std::memory_order_acquire) & kRunning) != 0; };
  if (!running()) return GUF_OK;
  // The thread that completed the last task owns the lock until the stream is idle.
  const std::lock_guard lock(mutex_);
  return running() ? GUF_NOT_READY : GUF_OK;
}

guf_status Stream::synchronize(uint64_t timeout_ns, guf_error *error) {
  GUF_BACKEND_TRY(check_fork(error));
  const Deadline deadline(timeout_ns);
  std::unique_lock lock(mutex_);
  if (mark_contended()) {
    // Waits for the tasks that are queued now and for the current inline run, if any.
    const uint64_t last = queued_;
    const uint64_t inline_runs = inline_ended_ + (queue_runs_ ? 0 : 1);
    const auto done = [&] { return completed_ >= last && inline_ended_ >= inline_runs; };
    if (deadline.never()) {
      work_ended_.wait(lock, done);
    } else if (!work_ended_.wait_until(lock, deadline.at(), done)) {
      return GUF_TIMEOUT;
    }
  }
  if (!failure_.happened()) return GUF_OK;
  const Failure first = failure_;
  failure_ = Failure();
  failed_.store(false, std::memory_order_release);
  lock.unlock();
  return first.report(error);
}

void Stream::close() {
  // In a forked child, a thread that no longer exists may own the mutex, so the memory is leaked.
  if (fork_epoch_ != fork_epoch()) return;
  std::unique_lock lock(mutex_);
  closed_ = true;
  if (has_thread_) {
    work_arrived_.notify_one();
    return;  // the thread destroys the stream when the queue is empty
  }
  lock.unlock();
  destroy(this);
}

guf_status Stream::wait_for_threads(uint64_t timeout_ns) {
  const Deadline deadline(timeout_ns);
  for (;;) {
    const uint32_t ended = ended_threads.load(std::memory_order_acquire);
    if (count_live() == 0) return GUF_OK;
    const auto wait = deadline.left(std::chrono::milliseconds(10));
    if (wait.count() == 0) return GUF_TIMEOUT;
    const timespec limit{0, static_cast<long>(wait.count())};
    futex_wait(&ended_threads, ended, &limit);
  }
}

Event::Event() : fork_epoch_(fork_epoch()) {}

void Event::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // In a forked child, a thread that no longer exists may own the mutex, so the memory is leaked.
  if (fork_epoch_ == fork_epoch()) destroy(this);
}

uint64_t Event::begin_record() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}

void Event::complete(uint64_t record, const Failure &failure) {
  const std::lock_guard lock(mutex_);
  if (record <= completed_) return;
  completed_ = record;
  failure_ = failure;
  completed_changed_.notify_all();
}

uint64_t Event::last_record() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void Event::wait_for(uint64_t record) {
  std::unique_lock lock(mutex_);
  completed_changed_.wait(lock, [&] { return completed_ >= record; });
}

guf_status Event::forked(guf_error *error) const {
  return fail(error, GUF_E_FORKED, kNone, kNone,
              "the event was made before this process was forked");
}

guf_status Event::query(guf_error *error) {
  if (fork_epoch_ != fork_epoch()) return forked(error);
  const std::lock_guard lock(mutex_);
  return completed_ < recorded_ ? GUF_NOT_READY : failure_.report(error);
}

guf_status Event::synchronize(uint64_t timeout_ns, guf_error *error) {
  if (fork_epoch_ != fork_epoch()) return forked(error);
  const Deadline deadline(timeout_ns);
  std::unique_lock lock(mutex_);
  const uint64_t record = recorded_;
  const auto done = [&] { return completed_ >= record; };
  if (deadline.never()) {
    completed_changed_.wait(lock, done);
  } else if (!completed_changed_.wait_until(lock, deadline.at(), done)) {
    return GUF_TIMEOUT;
  }
  return failure_.report(error);
}

// The slots of the plugin's table. A stream that is nullptr is the default stream, which never
// has pending work.

guf_status stream_open(void *, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error) {
  if (native != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "the cpu has no native streams to adopt");
  }
  if (flags != 0) {
    return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                "stream flags: 0x%x is not known to this plugin", flags);
  }
  auto *stream = create<Stream>();
  if (stream == nullptr) {
    return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory for a stream");
  }
  *out_stream = stream;
  return GUF_OK;
}

void stream_close(void *stream) {
  if (stream != nullptr) static_cast<Stream *>(stream)->close();
}

guf_status stream_query(void *stream, guf_error *error) {
  return stream == nullptr ? GUF_OK : static_cast<Stream *>(stream)->query(error);
}

guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error) {
  return stream == nullptr ? GUF_OK : static_cast<Stream *>(stream)->synchronize(timeout_ns, error);
}

guf_status event_open(void *, void **out_event, guf_error *error) {
  auto *event = create<Event>();
  if (event == nullptr) return fail(error, GUF_E_NO_MEMORY, kNone, kNone, "no memory for an event");
  *out_event = event;
  return GUF_OK;
}

void event_close(void *event) {
  if (event != nullptr) static_cast<Event *>(event)->release();
}

guf_status event_query(void *event, guf_error *error) {
  return static_cast<Event *>(event)->query(error);
}

guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error) {
  return static_cast<Event *>(event)->synchronize(timeout_ns, error);
}

}  // namespace gufunc::cpu

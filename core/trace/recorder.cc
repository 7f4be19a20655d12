// SPDX-License-Identifier: Apache-2.0
#include "core/trace/recorder.h"
#include "core/trace/layer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>

#include "core/base/log.h"
#include "core/trace/writer.h"

namespace gufunc::trace {
namespace internal {
constinit std::atomic<uint32_t> recording_epoch{0};
}  // namespace internal

constinit thread_local Current *current = nullptr;
constinit thread_local uint32_t current_chunk = 0;

namespace {

constinit base::ForkLock decision_lock;
constinit bool decided = false;  // guarded by decision_lock
constinit std::atomic<Writer *> the_writer{nullptr};
constinit uint32_t writer_epoch = 0;  // fork epoch of the writer's process; set before the_writer
constinit std::atomic<bool> stopped{false};
constinit std::atomic<uint64_t> ncalls{0};
constinit std::atomic<uint64_t> nunreported[kMaxBackends][kMaxTracedDevices] = {};
constinit std::atomic<uint64_t> nunreported_of_all{0};
constinit thread_local uint32_t known_thread = 0;
constinit thread_local uint32_t known_epoch = 0;  // epoch of known_thread; a child has new IDs

guf_status open_trace(const char *requested, guf_error *error) {
  char path[PATH_MAX];
  if (!expand_path(requested, getpid(), path, sizeof path)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "its path is empty or too long");
  }
  auto *const writer = new (std::nothrow) Writer(static_cast<uint32_t>(getpid()));
  if (writer == nullptr) {
    return base::fail(error, GUF_E_NO_MEMORY, base::kNone, base::kNone, "no memory for it");
  }
  if (const guf_status status = writer->start(path, error); status != GUF_OK) {
    delete writer;
    return status;
  }
  writer_epoch = base::fork_epoch();
  the_writer.store(writer, std::memory_order_release);
  internal::recording_epoch.store(writer_epoch, std::memory_order_release);
  return GUF_OK;
}

}  // namespace

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint32_t current_thread() {
  if (known_epoch != base::fork_epoch()) {
    known_thread = static_cast<uint32_t>(syscall(SYS_gettid));
    known_epoch = base::fork_epoch();
  }
  return known_thread;
}

uint64_t next_call() {
  return ncalls.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool begin() {
  const std::lock_guard<base::ForkLock> hold(decision_lock);
  if (decided) return on();
  decided = true;
  const char *const requested = secure_getenv("GUFUNC_TRACE");
  if (requested == nullptr || *requested == '\0') return false;
  guf_error error = {};
  error.struct_size = sizeof error;
  if (open_trace(requested, &error) == GUF_OK) return true;
  base::log(base::LogLevel::kWarning, "GUFUNC_TRACE: %s; no trace is written", error.message);
  return false;
}

void put(const Record &record) {
  the_writer.load(std::memory_order_acquire)->put(record);
}

void count_unreported(int32_t backend, int32_t device) {
  if (device < 0 || device >= kMaxTracedDevices) return;
  nunreported[backend][device].fetch_add(1, std::memory_order_relaxed);
  nunreported_of_all.fetch_add(1, std::memory_order_release);
}

uint64_t unreported(int32_t backend, int32_t device) {
  return nunreported[backend][device].load(std::memory_order_relaxed);
}

uint64_t unreported() {
  return nunreported_of_all.load(std::memory_order_acquire);
}

void flush() {
  if (on()) the_writer.load(std::memory_order_acquire)->flush();
}

// Stops the writer. The writer's thread may already have ended, for example because the disk is
// full, but must still be joined. If several threads call this function, one of them stops the
// writer. Records that are added in the meantime stay in the queue.
void end() {
  Writer *const writer = the_writer.load(std::memory_order_acquire);
  if (writer == nullptr || writer_epoch != base::fork_epoch()) return;
  if (on()) collect_all();
  internal::recording_epoch.store(0, std::memory_order_release);
  if (!stopped.exchange(true, std::memory_order_acq_rel)) writer->stop();
}

void note(const char *text) {
  Record record = {};
  record.backend = -1;
  record.work.kind = GUF_TRACE_OTHER;
  record.work.device = -1;
  record.work.begin_ns = record.work.end_ns = now_ns();
  record.work.thread = current_thread();
  record.work.chunk = current_chunk;
  std::snprintf(record.work.name, sizeof record.work.name, "%s", text);
  put(record);
}

void ChunkSlice::open(const char *what, int64_t number, int64_t first, int64_t count) {
  what_ = what;
  number_ = number;
  first_ = first;
  count_ = count;
  current_chunk = static_cast<uint32_t>(number);
  begin_ns_ = now_ns();
}

void ChunkSlice::close() {
  current_chunk = 0;
  if (!on()) return;
  Record record = {};
  record.backend = -1;
  guf_trace_work &work = record.work;
  work.kind = GUF_TRACE_OTHER;
  work.device = -1;
  work.begin_ns = begin_ns_;
  work.end_ns = now_ns();
  work.thread = current_thread();
  work.chunk = static_cast<uint32_t>(number_);
  work.items = static_cast<uint64_t>(count_);
  std::snprintf(work.name, sizeof work.name, "chunk %lld: %s [%lld, %lld)",
                static_cast<long long>(number_), what_, static_cast<long long>(first_),
                static_cast<long long>(first_ + count_));
  put(record);
}

}  // namespace gufunc::trace

// SPDX-License-Identifier: Apache-2.0
// Each cell of the queue has a sequence number. A producer may write the cell of position p if the
// number is p, and the consumer may read it if the number is p + 1.
//
// The writer thread blocks all signals except those that its own instructions raise. SIGXFSZ, which
// reports the limit of the file size, therefore does not end the process.
#include "core/trace/writer.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>

#include "core/base/log.h"
#include "core/trace/layer.h"
#include "core/trace/recorder.h"

namespace gufunc::trace {
namespace {

constexpr long kPause = 50'000'000;  // in nanoseconds
constexpr uint64_t kPatience = 3'000'000'000;

// Starts a thread with blocked signals. The mask is set before the thread is created, because a new
// thread inherits the mask of its creator.
bool start_quietly(pthread_t *thread, void *(*entry)(void *), void *argument) {
  sigset_t all, before;
  sigfillset(&all);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigdelset(&all, number);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(thread, nullptr, entry, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void pause_briefly() {
  constexpr timespec kBriefly = {0, 200'000};
  nanosleep(&kBriefly, nullptr);
}

}  // namespace

bool Queue::allocate() {
  cells_.reset(new (std::nothrow) Cell[kCells]);
  if (cells_ == nullptr) return false;
  for (uint64_t i = 0; i < kCells; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  return true;
}

bool Queue::put(const Record &record) {
  uint64_t place = tail_.load(std::memory_order_relaxed);
  for (;;) {
    Cell &cell = cells_[place % kCells];
    const uint64_t sequence = cell.sequence.load(std::memory_order_acquire);
    if (sequence == place) {
      if (!tail_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
      cell.record = record;
      cell.sequence.store(place + 1, std::memory_order_release);
      return true;
    }
    if (sequence < place) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    place = tail_.load(std::memory_order_relaxed);
  }
}

bool Queue::take(Record *out) {
  Cell &cell = cells_[head_ % kCells];
  if (cell.sequence.load(std::memory_order_acquire) != head_ + 1) return false;
  *out = cell.record;
  cell.sequence.store(head_ + kCells, std::memory_order_release);
  ++head_;
  return true;
}

guf_status Writer::start(const char *path, guf_error *error) {
  GUF_TRY(file_.open(path, error));
  GUF_TRY(events_.begin(error));
  GUF_TRY(file_.write_out(error));
  if (!queue_.allocate() || sem_init(&wake_, 0, 0) != 0 ||
      !start_quietly(&thread_, thread_entry, this)) {
    return base::fail(error, GUF_E_NO_MEMORY, base::kNone, base::kNone,
                      "no memory or thread for it");
  }
  return GUF_OK;
}

void Writer::put(const Record &record) {
  queue_.put(record);
  // Wake the writer long before the queue is full.
  if (queue_.put_so_far() % (Queue::kCells / 4) == 0) sem_post(&wake_);
}

guf_status Writer::drain(guf_error *error) {
  Record record;
  while (queue_.take(&record)) GUF_TRY(events_.write(record, error));
  const uint64_t dropped = queue_.dropped();
  if (dropped != reported_dropped_) {
    reported_dropped_ = dropped;
    GUF_TRY(events_.write_dropped(dropped, now_ns(), error));
  }
  GUF_TRY(write_unreported(error));
  return file_.write_out(error);
}

guf_status Writer::write_unreported(guf_error *error) {
  const uint64_t all = unreported();
  if (all == written_unreported_of_all_) return GUF_OK;
  written_unreported_of_all_ = all;
  for (int32_t backend = 0; backend < kMaxBackends; ++backend) {
    for (int32_t device = 0; device < kMaxTracedDevices; ++device) {
      const uint64_t count = unreported(backend, device);
      if (count == written_unreported_[backend][device]) continue;
      written_unreported_[backend][device] = count;
      GUF_TRY(events_.write_unreported(backend, device, count, now_ns(), error));
    }
  }
  return GUF_OK;
}

void *Writer::thread_entry(void *self) {
  pthread_setname_np(pthread_self(), "gufunc-trace");
  static_cast<Writer *>(self)->run();
  return nullptr;
}

void Writer::run() {
  for (bool last = false; !last;) {
    timespec until = {};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += kPause;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    while (sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) continue;
    last = stopping_.load(std::memory_order_acquire);
    if (flush_requested_.exchange(false, std::memory_order_acq_rel)) collect_all();
    guf_error error = {};
    error.struct_size = sizeof error;
    if (drain(&error) != GUF_OK) {
      internal::recording_epoch.store(0, std::memory_order_release);
      base::log(base::LogLevel::kWarning, "GUFUNC_TRACE: %s; the trace ends here", error.message);
      last = true;
    }
  }
  ended_.store(true, std::memory_order_release);
}

void Writer::flush() {
  flush_requested_.store(true, std::memory_order_release);
  sem_post(&wake_);
}

void Writer::stop() {
  stopping_.store(true, std::memory_order_release);
  sem_post(&wake_);
  const uint64_t begun = now_ns();
  while (!ended_.load(std::memory_order_acquire) && now_ns() - begun < kPatience) pause_briefly();
  if (ended_.load(std::memory_order_acquire)) {
    pthread_join(thread_, nullptr);
  } else {
    pthread_detach(thread_);
  }
}

}  // namespace gufunc::trace

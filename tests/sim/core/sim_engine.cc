// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_driver.h"

namespace sim {
namespace {

thread_local bool inside_host_function = false;

}  // namespace

bool Engine::in_host_function() {
  return inside_host_function;
}
void Engine::set_in_host_function(bool inside) {
  inside_host_function = inside;
}

bool reached(const Point &point) {
  return point.stream == nullptr || point.stream->completed >= point.sequence;
}

bool Engine::eager() const {
  return driver_.config.order == Order::kEager;
}

void Engine::add(const std::shared_ptr<Stream> &stream) {
  stream->favour = random_();
  streams_.push_back(stream);
}

// Adds the implicit waits: the legacy stream waits for all blocking streams, and blocking streams
// wait for the legacy stream.
void Engine::add_order(const std::shared_ptr<Stream> &stream, std::vector<Point> &waits) const {
  if (!stream->blocking) return;
  for (const auto &other : streams_) {
    if (other == stream || other->context != stream->context || !other->blocking) continue;
    if (!stream->is_legacy && !other->is_legacy) continue;
    if (other->completed < other->enqueued) waits.push_back({other, other->enqueued});
  }
}

Point Engine::enqueue(const std::shared_ptr<Stream> &stream, Work work, std::vector<Point> waits) {
  add_order(stream, waits);
  const Point point = {stream, ++stream->enqueued};
  stream->queue.push_back({point.sequence, std::move(waits), std::move(work)});
  if (eager()) {
    if (!stream->has_worker) start_worker(stream);
  } else {
    if (driver_.config.order == Order::kAdversarial) {
      spare_ = random_() % 4 == 0 ? static_cast<unsigned>(random_() % 4) : 0;
    }
    start_server();
  }
  changed_.notify_all();
  return point;
}

bool Engine::may_run(const Stream &stream) const {
  if (stream.running || stream.queue.empty()) return false;
  const std::vector<Point> &waits = stream.queue.front().waits;
  return std::all_of(waits.begin(), waits.end(), reached);
}

// Runs the first operation of a stream. The lock is released while the operation runs.
void Engine::run_front(Lock &lock, const std::shared_ptr<Stream> &stream) {
  const Work work = stream->queue.front().work;
  stream->running = true;
  const bool dead = stream->context->failure != kSuccess;
  int code = dead ? kSuccess : injected_run_failure(work.kind);
  const uint32_t delay = eager() ? driver_.config.delay_us : 0;
  const uint64_t pause = delay == 0 ? 0 : random_() % (2 * uint64_t{delay} + 1);
  // In a failed context no kernel, copy or fill runs, but events are recorded, host functions are
  // called, and memory is freed.
  const bool runs = !dead || work.kind == WorkKind::kRecord || work.kind == WorkKind::kHost ||
                    work.kind == WorkKind::kFree;
  const bool host = work.kind == WorkKind::kHost;
  if (host && !eager()) server_in_host_function_ = true;
  if (host) changed_.notify_all();
  lock.unlock();
  if (pause != 0) std::this_thread::sleep_for(std::chrono::microseconds(pause));
  if (host) set_in_host_function(true);
  if (runs && code == kSuccess) code = work.run();
  if (host) set_in_host_function(false);
  lock.lock();
  if (host) server_in_host_function_ = false;
  if (code != kSuccess && !dead) stream->context->failure = code;
  stream->running = false;
  stream->completed = stream->queue.front().sequence;
  stream->queue.pop_front();
  for (auto at = demands_.begin(); at != demands_.end();) {
    Demand &demand = **at;
    if (demand.steps > 0) --demand.steps;
    at = demand.steps == 0 || reached(demand.point) ? demands_.erase(at) : std::next(at);
  }
  forget_finished(stream);
  changed_.notify_all();
}

// Removes a destroyed stream that has no more operations.
void Engine::forget_finished(const std::shared_ptr<Stream> &stream) {
  if (stream->destroyed && stream->queue.empty()) {
    streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
  }
}

void Engine::start_worker(const std::shared_ptr<Stream> &stream) {
  stream->has_worker = true;
  std::thread([this, stream] {
    Lock lock(driver_.mutex);
    for (;;) {
      changed_.wait(
          lock, [&] { return may_run(*stream) || (stream->destroyed && stream->queue.empty()); });
      if (stream->queue.empty()) return;
      run_front(lock, stream);
    }
  }).detach();
}

void Engine::start_server() {
  if (server_started_) return;
  server_started_ = true;
  std::thread([this] {
    Lock lock(driver_.mutex);
    for (;;) {
      std::shared_ptr<Stream> next;
      changed_.wait(lock, [&] { return (next = choose()) != nullptr; });
      run_front(lock, next);
    }
  }).detach();
}

// Returns a stream whose first operation must run before the point can be reached.
Stream *Engine::needed_for(const Point &point) const {
  Stream *stream = point.stream.get();
  for (;;) {
    if (stream->queue.empty() || stream->running) return nullptr;
    const std::vector<Point> &waits = stream->queue.front().waits;
    const auto open = std::find_if_not(waits.begin(), waits.end(), reached);
    if (open == waits.end()) return stream;
    stream = open->stream.get();
  }
}

// Chooses the stream whose operation runs next. The order of preference changes after eight choices
// on average, so many operations of one stream run before another stream is chosen.
Stream *Engine::favourite() {
  if (random_() % 8 == 0) {
    for (const auto &stream : streams_) stream->favour = random_();
  }
  Stream *best = nullptr;
  for (const auto &stream : streams_) {
    if (may_run(*stream) && (best == nullptr || stream->favour > best->favour)) best = stream.get();
  }
  return best;
}

bool Engine::may_be_written(uint64_t address, uint64_t bytes, bool mapped) const {
  for (const auto &stream : streams_) {
    for (const Operation &operation : stream->queue) {
      const Work &work = operation.work;
      if (work.kind == WorkKind::kHost || work.kind == WorkKind::kGraph) return true;
      if (work.kind == WorkKind::kKernel && mapped) return true;
      if (work.to < address + bytes && address < work.to + work.to_bytes) return true;
    }
  }
  return false;
}

std::shared_ptr<Stream> Engine::choose() {
  if (eager()) return nullptr;
  if (demands_.empty() && spare_ == 0) return nullptr;
  Stream *chosen = nullptr;
  if (driver_.config.order == Order::kLazy) {
    for (const Demand *demand : demands_) {
      if (chosen == nullptr) chosen = needed_for(demand->point);
    }
  } else {
    if (demands_.empty()) --spare_;
    chosen = favourite();
  }
  for (const auto &stream : streams_) {
    if (stream.get() == chosen) return stream;
  }
  return nullptr;
}

// Makes the server thread run the operations that the point requires. Returns when the point is
// reached or when the server has run `steps` operations. If `steps` is positive, the function also
// returns when the server runs a host function. A negative `steps` means no limit.
void Engine::demand(Lock &lock, const Point &point, int steps) {
  Demand mine = {point, steps};
  demands_.push_back(&mine);
  start_server();
  changed_.notify_all();
  const auto served = [&] {
    return std::find(demands_.begin(), demands_.end(), &mine) == demands_.end();
  };
  changed_.wait(
      lock, [&] { return served() || reached(point) || (steps > 0 && server_in_host_function_); });
  demands_.remove(&mine);
}

void Engine::wait(Lock &lock, const Point &point) {
  if (reached(point)) return;
  if (eager()) {
    changed_.wait(lock, [&] { return reached(point); });
  } else {
    demand(lock, point, -1);
  }
}

bool Engine::query(Lock &lock, const Point &point) {
  if (reached(point)) return true;
  if (!eager()) demand(lock, point, 1);
  return reached(point);
}

std::vector<Point> Engine::points_of(const std::shared_ptr<Stream> &stream) const {
  std::vector<Point> points = {{stream, stream->enqueued}};
  if (stream->is_legacy) add_order(stream, points);
  return points;
}

void Engine::wait_stream(Lock &lock, const std::shared_ptr<Stream> &stream) {
  for (const Point &point : points_of(stream)) wait(lock, point);
}

bool Engine::query_stream(Lock &lock, const std::shared_ptr<Stream> &stream) {
  bool all = true;
  for (const Point &point : points_of(stream)) all = query(lock, point) && all;
  return all;
}

void Engine::touch(const std::shared_ptr<Stream> &stream) {
  forget_finished(stream);
  changed_.notify_all();
}

void Engine::wait_all(Lock &lock, const Context *context) {
  std::vector<Point> points;
  for (const auto &stream : streams_) {
    if (context == nullptr || stream->context == context) {
      points.push_back({stream, stream->enqueued});
    }
  }
  for (const Point &point : points) wait(lock, point);
}

void Engine::restart(Lock &lock) {
  wait_all(lock, nullptr);
  for (const auto &stream : streams_) stream->destroyed = true;
  streams_.clear();
  spare_ = 0;
  changed_.notify_all();
}

}  // namespace sim

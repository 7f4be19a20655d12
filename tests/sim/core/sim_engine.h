// SPDX-License-Identifier: Apache-2.0
// Streams, and what runs the operations in them.
//   eager        a thread per stream, as soon as an operation may run, behind a random delay
//   lazy         nothing runs before somebody waits or asks for it, and then only what is needed
//   adversarial  one thread picks among all operations that may run, as the seed says
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_ENGINE_H
#define GUFUNC_TESTS_SIM_CORE_SIM_ENGINE_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/core/sim_memory.h"

namespace sim {

struct Driver;
struct Context;
struct Capture;

using Lock = std::unique_lock<std::mutex>;

enum class WorkKind { kCopy, kFill, kKernel, kHost, kRecord, kWait, kAlloc, kFree, kGraph };

// What an operation does when its turn has come. `run` is called without the driver's lock and
// gives a code; anything but success fails the context. Graphs keep works and run them many times.
struct Work {
  WorkKind kind;
  std::function<int()> run;
  const void *what = nullptr;     // a kernel: which one
  uint64_t to = 0, to_bytes = 0;  // a copy: what it writes
};

struct Operation {
  uint64_t sequence;
  std::vector<Point> waits;
  Work work;
};

struct Stream {
  void *handle = nullptr;
  Context *context = nullptr;
  bool is_legacy = false;
  bool blocking = true;  // ordered against the legacy stream
  int priority = 0;
  unsigned flags = 0;
  bool destroyed = false;
  bool has_worker = false;
  bool running = false;  // its front operation is under way
  uint64_t favour = 0;   // the adversary runs the ready stream with most of it
  std::deque<Operation> queue;
  uint64_t enqueued = 0, completed = 0;
  std::shared_ptr<Capture> capture;
  std::vector<size_t> capture_tail;  // nodes that the next one comes behind
};

class Engine {
 public:
  explicit Engine(Driver &driver) : driver_(driver) {}

  // Appends an operation. Order against the legacy stream of the context is added here.
  Point enqueue(const std::shared_ptr<Stream> &stream, Work work, std::vector<Point> waits = {});

  // Returns when the point is reached.
  void wait(Lock &lock, const Point &point);
  // Whether the point is reached; in orders that nobody else drives, one more operation runs first.
  bool query(Lock &lock, const Point &point);
  // Everything queued so far in all streams of a context, or of all contexts for null.
  void wait_all(Lock &lock, const Context *context);
  // Everything queued so far in a stream; in the legacy one also what it would wait for.
  void wait_stream(Lock &lock, const std::shared_ptr<Stream> &stream);
  bool query_stream(Lock &lock, const std::shared_ptr<Stream> &stream);

  // Whether an operation that has not run yet may write these bytes of host memory: a copy that
  // does, a host function, a graph; a kernel where `mapped` says that devices know the bytes.
  bool may_be_written(uint64_t address, uint64_t bytes, bool mapped) const;

  // Knows a stream from now on. Streams are forgotten when they are destroyed and empty.
  void add(const std::shared_ptr<Stream> &stream);
  // Looks again at a stream that was marked as destroyed.
  void touch(const std::shared_ptr<Stream> &stream);

  // Waits until nothing is queued, then forgets all streams.
  void restart(Lock &lock);

  std::mt19937_64 &random() { return random_; }

  // On this thread a host function of a stream runs now.
  static bool in_host_function();
  static void set_in_host_function(bool inside);

 private:
  struct Demand {
    Point point;
    int steps;  // operations that may run for it; below 0: until it is reached
  };

  void add_order(const std::shared_ptr<Stream> &stream, std::vector<Point> &waits) const;
  bool may_run(const Stream &stream) const;
  Stream *needed_for(const Point &point) const;
  std::shared_ptr<Stream> choose();
  Stream *favourite();
  void run_front(Lock &lock, const std::shared_ptr<Stream> &stream);
  std::vector<Point> points_of(const std::shared_ptr<Stream> &stream) const;
  void forget_finished(const std::shared_ptr<Stream> &stream);
  void start_worker(const std::shared_ptr<Stream> &stream);
  void start_server();
  void demand(Lock &lock, const Point &point, int steps);
  bool eager() const;

  Driver &driver_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::list<Demand *> demands_;
  std::mt19937_64 random_{1};
  bool server_started_ = false;
  bool server_in_host_function_ = false;
  unsigned spare_ = 0;  // operations that the adversary runs unasked
};

// Whether a point has been reached.
bool reached(const Point &point);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_ENGINE_H

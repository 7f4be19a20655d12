// SPDX-License-Identifier: Apache-2.0
// Streams and the execution of their operations, in one of three orders.
//   eager        Each stream has a thread. Operations run as soon as possible after a random delay.
//   lazy         Operations run only when a caller waits or queries, and only as many operations as
//                the wait or query requires.
//   adversarial  One thread chooses among all runnable operations. The seed determines the choices.
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

// The action of an operation. `run` is called without the driver's lock and returns a code. Any
// code except success fails the context. If the operation is a node of a graph, its work can run
// many times.
struct Work {
  WorkKind kind;
  std::function<int()> run;
  const void *what = nullptr;     // the kernel
  uint64_t to = 0, to_bytes = 0;  // destination of a copy
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
  bool blocking = true;  // synchronizes with the legacy stream
  int priority = 0;
  unsigned flags = 0;
  bool destroyed = false;
  bool has_worker = false;
  bool running = false;  // the first operation of the stream is running
  uint64_t favour = 0;   // in adversarial order, the runnable stream with the highest value runs
  std::deque<Operation> queue;
  uint64_t enqueued = 0, completed = 0;
  std::shared_ptr<Capture> capture;
  std::vector<size_t> capture_tail;  // nodes that the next node depends on
};

class Engine {
 public:
  explicit Engine(Driver &driver) : driver_(driver) {}

  // Appends an operation. The operation waits for the points in `waits` and, as the rules of the
  // legacy stream require, for earlier work of other streams.
  Point enqueue(const std::shared_ptr<Stream> &stream, Work work, std::vector<Point> waits = {});

  // Waits until the point is reached.
  void wait(Lock &lock, const Point &point);
  // Returns whether the point is reached. In lazy and adversarial order, query() first runs one
  // operation.
  bool query(Lock &lock, const Point &point);
  // Waits for all queued work in all streams of a context, or in all streams if `context` is null.
  void wait_all(Lock &lock, const Context *context);
  // Waits for all queued work in a stream. For the legacy stream this includes all blocking
  // streams.
  void wait_stream(Lock &lock, const std::shared_ptr<Stream> &stream);
  bool query_stream(Lock &lock, const std::shared_ptr<Stream> &stream);

  // Returns whether a pending operation can write these bytes of host memory: a copy to the bytes,
  // a host function, or a graph. If `mapped` is true, devices can access the bytes, so kernels
  // count too.
  bool may_be_written(uint64_t address, uint64_t bytes, bool mapped) const;

  // Registers a stream. The engine removes the stream when it is destroyed and has no operations.
  void add(const std::shared_ptr<Stream> &stream);
  // Removes the stream if it is destroyed and has no operations.
  void touch(const std::shared_ptr<Stream> &stream);

  // Waits until no stream has operations, then removes all streams.
  void restart(Lock &lock);

  std::mt19937_64 &random() { return random_; }

  // Returns whether this thread is running a host function of a stream.
  static bool in_host_function();
  static void set_in_host_function(bool inside);

 private:
  struct Demand {
    Point point;
    int steps;  // number of operations that the server may still run for this demand; negative
                // means no limit
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
  unsigned spare_ = 0;  // number of operations that may run without a demand in adversarial order
};

// Returns whether a point has been reached.
bool reached(const Point &point);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_ENGINE_H

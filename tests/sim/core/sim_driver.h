// SPDX-License-Identifier: Apache-2.0
// The whole state of one simulated driver, behind one lock. Handles are numbers that are no
// addresses: whoever follows one crashes, and none is ever used twice.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_DRIVER_H
#define GUFUNC_TESTS_SIM_CORE_SIM_DRIVER_H

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_config.h"
#include "tests/sim/core/sim_engine.h"
#include "tests/sim/core/sim_memory.h"

namespace sim {

struct Module;
struct Library;
struct LibraryKernel;
struct Kernel;
struct Graph;
struct GraphExec;
struct Capture;

// The objects of one kind that are alive, by handle.
template <class T>
class Registry {
 public:
  void *add(void *handle, std::shared_ptr<T> object) {
    objects_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> find(const void *handle) const {
    const auto found = objects_.find(const_cast<void *>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  bool remove(const void *handle) { return objects_.erase(const_cast<void *>(handle)) != 0; }
  std::unordered_map<void *, std::shared_ptr<T>> &all() { return objects_; }
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<void *, std::shared_ptr<T>> objects_;
};

// A context; of a HIP device the one that it always has.
struct Context {
  void *handle = nullptr;
  int device = 0;
  bool primary = false;
  unsigned references = 0;  // of a primary one
  bool alive = true;
  int failure = kSuccess;  // sticky: every later call that uses the context returns it
  std::shared_ptr<Stream> legacy;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> per_thread;
  std::set<Context *> peers;
};

struct Pool {
  void *handle = nullptr;
  int device = 0;
  bool is_default = false;
  uint64_t used = 0, used_high = 0;                 // without what queued frees will give back
  std::vector<std::pair<Point, uint64_t>> freeing;  // frees that are queued, and their bytes
  uint64_t reserved = 0, reserved_high = 0;
  uint64_t threshold = 0;
  uint64_t max_bytes = 0;  // 0: as many as the device has
  int reuse[3] = {1, 1, 1};
  std::map<int, int> access;  // flags of other devices, where they were set
};

struct Event {
  void *handle = nullptr;
  Context *context = nullptr;
  bool timing = true;
  bool recorded = false;
  Point point;              // of the last record
  uint64_t generation = 0;  // counts records
  uint64_t done_generation = 0;
  double milliseconds = 0;           // when the record of done_generation ran
  std::shared_ptr<Capture> capture;  // the record is part of it
  std::vector<size_t> capture_tail;
};

struct Device {
  std::unique_ptr<Arena> arena;
  uint64_t allocated = 0;  // bytes outside of pools
  std::shared_ptr<Context> primary;
  std::shared_ptr<Pool> default_pool;
};

// PTX that was loaded.
struct PtxCount {
  uint64_t texts = 0, bytes = 0, entries = 0;
};

struct Driver {
  std::mutex mutex;
  Config config;
  Config next_config;  // what the next reset makes the configuration
  bool initialised = false, deinitialised = false;
  // What differs between vendors; the face says it.
  std::string default_arch;
  int newest_version = 0;
  bool implicit_context = false;  // threads begin in the primary context of device 0

  std::vector<Device> devices;
  MemoryTable memory;
  Engine engine{*this};
  Registry<Context> contexts;
  std::vector<std::shared_ptr<Context>> every_context;  // streams point to them
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Module> modules;
  Registry<Library> libraries;
  Registry<LibraryKernel> library_kernels;
  Registry<Kernel> kernels;
  Registry<Pool> pools;
  std::vector<std::shared_ptr<Pool>> every_pool;  // destroyed ones may hold memory
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  std::vector<std::shared_ptr<Capture>> captures;

  PtxCount ptx;

  std::deque<std::string> violations;  // texts stay where they are
  uint64_t next_id = 1;

  void *new_handle() { return reinterpret_cast<void *>(0xDEAD'0000'0000'0000u + 64 * next_id++); }
  std::string arch() const { return config.arch.empty() ? default_arch : config.arch; }
  int version() const { return config.version != 0 ? config.version : newest_version; }
  bool has_device(int device) const {
    return device >= 0 && static_cast<size_t>(device) < devices.size();
  }
  // Bytes of a device that nobody has.
  uint64_t free_bytes(int device) const;
};

// What the vendor's face says of itself: fills what differs between vendors.
void describe_face(Driver &driver);

// The one driver of this library.
Driver &driver();

// GUFUNC_SIM_EMPTY: what benchmarks take for a driver whose launch costs nothing. Asked before any
// lock is taken.
inline bool launches_are_empty() {
  static const bool empty = driver().config.empty;
  return empty;
}

// Makes devices after the configuration. Called once, by the first init.
void make_devices(Driver &driver);

// Gives everything back as if the process had just begun; faults and counters too.
void reset_driver();

// A program did what the driver's documentation forbids: kept for gufunc_sim_report, written to
// stderr, and the context fails for good so that no test can miss it.
void violation(Driver &driver, Context *context, const std::string &text);

// A context and all that belongs to it; its last reference is gone.
void destroy_context(Driver &driver, Lock &lock, const std::shared_ptr<Context> &context);

// A context without references yet.
std::shared_ptr<Context> make_context(Driver &driver, int device, bool primary);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_DRIVER_H

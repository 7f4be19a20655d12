// SPDX-License-Identifier: Apache-2.0
// The complete state of one simulated driver. One lock protects it. A handle is a number and not an
// address, so a program that dereferences a handle crashes. No handle is reused.
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

// Maps handles to the live objects of one kind.
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

// A context. HIP has no contexts: each of its devices has one permanent context.
struct Context {
  void *handle = nullptr;
  int device = 0;
  bool primary = false;
  unsigned references = 0;  // number of references to a primary context
  bool alive = true;
  int failure = kSuccess;  // sticky failure code, which every later call in this context returns
  std::shared_ptr<Stream> legacy;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> per_thread;
  std::set<Context *> peers;
};

struct Pool {
  void *handle = nullptr;
  int device = 0;
  bool is_default = false;
  uint64_t used = 0, used_high = 0;                 // excluding the bytes of queued frees
  std::vector<std::pair<Point, uint64_t>> freeing;  // points and sizes of queued frees
  uint64_t reserved = 0, reserved_high = 0;
  uint64_t threshold = 0;
  uint64_t max_bytes = 0;  // 0 means that only the memory of the device limits the pool
  int reuse[3] = {1, 1, 1};
  std::map<int, int> access;  // access flags that were set, indexed by device
};

struct Event {
  void *handle = nullptr;
  Context *context = nullptr;
  bool timing = true;
  bool recorded = false;
  Point point;              // position of the last record operation in its stream
  uint64_t generation = 0;  // number of record operations
  uint64_t done_generation = 0;
  double milliseconds = 0;           // time of the last record operation that ran
  std::shared_ptr<Capture> capture;  // capture that contains the last record operation
  std::vector<size_t> capture_tail;
};

struct Device {
  std::unique_ptr<Arena> arena;
  uint64_t allocated = 0;  // bytes outside pools
  std::shared_ptr<Context> primary;
  std::shared_ptr<Pool> default_pool;
};

// Numbers of PTX texts, bytes and entries that were loaded.
struct PtxCount {
  uint64_t texts = 0, bytes = 0, entries = 0;
};

struct Driver {
  std::mutex mutex;
  Config config;
  Config next_config;  // takes effect at the next reset
  bool initialised = false, deinitialised = false;
  // Vendor-specific properties, set by describe_driver().
  std::string default_arch;
  int newest_version = 0;
  bool implicit_context = false;  // threads start in the primary context of device 0

  std::vector<Device> devices;
  MemoryTable memory;
  Engine engine{*this};
  Registry<Context> contexts;
  // Owns all contexts, including destroyed contexts that streams still reference.
  std::vector<std::shared_ptr<Context>> every_context;
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Module> modules;
  Registry<Library> libraries;
  Registry<LibraryKernel> library_kernels;
  Registry<Kernel> kernels;
  Registry<Pool> pools;
  std::vector<std::shared_ptr<Pool>> every_pool;  // includes destroyed pools that still own memory
  Registry<Graph> graphs;
  Registry<GraphExec> graph_execs;
  std::vector<std::shared_ptr<Capture>> captures;

  PtxCount ptx;

  std::deque<std::string> violations;  // a deque, so that pointers to returned texts stay valid
  uint64_t next_id = 1;

  void *new_handle() { return reinterpret_cast<void *>(0xDEAD'0000'0000'0000u + 64 * next_id++); }
  std::string arch() const { return config.arch.empty() ? default_arch : config.arch; }
  int version() const { return config.version != 0 ? config.version : newest_version; }
  bool has_device(int device) const {
    return device >= 0 && static_cast<size_t>(device) < devices.size();
  }
  // Returns the number of unallocated bytes of a device.
  uint64_t free_bytes(int device) const;
};

// Sets the vendor-specific properties. Each vendor's library implements this function.
void describe_driver(Driver &driver);

// Returns the only driver of this library.
Driver &driver();

// Returns whether GUFUNC_SIM_EMPTY is set. Benchmarks set this variable, so that launches cost
// nothing. Launches therefore check it before they acquire a lock.
inline bool launches_are_empty() {
  static const bool empty = driver().config.empty;
  return empty;
}

// Creates the configured devices. The first init call of the program calls this function once.
void make_devices(Driver &driver);

// Restores the state of process start, including faults and counters.
void reset_driver();

// Records a violation of the driver's documented rules for gufunc_sim_report, and prints the
// violation to stderr. The context then fails permanently, so that no test can miss the violation.
void violation(Driver &driver, Context *context, const std::string &text);

// Destroys a context and all its objects. Called when the last reference is released.
void destroy_context(Driver &driver, Lock &lock, const std::shared_ptr<Context> &context);

// Creates a context with a reference count of 0.
std::shared_ptr<Context> make_context(Driver &driver, int device, bool primary);

// The context stack of this thread; the current context is last.
std::vector<void *> &context_stack();

// Returns the current context, even if it has failed, or null. In a driver without contexts (HIP)
// the default is the primary context of device 0.
Context *current_context(Driver &driver);

// Stores the current context, for a call that requires one. Returns kInvalidContext,
// kContextIsDestroyed, or the sticky failure of the context.
int use_context(Driver &driver, Context **out);

// Adds a reference to the primary context of a device. The first reference creates the context.
std::shared_ptr<Context> retain_primary(Driver &driver, int device);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_DRIVER_H

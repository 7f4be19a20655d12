// SPDX-License-Identifier: Apache-2.0
// Backends, devices, streams and events as objects, and the few verbs the rest of the core needs of
// them.
#ifndef GUFUNC_CORE_BACKEND_BACKEND_H
#define GUFUNC_CORE_BACKEND_BACKEND_H

#include <gufunc/backend.h>
#include <gufunc/device.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/array/array.h"
#include "core/base/fork.h"
#include "core/base/object.h"
#include "core/op/ufunc.h"

namespace gufunc::backend {

// One plugin: what its note said, and its table once opened. Immortal.
struct Backend {
  std::string name;
  std::string path;  // empty for the one inside the library
  uint32_t priority = 0;
  guf_backend_api api = {};  // gaps filled with "not supported"
  // ... state, reason: see backend_registry.h
};

class Stream;

class Device;

// The handle of "auto" where it stands for this device: calls of host memory alone are weighed, and
// only those that gain by it run there. A part of its device.
class AutomaticDevice final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kAutomatic;
  explicit AutomaticDevice(Device *chosen) : Object(kKind), device(chosen) {}

  Device *const device;
};

// Immortal; at most op::kMaxDevices of them.
class Device final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kDevice;
  Device() : Object(kKind) {}

  Backend *backend = nullptr;
  void *native = nullptr;  // the plugin's device
  int32_t index = 0;       // among the backend's
  int32_t number = 0;      // among the process's: index into op::Loop::kernels
  bool host_memory = false;
  guf_backend_device_info info = {};
  std::string spec;  // "cpu", "cuda:0"
  uint64_t handle = 0;
  AutomaticDevice automatic{this};  // published when "auto" is asked for

  // From here on changed by calls, of many threads at once.
  std::atomic<const void *> gpu{nullptr};      // see gpu_extension.h
  std::atomic<const void *> kernels{nullptr};  // see raw_kernel.h
  std::atomic<int32_t> captures{0};            // streams of it that are being captured
  base::ForkLock idle_lock;
  size_t nidle = 0;  // streams to borrow: as many threads call at once without opening any
  base::Ref<Stream> idle_stream[8];
};

// Work of a stream that is recorded instead of run, and of those that joined it by its events; see
// graph.h.
struct Capture {
  Stream *origin = nullptr;
  std::vector<base::Ref<Stream>> joined;
  std::vector<base::Ref<base::Object>> kept;  // what the work uses; a graph keeps it afterwards
};

class Stream final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kStream;
  Stream() : Object(kKind) {}
  ~Stream() override;

  Device *device = nullptr;
  void *native = nullptr;
  uint32_t fork_epoch = 0;
  bool adopted = false;              // the native stream is the program's
  std::shared_ptr<Capture> capture;  // while it is being captured
};

class Event final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kEvent;
  Event() : Object(kKind) {}
  ~Event() override;

  Device *device = nullptr;
  void *native = nullptr;
  uint32_t fork_epoch = 0;
  bool recorded = false;           // what follows is of the last record
  bool captured = false;           // it marks a place in a graph, not in a queue
  std::weak_ptr<Capture> capture;  // that graph's, while it lasts
};

// The cpu device. Opened on first use; later calls are one load.
// Errors  any 9xx <= the cpu plugin cannot be found or opened
guf_status cpu_device(Device **out, guf_error *error);

// By spec, as guf_device_get.
guf_status find_device(const char *spec, Device **out, guf_error *error);

// The loop's kernel on a device: one load when it was asked for before. Loads modules, so plans ask
// at creation.
// Errors  GUF_E_NO_IMAGE <= none for this device; the message lists the targets there are
guf_status kernel_of(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                     guf_error *error);

// The loop's fold entry (enum guf_fold) on a device; nullptr when it has none. After kernel_of.
// Errors  as the slots module_load and kernel_get
guf_status fold_of(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                   guf_error *error);

// The image that kernel_of takes the loop from, as a line of text; none for a registered function.
std::string describe_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device);

inline guf_backend_launch make_request(Stream *stream, void *kernel, const op::Loop &loop,
                                       uint32_t threads, const guf_launch_block &block,
                                       const guf_launch_watch *watch) {
  return {sizeof(guf_backend_launch),
          threads,
          kernel,
          stream == nullptr ? nullptr : stream->native,
          loop.user,
          &block,
          loop.failure.load(std::memory_order_relaxed),
          watch};
}

// Queues one launch; NULL stream: complete on return where the device has host memory.
inline guf_status launch(Device &device, Stream *stream, void *kernel, const op::Loop &loop,
                         uint32_t threads, const guf_launch_block &block,
                         const guf_launch_watch *watch, guf_error *error) {
  const guf_backend_launch request = make_request(stream, kernel, loop, threads, block, watch);
  return device.backend->api.launch(device.native, &request, error);
}

// How the backend would run a launch without a stream, in lines; empty when it does not say.
std::string describe_launch(Device &device, void *kernel, const op::Loop &loop, uint32_t threads,
                            const guf_launch_block &block);

// What a method has besides its geometry: guf_backend_method.
struct MethodParts {
  void *kernel;
  void *fold;
  const void *initial;
};

// How it would run a method.
std::string describe_method(Device &device, const MethodParts &parts, const op::Loop &loop,
                            uint32_t threads, const guf_method_block &block,
                            const guf_launch_watch *watch);

// The same as `launch` of a method.
inline guf_backend_method make_method(Stream *stream, const MethodParts &parts,
                                      const op::Loop &loop, uint32_t threads,
                                      const guf_method_block &block,
                                      const guf_launch_watch *watch) {
  return {sizeof(guf_backend_method),
          threads,
          parts.kernel,
          parts.fold,
          stream == nullptr ? nullptr : stream->native,
          loop.user,
          &block,
          loop.failure.load(std::memory_order_relaxed),
          watch,
          parts.initial};
}
inline guf_status run_method(Device &device, Stream *stream, const MethodParts &parts,
                             const op::Loop &loop, uint32_t threads, const guf_method_block &block,
                             const guf_launch_watch *watch, guf_error *error) {
  const guf_backend_method request = make_method(stream, parts, loop, threads, block, watch);
  return device.backend->api.method(device.native, &request, error);
}

// A stream of the device: a new one, or the caller's `native` one.
// Errors  as the slot stream_open
guf_status open_stream(Device &device, uint64_t native, base::Ref<Stream> *out, guf_error *error);

// Waits for what the device was given without a stream.
// Errors  the first failure of it, once;  GUF_TIMEOUT
guf_status synchronize_default(Device &device, uint64_t timeout_ns, guf_error *error);

// Keeps `objects` alive until what `stream` has queued so far is done. Drops them now when it is
// idle.
void keep_until_done(Stream &stream, std::vector<base::Ref<base::Object>> objects);
// The same for one object. Without memory for it this waits: nothing fails behind queued work.
void keep_until_done(Stream &stream, base::Object &object) noexcept;

// Waits for what is queued and leaves its failure to the program's own synchronize.
void wait_quietly(Stream &stream);

// Drops what finished streams kept. Called by allocation, poll, synchronize.
void collect_pending();

// Plugins get a guf_error they can rely on: replaces NULL.
class ErrorRoom {
 public:
  explicit ErrorRoom(guf_error *error) : error_(error) {
    if (error_ == nullptr) {
      local_.struct_size = sizeof local_;
      error_ = &local_;
    }
  }
  guf_error *get() { return error_; }

 private:
  guf_error *error_;
  guf_error local_;  // not initialised: written only on failure
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_BACKEND_H

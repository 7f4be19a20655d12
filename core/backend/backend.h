// SPDX-License-Identifier: Apache-2.0
// Backends, devices, streams and events, and the operations on them that the rest of the core uses.
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

// The DLPack device types (gufunc/dlpack.h) of a backend's memory. A value of 0 means that DLPack
// has no such type.
struct DlpackTypes {
  int32_t device = 0;   // memory of a device
  int32_t pinned = 0;   // page-locked and mapped host memory
  int32_t managed = 0;  // managed memory
};

// One plugin: the contents of its note, and its function table once the plugin is opened. Never
// destroyed.
struct Backend {
  std::string name;
  std::string path;  // empty for a backend that is linked into the library
  uint32_t priority = 0;
  DlpackTypes dlpack;
  guf_backend_api api = {};  // missing optional slots return GUF_E_UNSUPPORTED
  // The outcome of opening is stored in plugin::Record (core/plugin/registry.h).
};

class Stream;

class Device;

// The object behind the handle of device "auto" if the library chose `device` for it. A call on
// this handle whose operands are all in host memory runs on `device` only if it is expected to be
// faster there. Each Device contains its own AutomaticDevice.
class AutomaticDevice final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kAutomatic;
  explicit AutomaticDevice(Device *chosen) : Object(kKind), device(chosen) {}

  Device *const device;
};

// A device of a backend. Never destroyed. A process has at most op::kMaxDevices devices.
class Device final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kDevice;
  Device() : Object(kKind) {}

  Backend *backend = nullptr;
  void *native = nullptr;  // the plugin's device
  int32_t index = 0;       // number within the backend
  int32_t number = 0;      // number within the process; index into op::Loop::kernels
  bool host_memory = false;
  guf_backend_device_info info = {};
  std::string spec;  // the name, such as "cpu" or "cuda:0"
  uint64_t handle = 0;
  AutomaticDevice automatic{this};  // published when a program requests "auto"

  // The fields below are modified by calls, possibly from several threads at the same time.
  std::atomic<const void *> gpu{nullptr};      // see extension.h
  std::atomic<const void *> kernels{nullptr};  // see extension.h
  std::atomic<int32_t> captures{0};            // number of captures in progress
  base::ForkLock idle_lock;
  size_t nidle = 0;  // number of idle streams for BorrowedStream
  base::Ref<Stream> idle_stream[8];
};

// A graph capture. The work of the origin stream, and of the streams that joined it through events,
// is recorded but does not run. See graph.h.
struct Capture {
  Stream *origin = nullptr;
  std::vector<base::Ref<Stream>> joined;
  std::vector<base::Ref<base::Object>> kept;  // objects that the work uses; the graph retains them
};

class Stream final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kStream;
  Stream() : Object(kKind) {}
  ~Stream() override;

  Device *device = nullptr;
  void *native = nullptr;
  uint32_t fork_epoch = 0;
  bool adopted = false;              // whether the program owns the native stream
  std::shared_ptr<Capture> capture;  // set while the stream is being captured
};

class Event final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kEvent;
  Event() : Object(kKind) {}
  ~Event() override;

  Device *device = nullptr;
  void *native = nullptr;
  uint32_t fork_epoch = 0;
  bool recorded = false;           // the next two fields describe the latest recording
  bool captured = false;           // whether the event is a point in a graph
  std::weak_ptr<Capture> capture;  // the capture of the graph; expires with the capture
};

// Returns the loop's kernel on a device. A repeated call costs one atomic load. The first call may
// load an image, so a plan calls this function when it is created.
// Errors  GUF_E_NO_IMAGE <= no image for this device; the message lists the available targets
guf_status load_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                       guf_error *error);

// Returns the loop's fold entry on a device, which is its entry point for reductions (enum
// guf_fold), or nullptr if the loop has no fold entry. Must be called after load_kernel.
// Errors  as the slots module_load and kernel_get
guf_status load_fold(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                     guf_error *error);

// Returns one line of text about the image that load_kernel uses, or an empty text for a registered
// host function.
std::string describe_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device);

inline guf_backend_launch make_request(Stream *stream, void *kernel, const op::Loop &loop,
                                       uint32_t threads, const guf_launch_block &block,
                                       const guf_fp_status *fp_status) {
  return {sizeof(guf_backend_launch),
          threads,
          kernel,
          stream == nullptr ? nullptr : stream->native,
          loop.user,
          &block,
          loop.failure.load(std::memory_order_relaxed),
          fp_status};
}

// Queues one launch. If `stream` is nullptr, the launch is queued on the device's default stream,
// or, if the device uses host memory, is complete when this function returns.
inline guf_status launch(Device &device, Stream *stream, void *kernel, const op::Loop &loop,
                         uint32_t threads, const guf_launch_block &block,
                         const guf_fp_status *fp_status, guf_error *error) {
  const guf_backend_launch request = make_request(stream, kernel, loop, threads, block, fp_status);
  return device.backend->api.launch(device.native, &request, error);
}

// Returns lines of text that describe how the backend would run a launch with a null stream, or an
// empty text if the backend provides no description.
std::string describe_launch(Device &device, void *kernel, const op::Loop &loop, uint32_t threads,
                            const guf_launch_block &block);

// The parts of a guf_backend_method other than its geometry.
struct MethodParts {
  void *kernel;
  void *fold;
  const void *initial;
};

// Describes how the backend would run a method, like describe_launch for a launch.
std::string describe_method(Device &device, const MethodParts &parts, const op::Loop &loop,
                            uint32_t threads, const guf_method_block &block,
                            const guf_fp_status *fp_status);

// `make_method` creates the request that `run_method` passes to the backend. `run_method` queues
// one launch of a method; its `stream` has the same meaning as in `launch`.
inline guf_backend_method make_method(Stream *stream, const MethodParts &parts,
                                      const op::Loop &loop, uint32_t threads,
                                      const guf_method_block &block,
                                      const guf_fp_status *fp_status) {
  return {sizeof(guf_backend_method),
          threads,
          parts.kernel,
          parts.fold,
          stream == nullptr ? nullptr : stream->native,
          loop.user,
          &block,
          loop.failure.load(std::memory_order_relaxed),
          fp_status,
          parts.initial};
}
inline guf_status run_method(Device &device, Stream *stream, const MethodParts &parts,
                             const op::Loop &loop, uint32_t threads, const guf_method_block &block,
                             const guf_fp_status *fp_status, guf_error *error) {
  const guf_backend_method request = make_method(stream, parts, loop, threads, block, fp_status);
  return device.backend->api.method(device.native, &request, error);
}

// Opens a stream of the device: a new stream if `native` is 0, or
// a view of the program's stream `native`.
// Errors  as the slot stream_open
guf_status open_stream(Device &device, uint64_t native, base::Ref<Stream> *out, guf_error *error);

// Waits for the work on the device's default stream.
// Errors  the first failure of the work, which is reported only once;  GUF_TIMEOUT
guf_status synchronize_default(Device &device, uint64_t timeout_ns, guf_error *error);

// Keeps `objects` alive until the work on `stream` is done. Releases them immediately if the stream
// is idle.
void retain_until_done(Stream &stream, std::vector<base::Ref<base::Object>> objects) noexcept;
// Keeps one object alive until the work on `stream` is done. If memory is exhausted, waits for the
// stream instead, because nothing may fail after work has been queued.
void retain_until_done(Stream &stream, base::Object &object) noexcept;

// Waits for the work queued on the stream. Does not report failures: the program's own synchronize
// call reports them.
void wait_quietly(Stream &stream);

// Releases the objects that completed work has used. Called by allocation, poll and synchronize.
void collect_pending();

// Provides a local guf_error if the caller passed NULL, because plugins must not receive NULL.
class ErrorRecord {
 public:
  explicit ErrorRecord(guf_error *error) : error_(error) {
    if (error_ == nullptr) {
      local_.struct_size = sizeof local_;
      error_ = &local_;
    }
  }
  guf_error *get() { return error_; }

 private:
  guf_error *error_;
  guf_error local_;  // uninitialised; written on failure only
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_BACKEND_H

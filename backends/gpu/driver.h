// SPDX-License-Identifier: Apache-2.0
// The interface to a vendor's driver: one method per driver function that the plugins need. An
// implementation only translates to the vendor's functions; all decisions are made by its callers.
#ifndef GUFUNC_BACKENDS_GPU_DRIVER_H
#define GUFUNC_BACKENDS_GPU_DRIVER_H

#include <gufunc/backend.h>

#include <cstddef>
#include <cstdint>

namespace gufunc::gpu {

using Code = int32_t;   // the vendor's own; 0: done
using Native = void *;  // the vendor's handle
inline constexpr Code kDone = 0;

// The class of a driver's error code.
enum class ErrorKind : uint8_t {
  kPlain,     // the call failed, nothing else
  kValue,     // it failed for the value of an argument
  kNotReady,  // a query: still running
  kNoMemory,  // of the device
  kNotFound,  // no such symbol
  kNoImage,   // the driver cannot run this image, but perhaps another
  kLost,      // the device or its context failed for good
  kGone,      // the context of what was named is destroyed: of our own things, as kLost
  kStub,      // the library that was opened is no driver
  kEnabled    // peer access: was enabled before
};

struct ErrorInfo {
  Code code;
  guf_status status;
  ErrorKind kind;
  const char *name;  // "CUDA_ERROR_NO_DEVICE"
};

// Whether the device is lost, if the code concerns the plugin's own context.
inline bool ends_device(ErrorKind kind) {
  return kind == ErrorKind::kLost || kind == ErrorKind::kGone;
}

// What a call that is no question fails with: "not ready" is no failure, but as an answer to it is.
inline guf_status failure_of(const ErrorInfo &info) {
  return info.kind == ErrorKind::kNotReady ? guf_status{GUF_E_LAUNCH} : info.status;
}

struct DeviceFacts {
  char name[128];
  char target[64];  // "sm_90", "gfx942:sramecc+:xnack-"
  uint64_t memory_bytes;
  uint32_t units;
  uint32_t max_shared_bytes;  // that a launch may give a block
  bool pools;                 // the driver's stream-ordered memory
  bool managed;
  uint32_t lanes;  // that run together
};

struct Context {
  Native native;
  int32_t index;   // of the device
  bool adopted;    // the caller's: never released here
  int32_t number;  // the vendor's, of the device
};

enum class HostMemory : uint8_t { kPinned, kMapped };
enum class Direction : uint8_t { kToDevice, kToHost, kWithin };
enum class EventKind : uint8_t { kTimed, kOrder };
// Values of both vendors.
enum CaptureMode : int32_t { kCaptureGlobal = 0, kCaptureThread = 1, kCaptureRelaxed = 2 };

struct LaunchGrid {
  uint32_t blocks, threads, shared_bytes;  // along x
  uint32_t blocks_y = 1, blocks_z = 1, threads_y = 1, threads_z = 1;
};

// What a function takes of a device; registers 0: the driver does not tell.
struct FunctionFacts {
  uint32_t max_threads;   // of a block
  uint32_t registers;     // of a work-item
  uint32_t shared_bytes;  // besides those that a launch gives
  uint32_t local_bytes;   // of a work-item
};

using HostCall = void (*)(void *argument);

// Every verb but `enter` and those that name a device index is called with the device's context
// current. Threads: any, several at once.
class Driver {
 public:
  virtual const ErrorInfo &error_info(Code code) const = 0;
  virtual void write_version(char *out_text, size_t size) const = 0;  // "CUDA 13.0"

  virtual Code device_facts(int32_t index, DeviceFacts *out) = 0;
  // `native` 0: the device's own context.
  virtual Code context_open(int32_t index, uint64_t native, Context *out) = 0;
  virtual void context_close(const Context &context) = 0;
  // Makes the context current on this thread; `out_before` is what `leave` restores.
  virtual Code enter(const Context &context, uint64_t *out_before) = 0;
  virtual void leave(const Context &context, uint64_t before) = 0;
  virtual Code context_synchronize() = 0;

  virtual Code allocate(uint64_t bytes, uint64_t *out_address) = 0;
  virtual Code release(uint64_t address) = 0;
  virtual Code pool_open(const Context &context, Native *out_pool) = 0;
  // Lets the device of a context address what the pool hands out: a pool's memory does not follow
  // the peers of contexts.
  virtual Code pool_share(Native pool, const Context &with) = 0;
  virtual Code pool_close(Native pool) = 0;
  virtual Code pool_trim(Native pool, uint64_t keep_bytes) = 0;
  virtual Code pool_allocate(Native pool, uint64_t bytes, Native stream, uint64_t *out_address) = 0;
  virtual Code pool_release(uint64_t address, Native stream) = 0;
  virtual Code managed_allocate(uint64_t bytes, uint64_t *out_address) = 0;
  virtual Code memory_info(uint64_t *out_free, uint64_t *out_total) = 0;
  virtual Code host_allocate(uint64_t bytes, HostMemory kind, uint64_t *out_address) = 0;
  virtual Code host_release(uint64_t address) = 0;
  virtual Code host_register(uint64_t address, uint64_t bytes) = 0;
  virtual Code host_unregister(uint64_t address) = 0;
  // Whether the driver knows the host's memory there, page-locked or its own: then it copies from
  // and to it without staging.
  virtual bool knows(uint64_t address) = 0;
  // Index of the device that has the memory; -1: the driver knows none there.
  virtual int32_t memory_device(uint64_t address) = 0;

  virtual Code copy(uint64_t dst, uint64_t src, uint64_t bytes, Direction direction,
                    Native stream) = 0;
  virtual Code copy_peer(uint64_t dst, const Context &to, uint64_t src, const Context &from,
                         uint64_t bytes, Native stream) = 0;
  // `width` is 1, 2 or 4; `dst` is aligned to it.
  virtual Code set(uint64_t dst, uint32_t value, uint32_t width, uint64_t count, Native stream) = 0;
  virtual Code peer_access(const Context &to, const Context &from, int32_t *out_can) = 0;
  virtual Code peer_enable(const Context &peer) = 0;

  virtual Code stream_open(Native *out_stream) = 0;
  virtual Code stream_close(Native stream) = 0;
  virtual Code stream_query(Native stream) = 0;
  virtual Code stream_synchronize(Native stream) = 0;
  virtual Code stream_wait(Native stream, Native event) = 0;
  // Whether the stream belongs to the context.
  virtual Code stream_belongs(Native stream, const Context &context, bool *out_belongs) = 0;
  virtual Code stream_capturing(Native stream, bool *out_capturing) = 0;
  virtual Code stream_call(Native stream, HostCall call, void *argument) = 0;

  virtual Code event_open(EventKind kind, Native *out_event) = 0;
  virtual Code event_close(Native event) = 0;
  virtual Code event_record(Native event, Native stream) = 0;
  virtual Code event_query(Native event) = 0;
  virtual Code event_synchronize(Native event) = 0;
  virtual Code event_elapsed(Native from, Native to, float *out_milliseconds) = 0;

  // `image` is followed by a NUL byte.
  virtual Code module_load(const void *image, Native *out_module) = 0;
  virtual Code module_unload(Native module) = 0;
  virtual Code function_find(Native module, const char *name, Native *out_function) = 0;
  // Loads the function's code now, and lets launches give it up to `shared_bytes`.
  virtual Code function_prepare(Native function, uint32_t shared_bytes) = 0;
  virtual Code function_facts(Native function, FunctionFacts *out) = 0;
  virtual Code launch(Native function, const LaunchGrid &shape, const void *block,
                      uint32_t block_bytes, Native stream) = 0;

  virtual Code capture_begin(Native stream, CaptureMode mode) = 0;
  virtual Code capture_end(Native stream, Native *out_graph) = 0;
  // Of this thread.
  virtual Code capture_exchange(CaptureMode *inout_mode) = 0;
  virtual Code graph_instantiate(Native graph, Native *out_executable) = 0;
  virtual Code graph_update(Native executable, Native graph, bool *out_updated) = 0;
  virtual Code graph_launch(Native executable, Native stream) = 0;
  virtual Code graph_close(Native graph) = 0;
  virtual Code executable_close(Native executable) = 0;

 protected:
  ~Driver() = default;
};

// The parts of a plugin besides its driver interface.
struct Vendor {
  const char *name;     // of the backend: "cuda"
  const char *version;  // of the plugin
  // Opens the driver's library and initialises it; *out_driver is written once there is one.
  // Errors  GUF_E_NO_DRIVER <= no library, or a stub;  GUF_E_DRIVER_OLD <= a function is missing
  //         GUF_E_NO_DEVICE <= it lists none, or answers with a code, which is the native one
  guf_status (*open)(Driver **out_driver, int32_t *out_ndevices, guf_error *error);
  // 0: the device cannot run an image of this format and target; higher is better.
  int32_t (*score)(const char *device_target, int32_t format, const char *image_target);
  const guf_module_v1 *(*builtins)();
  const guf_module_v1 *(*moves)();
  // Local memory that the blocks of a launch may have on each unit. 0: any, since the driver
  // allocates it for as many work-items as fit on the device, whatever the launch.
  uint64_t unit_local_bytes;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_DRIVER_H

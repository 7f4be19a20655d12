// SPDX-License-Identifier: Apache-2.0
// The interface to a vendor's driver, with one method for each driver function that the plugins
// need. Implementations only translate to the vendor's functions; the callers make all decisions.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_H

#include <gufunc/backend.h>

#include <cstddef>
#include <cstdint>

namespace gufunc::gpu {

using Code = int32_t;   // the vendor's error code; 0: success
using Native = void *;  // a handle of the vendor's API
inline constexpr Code kDone = 0;

// The class of a driver's error code.
enum class ErrorKind : uint8_t {
  kPlain,     // failure without a special meaning
  kValue,     // an argument has an invalid value
  kNotReady,  // the queried work is still running
  kNoMemory,  // no device memory is left
  kNotFound,  // the symbol does not exist
  kNoImage,   // the driver cannot run this image, but may run another
  kLost,      // the device or its context has failed permanently
  // The context of an object of the caller was destroyed. For the plugin's own objects, the code
  // means the same as kLost.
  kGone,
  kStub,    // the opened library is not a driver
  kEnabled  // peer access is already enabled
};

struct ErrorInfo {
  Code code;
  guf_status status;
  ErrorKind kind;
  const char *name;  // such as "CUDA_ERROR_NO_DEVICE"
};

// Returns whether an error of the plugin's own context means that the device is lost.
inline bool ends_device(ErrorKind kind) {
  return kind == ErrorKind::kLost || kind == ErrorKind::kGone;
}

// Returns the status of a failed call. If a call that is not a query
// returns "not ready", it has failed.
inline guf_status failure_of(const ErrorInfo &info) {
  return info.kind == ErrorKind::kNotReady ? guf_status{GUF_E_LAUNCH} : info.status;
}

struct DeviceProperties {
  char name[128];
  char target[64];  // such as "sm_90" or "gfx942:sramecc+:xnack-"
  uint64_t memory_bytes;
  uint32_t multiprocessors;   // number of multiprocessors or compute units
  uint32_t max_shared_bytes;  // maximum dynamic shared memory of a block
  bool pools;                 // whether the driver has stream-ordered memory
  bool managed;
  uint32_t warp_size;  // number of work-items that run together
};

struct Context {
  Native native;
  int32_t index;   // index of the device
  bool adopted;    // owned by the caller and not released by the plugin
  int32_t number;  // the number by which the driver identifies the device
};

enum class HostMemory : uint8_t { kPinned, kMapped };
enum class Direction : uint8_t { kToDevice, kToHost, kWithin };
enum class EventKind : uint8_t { kTimed, kUntimed };
// The values are the same for both vendors.
enum CaptureMode : int32_t { kCaptureGlobal = 0, kCaptureThread = 1, kCaptureRelaxed = 2 };

struct LaunchGrid {
  // Numbers of blocks and of threads per block along x, and dynamic shared memory.
  uint32_t blocks, threads, shared_bytes;
  uint32_t blocks_y = 1, blocks_z = 1, threads_y = 1, threads_z = 1;
};

// The resources of a function. `registers` is 0 if the driver does not report the number.
struct FunctionAttributes {
  uint32_t max_threads;   // largest number of threads in a block
  uint32_t registers;     // registers of a work-item
  uint32_t shared_bytes;  // static shared memory, without the dynamic part
  uint32_t local_bytes;   // local memory of a work-item
};

using HostCall = void (*)(void *argument);

// The functions require that the device's context is current, except for `enter` and functions
// with a device index. All functions may be called from any thread, concurrently.
class Driver {
 public:
  virtual const ErrorInfo &error_info(Code code) const = 0;
  virtual void write_version(char *out_text, size_t size) const = 0;  // such as "CUDA 13.0"

  virtual Code device_properties(int32_t index, DeviceProperties *out) = 0;
  // Opens a context. If `native` is 0, opens the device's primary context.
  virtual Code context_open(int32_t index, uint64_t native, Context *out) = 0;
  virtual void context_close(const Context &context) = 0;
  // Makes the context current on this thread. `leave` restores the context
  // that `enter` stored in `out_before`.
  virtual Code enter(const Context &context, uint64_t *out_before) = 0;
  virtual void leave(const Context &context, uint64_t before) = 0;
  virtual Code context_synchronize() = 0;

  virtual Code allocate(uint64_t bytes, uint64_t *out_address) = 0;
  virtual Code release(uint64_t address) = 0;
  virtual Code pool_open(const Context &context, Native *out_pool) = 0;
  // Allows the device of another context to access the memory of a pool.
  // Peer access between contexts does not include pools.
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
  // Returns whether the host memory at this address is page-locked or was allocated by the driver.
  // The driver copies such memory without staging.
  virtual bool is_page_locked(uint64_t address) = 0;
  // Returns the index of the device to which the driver assigns the memory at this address,
  // or -1 if the driver does not know the address.
  virtual int32_t memory_device(uint64_t address) = 0;

  virtual Code copy(uint64_t dst, uint64_t src, uint64_t bytes, Direction direction,
                    Native stream) = 0;
  virtual Code copy_peer(uint64_t dst, const Context &to, uint64_t src, const Context &from,
                         uint64_t bytes, Native stream) = 0;
  // Sets `count` elements of `width` bytes. `width` is 1, 2 or 4, and `dst` is aligned to `width`
  // bytes.
  virtual Code set(uint64_t dst, uint32_t value, uint32_t width, uint64_t count, Native stream) = 0;
  virtual Code peer_access(const Context &to, const Context &from, int32_t *out_can) = 0;
  virtual Code peer_enable(const Context &peer) = 0;

  virtual Code stream_open(Native *out_stream) = 0;
  virtual Code stream_close(Native stream) = 0;
  virtual Code stream_query(Native stream) = 0;
  virtual Code stream_synchronize(Native stream) = 0;
  virtual Code stream_wait(Native stream, Native event) = 0;
  // Reports whether the stream belongs to the context.
  virtual Code stream_belongs(Native stream, const Context &context, bool *out_belongs) = 0;
  virtual Code stream_capturing(Native stream, bool *out_capturing) = 0;
  virtual Code stream_call(Native stream, HostCall call, void *argument) = 0;

  virtual Code event_open(EventKind kind, Native *out_event) = 0;
  virtual Code event_close(Native event) = 0;
  virtual Code event_record(Native event, Native stream) = 0;
  virtual Code event_query(Native event) = 0;
  virtual Code event_synchronize(Native event) = 0;
  virtual Code event_elapsed(Native from, Native to, float *out_milliseconds) = 0;

  // Loads an image, which must be followed by a NUL byte.
  virtual Code module_load(const void *image, Native *out_module) = 0;
  virtual Code module_unload(Native module) = 0;
  virtual Code function_find(Native module, const char *name, Native *out_function) = 0;
  // Loads the function's code immediately, and allows launches whose static and dynamic shared
  // memory together have up to `shared_bytes` bytes.
  virtual Code function_prepare(Native function, uint32_t shared_bytes) = 0;
  virtual Code function_attributes(Native function, FunctionAttributes *out) = 0;
  virtual Code launch(Native function, const LaunchGrid &shape, const void *block,
                      uint32_t block_bytes, Native stream) = 0;

  virtual Code capture_begin(Native stream, CaptureMode mode) = 0;
  virtual Code capture_end(Native stream, Native *out_graph) = 0;
  // Exchanges the capture mode of this thread with `*inout_mode`.
  virtual Code capture_exchange(CaptureMode *inout_mode) = 0;
  virtual Code graph_instantiate(Native graph, Native *out_executable) = 0;
  virtual Code graph_update(Native executable, Native graph, bool *out_updated) = 0;
  virtual Code graph_launch(Native executable, Native stream) = 0;
  virtual Code graph_close(Native graph) = 0;
  virtual Code executable_close(Native executable) = 0;

 protected:
  ~Driver() = default;
};

// The parts of a plugin that depend on the vendor, in addition to its driver interface.
struct Vendor {
  const char *name;     // name of the backend, such as "cuda"
  const char *version;  // version of the plugin
  // Opens the driver's library and initialises it. *out_driver is set as soon as a driver exists.
  // Errors  GUF_E_NO_DRIVER <= no library, or a stub;  GUF_E_DRIVER_OLD <= a function is missing
  //         GUF_E_NO_DEVICE <= the driver reports no device, or fails; native_code is set
  guf_status (*open)(Driver **out_driver, int32_t *out_ndevices, guf_error *error);
  // Returns the score of an image for a device. A higher score is better; 0 means that the device
  // cannot run an image of this format and target.
  int32_t (*score)(const char *device_target, int32_t format, const char *image_target);
  const guf_module_v1 *(*builtins)();
  const guf_module_v1 *(*copy_kernels)();
  // The limit of the local memory of a launch's blocks on each multiprocessor.
  // 0 means no limit, because the driver allocates local memory for as many work-items as fit on
  // the device, independently of the launch.
  uint64_t multiprocessor_local_bytes;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_H

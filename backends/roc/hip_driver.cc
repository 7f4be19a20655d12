// SPDX-License-Identifier: Apache-2.0
// The interface to AMD's HIP runtime. HIP has no contexts; each thread has a current device, which
// is set and restored. HIP's functions are looked up by name, because the name contains the version
// if a function has several versions.
//
// Any error of hipInit means that there is no device, because without a device hipInit returns 100
// or 101, depending on the release.
#include "backends/roc/hip_driver.h"

#include <gufunc/module_table.h>
#include <gufunc/status.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/driver.h"
#include "backends/gpu/runtime/vendor_library.h"
#include "backends/roc/hip_api.h"
#include "backends/roc/hip_codes.h"
#include "backends/roc/roc_target.h"

// The tables of code objects that are linked into the ROC backend,
// with the names that gufcc generates.
// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" const guf_module_v1 gufunc_module_v1_std;        // standard library, AMD images only
extern "C" const guf_module_v1 gufunc_module_v1_copy_cast;  // contains no functions
// NOLINTEND(readability-identifier-naming)

namespace gufunc::roc {

using gpu::Code;
using gpu::Native;

namespace {

// Opens libamdhip64 of HIP 7, 6 or 5: the version that the process
// has loaded, or else the latest one.
// Errors  GUF_E_NO_DRIVER <= no version can be opened;
//         GUF_E_DRIVER_OLD <= a required function is missing
guf_status open_hip(Hip *out_hip, guf_error *error) {
  static constexpr const char *kSonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5"};
  gpu::VendorLibrary runtime;
  GUF_BACKEND_TRY(runtime.open(kSonames, std::size(kSonames), error));
  const char *absent = nullptr;
  const auto find = [&](const char *function, bool needed) {
    void *const address = runtime.symbol(function);
    if (needed && address == nullptr && absent == nullptr) absent = function;
    return address;
  };
  void *const last_error = runtime.symbol("hipGetLastError");
#define GUF_HIP_FIND(function, needed, parameters) \
  out_hip->function.set(find(#function, needed), last_error);
  GUF_HIP_FUNCTIONS(GUF_HIP_FIND)
#undef GUF_HIP_FIND
  if (absent == nullptr) return GUF_OK;
  return gpu::fail(error, GUF_E_DRIVER_OLD, "%s has no %s: expected ROCm 5.2 or later",
                   runtime.name(), absent);
}

bool has_pools(const Hip &hip) {
  return hip.hipMemPoolCreate != nullptr && hip.hipMemPoolDestroy != nullptr &&
         hip.hipMemPoolSetAttribute != nullptr && hip.hipMemPoolTrimTo != nullptr &&
         hip.hipMallocFromPoolAsync != nullptr && hip.hipFreeAsync != nullptr;
}

bool has_graphs(const Hip &hip) {
  return hip.hipStreamBeginCapture != nullptr && hip.hipStreamEndCapture != nullptr &&
         hip.hipStreamIsCapturing != nullptr && hip.hipGraphInstantiate != nullptr &&
         hip.hipGraphLaunch != nullptr && hip.hipGraphDestroy != nullptr &&
         hip.hipGraphExecDestroy != nullptr;
}

// The host memory that this library has registered with HIP. Since HIP 6.4, hipHostRegister accepts
// a range that overlaps a registered range. A single call of hipHostUnregister then ends both
// registrations. The ranges are disjoint. Any thread may call the functions of the class.
class RegisteredRanges {
 public:
  // Adds a range of `bytes` > 0 bytes. If the range overlaps another range, returns false and does
  // not change the set.
  bool add(uint64_t address, uint64_t bytes) {
    const uint64_t last = address + (bytes - 1);
    const std::lock_guard lock(mutex_);
    const auto next = last_of_.upper_bound(last);
    if (next != last_of_.begin() && std::prev(next)->second >= address) return false;
    last_of_.emplace(address, last);
    return true;
  }

  // Removes the range that begins at `address`, if there is one.
  void remove(uint64_t address) {
    const std::lock_guard lock(mutex_);
    last_of_.erase(address);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> last_of_;  // maps the first address of a range to its last address
};

void *pointer_of(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

class HipDriver final : public gpu::Driver {
 public:
  // ---- Devices

  explicit HipDriver(const Hip &hip) : hip_(hip) {}

  const gpu::ErrorInfo &error_info(Code code) const override { return hip_error_info(code); }

  void write_version(char *out_text, size_t size) const override {
    int version = 0;
    const HipError status = hip_.hipRuntimeGetVersion(&version);
    if (status == kHipSuccess && version > 0) {
      std::snprintf(out_text, size, "HIP %d.%d", version / 10000000, version / 100000 % 100);
    } else {
      std::snprintf(out_text, size, "HIP of an unknown version");
    }
  }

  Code device_properties(int32_t index, gpu::DeviceProperties *out) override {
    const HipError named = hip_.hipDeviceGetName(out->name, sizeof(out->name), index);
    if (named != kHipSuccess) return named;
    size_t bytes = 0;
    const HipError sized = hip_.hipDeviceTotalMem(&bytes, index);
    if (sized != kHipSuccess) return sized;
    const HipError aimed = write_target(index, out->target, sizeof(out->target));
    if (aimed != kHipSuccess) return aimed;
    out->memory_bytes = bytes;
    // Devices of the gfx9 generation have waves of 64 work-items.
    // For later generations, kernels are compiled for waves of 32.
    out->warp_size = std::strncmp(out->target, "gfx9", 4) == 0 ? 64 : 32;
    out->multiprocessors = attribute(kUnitsAttribute, index);
    out->max_shared_bytes = attribute(kSharedBytesAttribute, index);
    out->pools = has_pools(hip_) && attribute(kPoolsAttribute, index) != 0;
    out->managed = attribute(kManagedAttribute, index) != 0;
    return kHipSuccess;
  }

  // A native context cannot be adopted, because HIP has no contexts.
  Code context_open(int32_t index, uint64_t native, gpu::Context *out) override {
    *out = {nullptr, index, false, index};
    return native == 0 ? kHipSuccess : kHipNotSupported;
  }
  void context_close(const gpu::Context &) override {}

  Code enter(const gpu::Context &context, uint64_t *out_before) override {
    int current = 0;
    *out_before = 0;
    const HipError status = hip_.hipGetDevice(&current);
    if (status != kHipSuccess || current == context.index) return status;
    const HipError changed = hip_.hipSetDevice(context.index);
    if (changed == kHipSuccess) *out_before = static_cast<uint64_t>(current) + 1;
    return changed;
  }
  void leave(const gpu::Context &, uint64_t before) override {
    const int device = static_cast<int>(before) - 1;
    // Repeats the call once after a failure, because the thread's device must be restored.
    if (before != 0 && hip_.hipSetDevice(device) != kHipSuccess) hip_.hipSetDevice(device);
  }

  Code context_synchronize() override { return hip_.hipDeviceSynchronize(); }

  Code memory_info(uint64_t *out_free, uint64_t *out_total) override {
    size_t unused = 0, all = 0;
    const HipError status = hip_.hipMemGetInfo(&unused, &all);
    *out_free = unused;
    *out_total = all;
    return status;
  }

  Code peer_access(const gpu::Context &to, const gpu::Context &from, int32_t *out_can) override {
    return hip_.hipDeviceCanAccessPeer(out_can, to.index, from.index);
  }
  Code peer_enable(const gpu::Context &peer) override {
    return hip_.hipDeviceEnablePeerAccess(peer.index, 0);
  }

  // ---- Memory

  Code allocate(uint64_t bytes, uint64_t *out_address) override {
    return allocate_with(out_address, [&](void **memory) { return hip_.hipMalloc(memory, bytes); });
  }
  Code release(uint64_t address) override { return hip_.hipFree(pointer_of(address)); }

  Code pool_open(const gpu::Context &context, Native *out_pool) override {
    HipPoolProperties requested = {};
    requested.allocation_type = 1;
    requested.location_type = 1;
    requested.location_id = context.index;
    const HipError made = hip_.hipMemPoolCreate(out_pool, &requested);
    if (made != kHipSuccess) return made;
    uint64_t keep_all = UINT64_MAX;
    int never = 0;
    HipError set = hip_.hipMemPoolSetAttribute(*out_pool, kPoolThreshold, &keep_all);
    // Without kPoolInternalDependencies = 0, an allocation may make its stream wait for another
    // stream.
    if (set == kHipSuccess)
      set = hip_.hipMemPoolSetAttribute(*out_pool, kPoolInternalDependencies, &never);
    if (set != kHipSuccess) hip_.hipMemPoolDestroy(*out_pool);
    return set;
  }
  Code pool_share(Native pool, const gpu::Context &with) override {
    const HipPoolAccess access = {1, with.index, kPoolReadWrite};
    if (hip_.hipMemPoolSetAccess == nullptr) return kHipNotSupported;
    return hip_.hipMemPoolSetAccess(pool, &access, 1);
  }
  Code pool_close(Native pool) override { return hip_.hipMemPoolDestroy(pool); }
  Code pool_trim(Native pool, uint64_t keep_bytes) override {
    return hip_.hipMemPoolTrimTo(pool, keep_bytes);
  }
  Code pool_allocate(Native pool, uint64_t bytes, Native stream, uint64_t *out_address) override {
    return allocate_with(out_address, [&](void **memory) {
      return hip_.hipMallocFromPoolAsync(memory, bytes, pool, stream);
    });
  }
  Code pool_release(uint64_t address, Native stream) override {
    return hip_.hipFreeAsync(pointer_of(address), stream);
  }
  Code managed_allocate(uint64_t bytes, uint64_t *out_address) override {
    return allocate_with(out_address, [&](void **memory) {
      return hip_.hipMallocManaged(memory, bytes, kManagedForAll);
    });
  }

  // Allocates page-locked memory. Memory that is accessed only by copies is coarse-grained, which
  // is fastest. Memory that kernels access while the host uses it is fine-grained.
  Code host_allocate(uint64_t bytes, gpu::HostMemory kind, uint64_t *out_address) override {
    if (kind == gpu::HostMemory::kPinned) {
      return allocate_with(out_address, [&](void **memory) {
        return hip_.hipHostMalloc(memory, bytes, kPortableMemory | kCoarseGrained);
      });
    }
    void *host = nullptr, *seen = nullptr;
    const HipError made =
        hip_.hipHostMalloc(&host, bytes, kPortableMemory | kMappedMemory | kFineGrained);
    if (made != kHipSuccess) return made;
    HipError mapped = hip_.hipHostGetDevicePointer(&seen, host, 0);
    if (mapped == kHipSuccess && seen != host) mapped = kHipNotSupported;
    if (mapped != kHipSuccess) hip_.hipHostFree(host);
    *out_address = reinterpret_cast<uint64_t>(host);
    return mapped;
  }
  Code host_release(uint64_t address) override { return hip_.hipHostFree(pointer_of(address)); }
  // Since version 6.4, HIP accepts memory that is already registered. The first hipHostUnregister
  // then ends both registrations.
  Code host_register(uint64_t address, uint64_t bytes) override {
    if (is_page_locked(address) || is_page_locked(address + bytes - 1))
      return kHipAlreadyRegistered;
    if (!registered_.add(address, bytes)) return kHipAlreadyRegistered;
    const HipError made =
        hip_.hipHostRegister(pointer_of(address), bytes, kPortableMemory | kMappedMemory);
    if (made != kHipSuccess) registered_.remove(address);
    return made;
  }
  // The range is removed first, because another thread may register
  // the memory as soon as HIP has released it.
  Code host_unregister(uint64_t address) override {
    registered_.remove(address);
    return hip_.hipHostUnregister(pointer_of(address));
  }

  // For pageable memory, HIP 5 reports an error, and HIP 6 succeeds without a device pointer.
  bool is_page_locked(uint64_t address) override {
    HipPointer found = {};
    const HipError status = hip_.hipPointerGetAttributes(&found, pointer_of(address));
    return status == kHipSuccess && found.device_pointer != nullptr;
  }

  int32_t memory_device(uint64_t address) override {
    HipPointer found = {};
    const HipError status = hip_.hipPointerGetAttributes(&found, pointer_of(address));
    return status == kHipSuccess && found.device_pointer != nullptr ? found.device : -1;
  }

  Code copy(uint64_t dst, uint64_t src, uint64_t bytes, gpu::Direction direction,
            Native stream) override {
    const auto function = direction == gpu::Direction::kToDevice ? hip_.hipMemcpyHtoDAsync
                          : direction == gpu::Direction::kToHost ? hip_.hipMemcpyDtoHAsync
                                                                 : hip_.hipMemcpyDtoDAsync;
    return function(pointer_of(dst), pointer_of(src), bytes, stream);
  }
  Code copy_peer(uint64_t dst, const gpu::Context &to, uint64_t src, const gpu::Context &from,
                 uint64_t bytes, Native stream) override {
    return hip_.hipMemcpyPeerAsync(pointer_of(dst), to.index, pointer_of(src), from.index, bytes,
                                   stream);
  }
  Code set(uint64_t dst, uint32_t value, uint32_t width, uint64_t count, Native stream) override {
    void *const start = pointer_of(dst);
    switch (width) {
      case 1:
        return hip_.hipMemsetD8Async(start, static_cast<unsigned char>(value), count, stream);
      case 2:
        return hip_.hipMemsetD16Async(start, static_cast<unsigned short>(value), count, stream);
      default:
        return hip_.hipMemsetD32Async(start, static_cast<int>(value), count, stream);
    }
  }

  // ---- Streams and events

  Code stream_open(Native *out_stream) override {
    return hip_.hipStreamCreateWithPriority(out_stream, kNonBlockingStream, 0);
  }
  Code stream_close(Native stream) override { return hip_.hipStreamDestroy(stream); }
  Code stream_query(Native stream) override { return hip_.hipStreamQuery(stream); }
  Code stream_synchronize(Native stream) override { return hip_.hipStreamSynchronize(stream); }
  Code stream_wait(Native stream, Native event) override {
    return hip_.hipStreamWaitEvent(stream, event, 0);
  }

  // If the runtime cannot report the device of a stream, the stream is accepted.
  Code stream_belongs(Native stream, const gpu::Context &context, bool *out_belongs) override {
    int owner = context.index;
    const HipError status =
        hip_.hipStreamGetDevice == nullptr ? kHipSuccess : hip_.hipStreamGetDevice(stream, &owner);
    *out_belongs = owner == context.index;
    return status;
  }

  Code stream_capturing(Native stream, bool *out_capturing) override {
    int capture = 0;
    const HipError status = hip_.hipStreamIsCapturing == nullptr
                                ? kHipSuccess
                                : hip_.hipStreamIsCapturing(stream, &capture);
    *out_capturing = capture != 0;
    return status;
  }

  Code stream_call(Native stream, gpu::HostCall call, void *argument) override {
    if (hip_.hipLaunchHostFunc != nullptr) return hip_.hipLaunchHostFunc(stream, call, argument);
    auto *packet = gpu::create<Packet>(Packet{call, argument});
    if (packet == nullptr) return kHipOutOfMemory;
    const HipError queued = hip_.hipStreamAddCallback(stream, run_packet, packet, 0);
    if (queued != kHipSuccess) gpu::destroy(packet);
    return queued;
  }

  Code event_open(gpu::EventKind kind, Native *out_event) override {
    const unsigned flags = kind == gpu::EventKind::kTimed ? kTimedEvent : kUntimedEvent;
    return hip_.hipEventCreateWithFlags(out_event, flags);
  }
  Code event_close(Native event) override { return hip_.hipEventDestroy(event); }
  Code event_record(Native event, Native stream) override {
    return hip_.hipEventRecord(event, stream);
  }
  Code event_query(Native event) override { return hip_.hipEventQuery(event); }
  Code event_synchronize(Native event) override { return hip_.hipEventSynchronize(event); }
  Code event_elapsed(Native from, Native to, float *out_milliseconds) override {
    return hip_.hipEventElapsedTime(out_milliseconds, from, to);
  }

  // ---- Modules, launches, graphs

  Code module_load(const void *image, Native *out_module) override {
    return hip_.hipModuleLoadData(out_module, image);
  }
  Code module_unload(Native module) override { return hip_.hipModuleUnload(module); }
  Code function_find(Native module, const char *name, Native *out_function) override {
    return hip_.hipModuleGetFunction(out_function, module, name);
  }
  // HIP loads all code of a module immediately, and has one limit
  // of shared memory for all functions.
  Code function_prepare(Native, uint32_t) override { return kHipSuccess; }

  Code function_attributes(Native function, gpu::FunctionAttributes *out) override {
    *out = {};
    if (hip_.hipFuncGetAttribute == nullptr) return kHipSuccess;
    int values[4] = {};
    constexpr int kAttributes[] = {kFunctionMaxThreads, kFunctionRegisters, kFunctionSharedBytes,
                                   kFunctionLocalBytes};
    for (int i = 0; i < 4; ++i) {
      const HipError code = hip_.hipFuncGetAttribute(&values[i], kAttributes[i], function);
      if (code != kHipSuccess) return code;
    }
    *out = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
            static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3])};
    return kHipSuccess;
  }

  Code launch(Native function, const gpu::LaunchGrid &shape, const void *block,
              uint32_t block_bytes, Native stream) override {
    // HIP counts the work-items along each dimension of a grid in 32 bits.
    if (uint64_t{shape.blocks} * shape.threads > UINT32_MAX ||
        uint64_t{shape.blocks_y} * shape.threads_y > UINT32_MAX ||
        uint64_t{shape.blocks_z} * shape.threads_z > UINT32_MAX) {
      return kHipInvalidConfiguration;
    }
    constexpr uintptr_t kBuffer = 1, kSize = 2, kEnd = 3;
    size_t size = block_bytes;
    void *extra[] = {pointer_of(kBuffer), const_cast<void *>(block), pointer_of(kSize), &size,
                     pointer_of(kEnd)};
    return hip_.hipModuleLaunchKernel(function, shape.blocks, shape.blocks_y, shape.blocks_z,
                                      shape.threads, shape.threads_y, shape.threads_z,
                                      shape.shared_bytes, stream, nullptr, extra);
  }

  Code capture_begin(Native stream, gpu::CaptureMode mode) override {
    if (!has_graphs(hip_)) return kHipNotSupported;
    return hip_.hipStreamBeginCapture(stream, mode);
  }
  Code capture_end(Native stream, Native *out_graph) override {
    if (!has_graphs(hip_)) return kHipNotSupported;
    return hip_.hipStreamEndCapture(stream, out_graph);
  }
  Code capture_exchange(gpu::CaptureMode *inout_mode) override {
    if (hip_.hipThreadExchangeStreamCaptureMode == nullptr) return kHipNotSupported;
    int mode = *inout_mode;
    const HipError exchanged = hip_.hipThreadExchangeStreamCaptureMode(&mode);
    *inout_mode = static_cast<gpu::CaptureMode>(mode);
    return exchanged;
  }

  // If has_graphs() is false, no graph can be created, so the functions below need not check it.
  Code graph_instantiate(Native graph, Native *out_executable) override {
    return hip_.hipGraphInstantiate(out_executable, graph, nullptr, nullptr, 0);
  }
  Code graph_update(Native executable, Native graph, bool *out_updated) override {
    *out_updated = false;
    if (hip_.hipGraphExecUpdate == nullptr) return kHipSuccess;
    HipHandle node = nullptr;
    int result = 0;
    const HipError status = hip_.hipGraphExecUpdate(executable, graph, &node, &result);
    *out_updated = status == kHipSuccess;
    return status == kHipGraphUpdateFailure ? kHipSuccess : status;
  }
  Code graph_launch(Native executable, Native stream) override {
    return hip_.hipGraphLaunch(executable, stream);
  }
  Code graph_close(Native graph) override { return hip_.hipGraphDestroy(graph); }
  Code executable_close(Native executable) override { return hip_.hipGraphExecDestroy(executable); }

 private:
  // Returns the value of a device attribute, or 0 if the runtime does not support the attribute.
  uint32_t attribute(int attribute, int device) const {
    int value = 0;
    const HipError status = hip_.hipDeviceGetAttribute(&value, attribute, device);
    return status == kHipSuccess && value > 0 ? static_cast<uint32_t>(value) : 0;
  }

  // Reads the properties with the function of HIP 6 if it exists, otherwise in the layout of HIP 5.
  HipError write_target(int device, char *out_text, size_t size) const {
    const auto properties = hip_.hipGetDevicePropertiesR0600 != nullptr
                                ? hip_.hipGetDevicePropertiesR0600
                                : hip_.hipGetDeviceProperties;
    if (properties == nullptr) return kHipNotSupported;
    PropertyBytes found = {};
    const HipError status = properties(&found, device);
    const size_t offset =
        hip_.hipGetDevicePropertiesR0600 != nullptr ? kTargetInProperties6 : kTargetInProperties5;
    std::snprintf(out_text, size, "%.63s", found.bytes + offset);
    return status;
  }

  template <class Function>
  static Code allocate_with(uint64_t *out_address, Function function) {
    void *memory = nullptr;
    const HipError made = function(&memory);
    *out_address = reinterpret_cast<uint64_t>(memory);
    return made;
  }

  struct Packet {
    gpu::HostCall call;
    void *argument;
  };
  // HIP also calls this function after failed work. The argument of the call is still valid then.
  static void run_packet(HipHandle, HipError, void *argument) {
    auto *const packet = static_cast<Packet *>(argument);
    packet->call(packet->argument);
    gpu::destroy(packet);
  }

  const Hip hip_;
  RegisteredRanges registered_;
};

alignas(HipDriver) unsigned char driver_bytes[sizeof(HipDriver)];
int loaded_version = 0;  // written once, when the runtime is opened

guf_status open_runtime(gpu::Driver **out_driver, int32_t *out_ndevices, guf_error *error) {
  Hip hip;
  GUF_BACKEND_TRY(open_hip(&hip, error));
  *out_driver = new (driver_bytes) HipDriver(hip);
  *out_ndevices = 0;
  int found = 0;
  const char *function = "hipInit";
  HipError answer = hip.hipInit(0);
  if (answer == kHipSuccess) {
    function = "hipGetDeviceCount";
    answer = hip.hipGetDeviceCount(&found);
  }
  if (answer != kHipSuccess) {
    return gpu::fail_native(error, GUF_E_NO_DEVICE, answer,
                            "backend roc found no device: %s failed with %s (%d)", function,
                            hip_error_info(answer).name, answer);
  }
  if (found == 0) {
    return gpu::fail(error, GUF_E_NO_DEVICE,
                     "backend roc found no device: the runtime reports 0 devices");
  }
  hip.hipRuntimeGetVersion(&loaded_version);
  *out_ndevices = found;
  return GUF_OK;
}

int32_t score(const char *device_target, int32_t format, const char *image_target) {
  return score_code_object(device_target, format, image_target, loaded_version);
}

#if defined(GUFUNC_PLUGIN_KERNELS)
constexpr const guf_module_v1 *kStandard = &gufunc_module_v1_std;
constexpr const guf_module_v1 *kCopyKernels = &gufunc_module_v1_copy_cast;
#else  // built without AMD's device libraries
constexpr const guf_module_v1 *kStandard = nullptr;
constexpr const guf_module_v1 *kCopyKernels = nullptr;
#endif

// The runtime keeps about 140 MB of local memory for each XCC (HSA_SCRATCH_SINGLE_LIMIT). An XCC is
// a group of compute units; on gfx942 it has 38. If a launch needs more local memory, the runtime
// allocates and frees memory for each launch.
constexpr uint64_t kMultiprocessorLocalBytes = 3 << 20;

constexpr gpu::Vendor kRoc = {.name = "roc",
                              .version = GUFUNC_PLUGIN_VERSION,
                              .open = open_runtime,
                              .score = score,
                              .builtins = [] { return kStandard; },
                              .copy_kernels = [] { return kCopyKernels; },
                              .multiprocessor_local_bytes = kMultiprocessorLocalBytes};

}  // namespace

const gpu::Vendor &roc_vendor() {
  return kRoc;
}

}  // namespace gufunc::roc

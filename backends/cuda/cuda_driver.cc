// SPDX-License-Identifier: Apache-2.0
// The interface to NVIDIA's driver.
//
// Functions are requested from the driver in the version that their declarations use. If the driver
// does not support such requests or lacks the function, the symbol itself is looked up.
//
// Any error of cuInit except "stub" means that the machine has no usable device, because drivers
// return different codes without a device; Debian's driver returns 100.
#include "backends/cuda/cuda_driver.h"

#include <gufunc/module_table.h>
#include <gufunc/status.h>

#include <cstdio>
#include <new>

#include "backends/cuda/cuda_api.h"
#include "backends/cuda/cuda_codes.h"
#include "backends/cuda/cuda_target.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/driver.h"
#include "backends/gpu/runtime/vendor_library.h"

// The kernel tables that are linked into the CUDA backend, with the names that gufcc generates.
// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" {
extern const guf_module_v1 gufunc_module_v1_std;        // contains only images, no functions
extern const guf_module_v1 gufunc_module_v1_copy_cast;  // contains no functions
}
// NOLINTEND(readability-identifier-naming)

namespace gufunc::cuda {

using gpu::Code;
using gpu::Native;

namespace {

// The type of cuGetProcAddress_v2.
using GetProcedure = Result (*)(const char *name, void **out, int version, uint64_t flags,
                                int *out_found);

class Finder {
 public:
  explicit Finder(const gpu::VendorLibrary &library)
      : library_(library),
        procedure_(reinterpret_cast<GetProcedure>(library.symbol("cuGetProcAddress_v2"))) {}

  void *find(const char *name, int version, const char *symbol) const {
    void *address = nullptr;
    int found = 0;
    if (procedure_ != nullptr && procedure_(name, &address, version, 0, &found) == kSuccess &&
        address != nullptr) {
      return address;
    }
    return library_.symbol(symbol);
  }

 private:
  const gpu::VendorLibrary &library_;
  const GetProcedure procedure_;
};

// Opens libcuda.so.1 and looks up its functions.
// Errors  GUF_E_NO_DRIVER <= there is no such library
//         GUF_E_DRIVER_OLD <= the library lacks a required function
guf_status open_library(Api *out_api, guf_error *error) {
  static constexpr const char *kNames[] = {"libcuda.so.1"};
  gpu::VendorLibrary library;
  GUF_BACKEND_TRY(library.open(kNames, 1, error));
  const Finder finder(library);
  const char *missing = nullptr;
#define GUF_CUDA_FIND(member, name, version, suffix, needed, parameters)                 \
  out_api->member =                                                                      \
      reinterpret_cast<Result(*) parameters>(finder.find(#name, version, #name suffix)); \
  if (needed && out_api->member == nullptr && missing == nullptr) {                      \
    missing = #name suffix;                                                              \
  }
  GUF_CUDA_FUNCTIONS(GUF_CUDA_FIND)
#undef GUF_CUDA_FIND
  if (missing == nullptr) return GUF_OK;
  return gpu::fail(error, GUF_E_DRIVER_OLD,
                   "libcuda.so.1 has no %s: expected a driver of CUDA 11.0 or later", missing);
}

// Returns whether the driver has all functions that memory pools require.
bool has_pools(const Api &api) {
  return api.pool_create != nullptr && api.pool_destroy != nullptr && api.pool_set != nullptr &&
         api.pool_trim != nullptr && api.allocate_from_pool != nullptr && api.free_async != nullptr;
}

// Returns whether the driver has all functions that libraries require.
// Libraries are images that belong to no context.
bool has_libraries(const Api &api) {
  return api.library_load != nullptr && api.library_unload != nullptr &&
         api.library_module != nullptr && api.library_kernel != nullptr &&
         api.kernel_function != nullptr;
}

class CudaDriver final : public gpu::Driver {
 public:
  // ---- Devices and contexts

  explicit CudaDriver(const Api &api) : api_(api) {}

  const gpu::ErrorInfo &error_info(Code code) const override { return cuda::error_info(code); }

  void write_version(char *out_text, size_t size) const override {
    int version = 0;
    if (api_.driver_version(&version) != kSuccess || version <= 0) {
      std::snprintf(out_text, size, "CUDA of an unknown version");
      return;
    }
    std::snprintf(out_text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
  }

  Code device_properties(int32_t index, gpu::DeviceProperties *out) override {
    DeviceNumber device = 0;
    if (const Result code = api_.device_get(&device, index); code != kSuccess) return code;
    size_t bytes = 0;
    if (const Result code = api_.device_memory(&bytes, device); code != kSuccess) return code;
    const Result named = api_.device_name(out->name, sizeof(out->name), device);
    if (named != kSuccess) return named;
    out->memory_bytes = bytes;
    int major = 0, minor = 0;
    Result code = api_.device_attribute(&major, kAttributeMajor, device);
    if (code == kSuccess) code = api_.device_attribute(&minor, kAttributeMinor, device);
    if (code != kSuccess) return code;
    std::snprintf(out->target, sizeof(out->target), "sm_%d%d", major, minor);
    out->warp_size = 32;
    out->multiprocessors = static_cast<uint32_t>(attribute(kAttributeMultiprocessors, device));
    const int opt_in = attribute(kAttributeSharedBytesOptIn, device);
    out->max_shared_bytes =
        static_cast<uint32_t>(opt_in > 0 ? opt_in : attribute(kAttributeSharedBytes, device));
    out->pools = has_pools(api_) && attribute(kAttributePools, device) != 0;
    out->managed = attribute(kAttributeManaged, device) != 0;
    return kSuccess;
  }

  Code context_open(int32_t index, uint64_t native, gpu::Context *out) override {
    DeviceNumber device = 0;
    if (const Result code = api_.device_get(&device, index); code != kSuccess) return code;
    *out = {reinterpret_cast<Handle>(native), index, native != 0, device};
    if (native == 0) return api_.context_retain(&out->native, device);
    // An adopted context must belong to this device.
    // Making the context current is the only way to query the device of the context.
    DeviceNumber found = -1;
    Handle popped = nullptr;
    if (const Result code = api_.context_push(out->native); code != kSuccess) return code;
    const Result code = api_.context_device(&found);
    api_.context_pop(&popped);
    if (code != kSuccess) return code;
    return found == device ? kSuccess : kInvalidContext;
  }

  void context_close(const gpu::Context &context) override {
    if (!context.adopted) api_.context_release(context.number);
  }

  Code enter(const gpu::Context &context, uint64_t *out_before) override {
    Handle current = nullptr;
    *out_before = 0;
    if (const Result code = api_.context_current(&current); code != kSuccess) return code;
    if (current == context.native) return kSuccess;
    const Result code = api_.context_push(context.native);
    if (code == kSuccess) *out_before = 1;
    return code;
  }

  void leave(const gpu::Context &, uint64_t pushed) override {
    Handle popped = nullptr;
    if (pushed != 0) api_.context_pop(&popped);
  }

  Code context_synchronize() override { return api_.context_synchronize(); }

  Code memory_info(uint64_t *out_free, uint64_t *out_total) override {
    size_t free_bytes = 0, total_bytes = 0;
    const Result code = api_.memory_info(&free_bytes, &total_bytes);
    *out_free = free_bytes;
    *out_total = total_bytes;
    return code;
  }

  Code peer_access(const gpu::Context &to, const gpu::Context &from, int32_t *out_can) override {
    return api_.can_access_peer(out_can, to.number, from.number);
  }

  Code peer_enable(const gpu::Context &peer) override { return api_.enable_peer(peer.native, 0); }

  // ---- Memory

  Code allocate(uint64_t bytes, uint64_t *out_address) override {
    DeviceAddress address = 0;
    const Result code = api_.allocate(&address, bytes);
    *out_address = address;
    return code;
  }

  Code release(uint64_t address) override { return api_.free(address); }

  // Creates a pool that keeps freed memory until it is trimmed.
  // No allocation from the pool makes its stream wait for another stream.
  Code pool_open(const gpu::Context &context, Native *out_pool) override {
    PoolProperties properties = {};
    properties.allocation_type = 1;
    properties.location = {1, context.number};
    if (const Result code = api_.pool_create(out_pool, &properties); code != kSuccess) return code;
    uint64_t threshold = UINT64_MAX;
    int off = 0;
    Result code = api_.pool_set(*out_pool, kPoolReleaseThreshold, &threshold);
    if (code == kSuccess) code = api_.pool_set(*out_pool, kPoolInternalDependencies, &off);
    if (code != kSuccess) api_.pool_destroy(*out_pool);
    return code;
  }

  Code pool_share(Native pool, const gpu::Context &with) override {
    const PoolAccess access = {{1, with.number}, kPoolReadWrite};
    return api_.pool_access == nullptr ? kNotSupported : api_.pool_access(pool, &access, 1);
  }
  Code pool_close(Native pool) override { return api_.pool_destroy(pool); }
  Code pool_trim(Native pool, uint64_t keep) override { return api_.pool_trim(pool, keep); }

  Code pool_allocate(Native pool, uint64_t bytes, Native stream, uint64_t *out_address) override {
    DeviceAddress address = 0;
    const Result code = api_.allocate_from_pool(&address, bytes, pool, stream);
    *out_address = address;
    return code;
  }

  Code pool_release(uint64_t address, Native stream) override {
    return api_.free_async(address, stream);
  }

  Code managed_allocate(uint64_t bytes, uint64_t *out_address) override {
    DeviceAddress address = 0;
    const Result code = api_.managed_allocate(&address, bytes, kManagedGlobal);
    *out_address = address;
    return code;
  }

  // Allocates page-locked memory. The interface requires that the host and the device use
  // the same address for mapped memory.
  Code host_allocate(uint64_t bytes, gpu::HostMemory kind, uint64_t *out_address) override {
    void *memory = nullptr;
    const bool mapped = kind == gpu::HostMemory::kMapped;
    const unsigned flags = kHostPortable | (mapped ? kHostDeviceMap : 0u);
    if (const Result code = api_.host_allocate(&memory, bytes, flags); code != kSuccess)
      return code;
    DeviceAddress seen = reinterpret_cast<uint64_t>(memory);
    Result code = mapped ? api_.host_address(&seen, memory, 0) : kSuccess;
    if (code == kSuccess && seen != reinterpret_cast<uint64_t>(memory)) code = kNotSupported;
    if (code != kSuccess) api_.host_free(memory);
    *out_address = seen;
    return code;
  }

  Code host_release(uint64_t address) override {
    return api_.host_free(reinterpret_cast<void *>(address));
  }

  Code host_register(uint64_t address, uint64_t bytes) override {
    return api_.host_register(reinterpret_cast<void *>(address), bytes,
                              kHostPortable | kHostDeviceMap);
  }

  Code host_unregister(uint64_t address) override {
    return api_.host_unregister(reinterpret_cast<void *>(address));
  }

  bool is_page_locked(uint64_t address) override {
    int type = 0;
    return api_.pointer_attribute(&type, kPointerMemoryType, address) == kSuccess && type != 0;
  }

  int32_t memory_device(uint64_t address) override {
    int index = 0;
    return api_.pointer_attribute(&index, kPointerOrdinal, address) == kSuccess ? index : -1;
  }

  Code copy(uint64_t dst, uint64_t src, uint64_t bytes, gpu::Direction direction,
            Native stream) override {
    switch (direction) {
      case gpu::Direction::kToDevice:
        return api_.copy_in(dst, reinterpret_cast<const void *>(src), bytes, stream);
      case gpu::Direction::kToHost:
        return api_.copy_out(reinterpret_cast<void *>(dst), src, bytes, stream);
      case gpu::Direction::kWithin:
        break;
    }
    return api_.copy_within(dst, src, bytes, stream);
  }

  Code copy_peer(uint64_t dst, const gpu::Context &to, uint64_t src, const gpu::Context &from,
                 uint64_t bytes, Native stream) override {
    return api_.copy_peer(dst, to.native, src, from.native, bytes, stream);
  }

  Code set(uint64_t dst, uint32_t value, uint32_t width, uint64_t count, Native stream) override {
    if (width == 1) return api_.set8(dst, static_cast<unsigned char>(value), count, stream);
    if (width == 2) return api_.set16(dst, static_cast<unsigned short>(value), count, stream);
    return api_.set32(dst, value, count, stream);
  }

  // ---- Streams and events

  // The new stream is not ordered with the legacy default stream, which other libraries use.
  Code stream_open(Native *out_stream) override {
    return api_.stream_create(out_stream, kStreamNonBlocking, 0);
  }
  Code stream_close(Native stream) override { return api_.stream_destroy(stream); }
  Code stream_query(Native stream) override { return api_.stream_query(stream); }
  Code stream_synchronize(Native stream) override { return api_.stream_synchronize(stream); }
  Code stream_wait(Native stream, Native event) override {
    return api_.stream_wait(stream, event, 0);
  }

  Code stream_belongs(Native stream, const gpu::Context &context, bool *out_belongs) override {
    Handle owner = nullptr;
    const Result code = api_.stream_context(stream, &owner);
    *out_belongs = owner == context.native;
    return code;
  }

  Code stream_capturing(Native stream, bool *out_capturing) override {
    int state = 0;
    const Result code = api_.stream_capturing(stream, &state);
    *out_capturing = state != 0;
    return code;
  }

  Code stream_call(Native stream, gpu::HostCall call, void *argument) override {
    return api_.launch_host(stream, call, argument);
  }

  Code event_open(gpu::EventKind kind, Native *out_event) override {
    const bool timed = kind == gpu::EventKind::kTimed;
    return api_.event_create(out_event, timed ? kEventDefault : kEventDisableTiming);
  }
  Code event_close(Native event) override { return api_.event_destroy(event); }
  Code event_record(Native event, Native stream) override {
    return api_.event_record(event, stream);
  }
  Code event_query(Native event) override { return api_.event_query(event); }
  Code event_synchronize(Native event) override { return api_.event_synchronize(event); }
  Code event_elapsed(Native from, Native to, float *out_milliseconds) override {
    return api_.event_elapsed(out_milliseconds, from, to);
  }

  // ---- Modules, launches, graphs

  // Drivers of CUDA 12 and later load an image as a library, which belongs to no context.
  // The handles of libraries stay valid if the owner of an adopted context destroys the context.
  // Such a driver may process an image only when the image is used. Requesting the module of the
  // current context makes the driver check immediately whether it can run the image, while another
  // image can still be chosen.
  Code module_load(const void *image, Native *out_module) override {
    if (!has_libraries(api_)) return api_.module_load(out_module, image);
    Native library = nullptr, module = nullptr;
    Code code = api_.library_load(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (code != kSuccess) return code;
    code = api_.library_module(&module, library);
    if (code != kSuccess) {
      api_.library_unload(library);
      return code;
    }
    *out_module = library;
    return kSuccess;
  }
  Code module_unload(Native module) override {
    return has_libraries(api_) ? api_.library_unload(module) : api_.module_unload(module);
  }
  Code function_find(Native module, const char *name, Native *out_function) override {
    if (!has_libraries(api_)) return api_.module_function(out_function, module, name);
    Native kernel = nullptr;
    const Code code = api_.library_kernel(&kernel, module, name);
    return code != kSuccess ? code : api_.kernel_function(out_function, kernel);
  }

  // Drivers load code lazily, so this function forces the load.
  // If the driver lacks cuFuncLoad, a query of an attribute forces the load.
  Code function_prepare(Native function, uint32_t shared_bytes) override {
    int value = 0;
    const Result loaded = api_.function_load != nullptr
                              ? api_.function_load(function)
                              : api_.function_get(&value, kFunctionRegisters, function);
    if (loaded != kSuccess) return loaded;
    const Result code = api_.function_get(&value, kFunctionSharedBytes, function);
    if (code != kSuccess) return code;
    // Shared memory above this size must be enabled before a launch.
    // `shared_bytes` includes the static shared memory of the function.
    constexpr int kUnannounced = 48 * 1024;
    const int most = static_cast<int>(shared_bytes) - value;
    if (most <= kUnannounced) return kSuccess;
    return api_.function_set(function, kFunctionDynamicSharedBytes, most);
  }

  Code function_attributes(Native function, gpu::FunctionAttributes *out) override {
    int values[4] = {};
    constexpr int kAttributes[] = {kFunctionMaxThreads, kFunctionRegisters, kFunctionSharedBytes,
                                   kFunctionLocalBytes};
    *out = {};
    for (int i = 0; i < 4; ++i) {
      const Result code = api_.function_get(&values[i], kAttributes[i], function);
      if (code != kSuccess) return code;
    }
    *out = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]),
            static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3])};
    return kSuccess;
  }

  Code launch(Native function, const gpu::LaunchGrid &shape, const void *block,
              uint32_t block_bytes, Native stream) override {
    size_t size = block_bytes;
    void *arguments[] = {reinterpret_cast<void *>(uintptr_t{kLaunchBuffer}),
                         const_cast<void *>(block),
                         reinterpret_cast<void *>(uintptr_t{kLaunchBufferSize}), &size, nullptr};
    return api_.launch(function, shape.blocks, shape.blocks_y, shape.blocks_z, shape.threads,
                       shape.threads_y, shape.threads_z, shape.shared_bytes, stream, nullptr,
                       arguments);
  }

  Code capture_begin(Native stream, gpu::CaptureMode mode) override {
    if (api_.graph_instantiate == nullptr) return kNotSupported;
    return api_.capture_begin(stream, mode);
  }
  Code capture_end(Native stream, Native *out_graph) override {
    return api_.capture_end(stream, out_graph);
  }
  Code capture_exchange(gpu::CaptureMode *inout_mode) override {
    int mode = *inout_mode;
    const Result code = api_.capture_exchange(&mode);
    *inout_mode = static_cast<gpu::CaptureMode>(mode);
    return code;
  }

  Code graph_instantiate(Native graph, Native *out_executable) override {
    if (api_.graph_instantiate == nullptr) return kNotSupported;
    return api_.graph_instantiate(out_executable, graph, 0);
  }
  // A driver without cuGraphExecUpdate cannot update graphs. The caller then instantiates a new
  // graph.
  Code graph_update(Native executable, Native graph, bool *out_updated) override {
    *out_updated = false;
    if (api_.graph_update == nullptr) return kSuccess;
    GraphUpdateResult result = {};
    const Result code = api_.graph_update(executable, graph, &result);
    *out_updated = code == kSuccess;
    return code == kGraphUpdateFailure ? kSuccess : code;
  }
  Code graph_launch(Native executable, Native stream) override {
    return api_.graph_launch(executable, stream);
  }
  Code graph_close(Native graph) override { return api_.graph_destroy(graph); }
  Code executable_close(Native executable) override { return api_.executable_destroy(executable); }

 private:
  // Returns the value of a device attribute, or 0 if the driver does not support the attribute.
  int attribute(int number, DeviceNumber device) const {
    int value = 0;
    return api_.device_attribute(&value, number, device) == kSuccess ? value : 0;
  }

  const Api api_;
};

alignas(CudaDriver) unsigned char driver_buffer[sizeof(CudaDriver)];

guf_status fail_without(const char *function, Result code, guf_error *error) {
  return gpu::fail_native(error, GUF_E_NO_DEVICE, code,
                          "backend cuda found no device: %s failed with %s (%d)", function,
                          error_info(code).name, code);
}

guf_status open_driver(gpu::Driver **out_driver, int32_t *out_ndevices, guf_error *error) {
  Api api;
  GUF_BACKEND_TRY(open_library(&api, error));
  *out_driver = new (driver_buffer) CudaDriver(api);
  *out_ndevices = 0;
  const Result begun = api.init(0);
  if (error_info(begun).kind == gpu::ErrorKind::kStub) {
    return gpu::fail_native(error, GUF_E_NO_DRIVER, begun,
                            "libcuda.so.1 is the toolkit's stub, not the driver: install the "
                            "driver, or take the stub's folder off the library path");
  }
  if (begun != kSuccess) return fail_without("cuInit", begun, error);
  int count = 0;
  const Result counted = api.device_count(&count);
  if (counted != kSuccess) return fail_without("cuDeviceGetCount", counted, error);
  if (count == 0) {
    return gpu::fail(error, GUF_E_NO_DEVICE,
                     "backend cuda found no device: the driver reports 0 devices");
  }
  *out_ndevices = count;
  return GUF_OK;
}

// If the plugin was built without a CUDA toolkit, it has no kernels of the standard library.
// Modules contain their own kernels.
#if defined(GUFUNC_PLUGIN_KERNELS)
const guf_module_v1 *standard_kernels() {
  return &gufunc_module_v1_std;
}
const guf_module_v1 *copy_cast_kernels() {
  return &gufunc_module_v1_copy_cast;
}
#else
const guf_module_v1 *standard_kernels() {
  return nullptr;
}
const guf_module_v1 *copy_cast_kernels() {
  return nullptr;
}
#endif

constexpr gpu::Vendor kVendor = {.name = "cuda",
                                 .version = GUFUNC_PLUGIN_VERSION,
                                 .open = open_driver,
                                 .score = score_target,
                                 .builtins = standard_kernels,
                                 .copy_kernels = copy_cast_kernels,
                                 .multiprocessor_local_bytes = 0};

}  // namespace

const gpu::Vendor &vendor() {
  return kVendor;
}

}  // namespace gufunc::cuda

// SPDX-License-Identifier: Apache-2.0
// The function table of a GPU plugin. The slot `probe` opens the driver once. Open devices are in a
// table, which is used by functions that affect all devices, such as shutdown.
#include "backends/gpu/runtime/gpu_plugin.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/polling_deadline.h"

namespace gufunc::gpu {
namespace {

guf_backend_api make_table(const Vendor &vendor) {
  guf_backend_api api = {};
  api.name = vendor.name;
  api.version = vendor.version;
  api.features = GUF_BACKEND_FP_FLAGS | GUF_BACKEND_METHOD_FP_FLAGS;
#define GUF_REQUIRED_SLOT(slot) api.slot = slot;
#define GUF_OPTIONAL_SLOT(slot) api.slot = slot;
#include <gufunc/backend_slots.def>
  return api;
}

constinit std::atomic<const Vendor *> the_vendor{nullptr};
constinit std::mutex opening;  // protects `the_driver` and `ndevices`
constinit Driver *the_driver = nullptr;
constinit int32_t ndevices = -1;  // -1: not probed
constinit std::atomic<Device *> open_devices[kMaxDevices] = {};

const Vendor &vendor() {
  return *the_vendor.load(std::memory_order_acquire);
}

void write_driver(char *out_text, size_t size) {
  if (size != 0) the_driver->write_version(out_text, size);
}

void write_info(const Device &device, guf_backend_device_info *out_info) {
  guf_backend_device_info info = {};
  const DeviceProperties &properties = device.properties();
  info.struct_size = out_info->struct_size;
  info.units = properties.multiprocessors;
  info.memory_bytes = properties.memory_bytes;
  std::snprintf(info.name, sizeof(info.name), "%s", properties.name);
  std::snprintf(info.target, sizeof(info.target), "%s", properties.target);
  device.driver().write_version(info.driver, sizeof(info.driver));
  std::memcpy(out_info, &info, std::min<size_t>(out_info->struct_size, sizeof(info)));
}

guf_status refuse_open(Code code, const char *what, int32_t index, guf_error *error) {
  const ErrorInfo &info = the_driver->error_info(code);
  return fail_native(error, failure_of(info), code, "%s %d failed: %s (%d)", what, index, info.name,
                     code);
}

// Replaces GUF_E_DEVICE_LOST by GUF_E_HANDLE if the caller's context was destroyed, because then
// the handle is wrong, but the plugin's own device is not lost.
guf_status as_handle(guf_status status, guf_error *error) {
  const bool is_gone = status == GUF_E_DEVICE_LOST &&
                       the_driver->error_info(error->native_code).kind == ErrorKind::kGone;
  if (!is_gone) return status;
  error->status = GUF_E_HANDLE;
  return GUF_E_HANDLE;
}

// Closes a device and its context.
void end_device(Device *device) {
  Driver &driver = device->driver();
  const Context context = device->context();
  {
    ScopedContext scope(*device);
    scope.begin_closing();
    device->close();
  }
  driver.context_close(context);
  destroy(device);
}

guf_status check_index(int32_t index, guf_error *error) {
  if (ndevices < 0) return fail(error, GUF_E_NO_DRIVER, "the driver was not opened");
  const int32_t count = std::min(ndevices, kMaxDevices);
  if (index >= 0 && index < count) return GUF_OK;
  return fail(error, GUF_E_NO_DEVICE, "device index: expected 0..%d, got %d", count - 1, index);
}

// Reports an error for a device that cannot run even the plugin's own kernels.
// If the plugin was built without kernels, reports no error; loading a module then fails instead.
guf_status check_target(const DeviceProperties &properties, int32_t index, guf_error *error) {
  const guf_module_v1 *const table = vendor().copy_kernels();
  if (table == nullptr) return GUF_OK;
  char targets[320] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < table->nimages; ++i) {
    const guf_module_image &image = table->images[i];
    if (image.format == GUF_IMAGE_HOST || image.target == nullptr) continue;
    if (vendor().score(properties.target, image.format, image.target) > 0) return GUF_OK;
    if (length + 1 >= sizeof(targets)) continue;
    const int added = std::snprintf(targets + length, sizeof(targets) - length, "%s%.40s",
                                    length == 0 ? "" : ", ", image.target);
    length += static_cast<size_t>(std::max(added, 0));
  }
  return fail(error, GUF_E_NO_IMAGE,
              "device %s:%d, %.60s, has the target %.60s, but the plugin has code for %s only",
              vendor().name, index, properties.name, properties.target, targets);
}

guf_status make_device(int32_t index, uint64_t native, Device **out_device, guf_error *error) {
  DeviceProperties properties = {};
  Code code = the_driver->device_properties(index, &properties);
  if (code != kDone) return refuse_open(code, "querying device", index, error);
  GUF_BACKEND_TRY(check_target(properties, index, error));
  Context context = {};
  code = the_driver->context_open(index, native, &context);
  if (code != kDone) {
    const char *const what = native == 0 ? "opening device" : "adopting the context for device";
    return refuse_open(code, what, index, error);
  }
  auto *device = create<Device>(*the_driver, vendor(), properties, context);
  if (device == nullptr) {
    the_driver->context_close(context);
    return fail_memory(error, "a device");
  }
  guf_status status = GUF_OK;
  {
    ScopedContext scope(*device);
    status = scope.begin(error);
    if (status == GUF_OK) status = device->start(error);
  }
  if (status != GUF_OK) {
    end_device(device);
    return status;
  }
  *out_device = device;
  return GUF_OK;
}

// Returns cached memory to the driver. Errors are logged, because no caller could act on them.
void free_caches(Device &device) {
  guf_error failure = {};
  failure.struct_size = sizeof(failure);
  const auto log = [&] {
    host_log(LogLevel::kWarning, "%s:%d: at shutdown: %s", vendor().name, device.context().index,
             failure.message);
  };
  ScopedContext scope(device);
  if (scope.begin(&failure) != GUF_OK) return log();
  device.collect_streams();
  for (const Backing backing :
       {Backing::kDevice, Backing::kPinned, Backing::kMapped, Backing::kManaged}) {
    if (device.pool(backing).trim(0, &failure) != GUF_OK) log();
    if (device.lost()) return;
  }
}

}  // namespace

guf_status open_plugin(const Vendor &vendor, const guf_host_api *host, uint32_t host_minor,
                       guf_backend_api *api) {
  set_host(host);
  set_vendor(vendor);
  copy_table(make_table(vendor), host_minor, api);
  return GUF_OK;
}

void set_vendor(const Vendor &vendor) {
  the_vendor.store(&vendor, std::memory_order_release);
}

Device *open_device(int32_t number) {
  return open_devices[number].load(std::memory_order_acquire);
}

const guf_module_v1 *builtins() {
  return vendor().builtins();
}

guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *error) {
  const std::lock_guard lock(opening);
  if (ndevices < 0) {
    Driver *driver = nullptr;
    int32_t count = 0;
    const guf_status opened = vendor().open(&driver, &count, error);
    the_driver = driver;
    if (driver != nullptr) write_driver(out_driver, driver_size);
    GUF_BACKEND_TRY(opened);
    note_driver_process();
    ndevices = count;
  }
  *out_ndevices = ndevices;
  write_driver(out_driver, driver_size);
  return GUF_OK;
}

guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error) {
  if (forked()) return fail_forked(error);
  const std::lock_guard lock(opening);
  GUF_BACKEND_TRY(check_index(index, error));
  Device *device = nullptr;
  const guf_status made = make_device(index, native, &device, error);
  if (made != GUF_OK) return native == 0 ? made : as_handle(made, error);
  // The table has one entry for each index. If several devices have the same index, only the first
  // one is in the table, and functions that iterate over all devices skip the other devices.
  Device *none = nullptr;
  open_devices[index].compare_exchange_strong(none, device, std::memory_order_acq_rel);
  write_info(*device, out_info);
  *out_device = device;
  return GUF_OK;
}

void device_close(void *device) {
  if (device == nullptr || forked()) return;
  auto *closed = static_cast<Device *>(device);
  const std::lock_guard lock(opening);
  open_devices[closed->context().index].compare_exchange_strong(closed, nullptr,
                                                                std::memory_order_acq_rel);
  end_device(static_cast<Device *>(device));
}

// Waits for the work on the default streams and for staged copies, and then frees the caches. There
// are no threads to stop.
guf_status shutdown(uint64_t timeout_ns, guf_error *) {
  if (forked()) return GUF_OK;
  PollingDeadline deadline(timeout_ns);
  GUF_BACKEND_TRY(for_each_device([&](Device &device) -> guf_status {
    ScopedContext scope(device);
    if (scope.begin(nullptr) != GUF_OK) return GUF_OK;
    const RelaxedCapture relaxed(device.driver());
    for (;;) {
      const guf_status idle = device.default_stream().query(nullptr);
      if (idle != GUF_NOT_READY && idle != GUF_OK) return GUF_OK;
      if (idle == GUF_OK && device.staged_copies().idle()) return GUF_OK;
      if (deadline.expired()) return GUF_TIMEOUT;
      deadline.pause();
    }
  }));
  return for_each_device([](Device &device) -> guf_status {
    if (!device.lost()) free_caches(device);
    return GUF_OK;
  });
}

}  // namespace gufunc::gpu

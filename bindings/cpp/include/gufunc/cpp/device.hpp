// SPDX-License-Identifier: Apache-2.0
// The library as a whole, contexts, backends, and devices with their memory.
#ifndef GUFUNC_CPP_DEVICE_HPP
#define GUFUNC_CPP_DEVICE_HPP

#include <gufunc/context.h>
#include <gufunc/device_memory.h>
#include <gufunc/cpp/handle.hpp>

#include <string>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

constexpr uint64_t kForever = UINT64_MAX;  // nanoseconds

inline const char *version() noexcept {
  return guf_version_string();
}

// A registry of ufuncs and modules, which contains the standard library from the start. Most
// programs do not need a Context: a null guf_context means the default context of the process.
class Context : public Handle<guf_context, guf_context_retain, guf_context_release> {
 public:
  using Handle::Handle;
  operator guf_context() const noexcept { return get(); }
  static Result<Context> create() {
    detail::Record record;
    guf_context made = nullptr;
    const guf_status status = guf_context_create(0, &made, record);
    return detail::result(status, record, [&] { return Context(made); });
  }
};

// Frees released objects and runs at most `max_callbacks` queued release callbacks (0: all).
// Returns the number of callbacks that ran.
inline Result<uint32_t> poll(uint32_t max_callbacks = 0) {
  detail::Record record;
  uint32_t ran = 0;
  const guf_status status = guf_poll(max_callbacks, &ran, record);
  return detail::result(status, record, [&] { return ran; });
}

struct LogLine {
  int32_t level = -1;  // 0: error, 1: warning, 2: information, -1: the log is empty
  std::string text;
};
// Removes and returns the oldest line of the library's log.
inline Result<LogLine> read_log() {
  detail::Record record;
  char text[1024];
  LogLine line;
  const guf_status status = guf_log_read(text, sizeof text, &line.level, record);
  if (status == GUF_OK) line.text = text;
  return detail::result(status, record, [&] { return line; });
}

// Waits for all work and stops the library. Returns false if work was still running after
// `timeout_ns` nanoseconds.
inline Result<bool> shutdown(uint64_t timeout_ns = kForever) {
  detail::Record record;
  const guf_status status = guf_shutdown(timeout_ns, record);
  return detail::query_result(status, record, GUF_TIMEOUT);
}

// ---- backends

inline Result<uint32_t> backend_count() {
  detail::Record record;
  uint32_t count = 0;
  const guf_status status = guf_backend_count(&count, record);
  return detail::result(status, record, [&] { return count; });
}
// If `probe` is true, first opens the backend and its driver, so that the reported state is final.
inline Result<guf_backend_info> backend_info(uint32_t index, bool probe = false) {
  detail::Record record;
  guf_backend_info info = {};
  info.struct_size = sizeof info;
  const guf_status status = guf_backend_get_info(index, probe ? 1 : 0, &info, record);
  return detail::result(status, record, [&] { return info; });
}
inline Result<void> load_backend(const std::string &path) {
  return check(guf_backend_load, path.c_str());
}

// ---- devices

// A device. Devices are never freed, and equal handles refer to the same device. If a call receives
// an empty Device, the operands determine on which device the call runs.
class Device {
 public:
  constexpr Device() = default;
  constexpr Device(guf_device handle) noexcept : handle_(handle) {}
#ifndef GUFUNC_NO_EXCEPTIONS
  // `spec` names a device, such as "cpu" or "cuda:0", or is "auto" for the first usable device.
  explicit Device(const std::string &spec, guf_context context = nullptr)
      : Device(find(spec, context)) {}
#endif
  static Result<Device> find(const std::string &spec, guf_context context = nullptr) {
    detail::Record record;
    guf_device found = nullptr;
    const guf_status status = guf_device_get(context, spec.c_str(), &found, record);
    return detail::result(status, record, [&] { return Device(found); });
  }
  // Opens a device that uses `native`, a CUcontext that the program owns.
  static Result<Device> adopt(const std::string &spec, uint64_t native) {
    detail::Record record;
    guf_device found = nullptr;
    const guf_status status = guf_device_adopt(spec.c_str(), native, &found, record);
    return detail::result(status, record, [&] { return Device(found); });
  }

  constexpr guf_device get() const noexcept { return handle_; }
  constexpr operator guf_device() const noexcept { return handle_; }
  Result<guf_device_info> info() const {
    detail::Record record;
    guf_device_info found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_device_get_info(handle_, &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Waits for the work on the device's default stream, which runs the calls without a stream.
  // Returns false if this work was still running after `timeout_ns` nanoseconds.
  Result<bool> synchronize(uint64_t timeout_ns = kForever) const {
    detail::Record record;
    const guf_status status = guf_device_synchronize(handle_, timeout_ns, record);
    return detail::query_result(status, record, GUF_TIMEOUT);
  }

  Result<guf_device_memory> memory() const {
    detail::Record record;
    guf_device_memory found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_device_get_memory(handle_, &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  Result<void> trim_memory(uint64_t keep_bytes = 0) const {
    return check(guf_device_trim_memory, handle_, keep_bytes);
  }
  Result<void> limit_memory(uint64_t limit_bytes) const {
    return check(guf_device_limit_memory, handle_, limit_bytes);
  }
  Result<void> enable_peer(Device peer) const {
    return check(guf_device_enable_peer, handle_, peer.get());
  }

 private:
  guf_device handle_ = nullptr;
};

// Memory of the program that is page-locked for a device during the lifetime of this object.
class HostRegistration {
 public:
  HostRegistration() = default;
  template <class T>
  static Result<HostRegistration> create(Device device, T *data, size_t count) {
    detail::Record record;
    const auto address = reinterpret_cast<uint64_t>(data);
    const guf_status status =
        guf_host_register(device, address, sizeof(T) * static_cast<uint64_t>(count), record);
    return detail::result(status, record, [&] { return HostRegistration(device, address); });
  }
  HostRegistration(HostRegistration &&other) noexcept
      : device_(other.device_), address_(std::exchange(other.address_, 0)) {}
  HostRegistration &operator=(HostRegistration &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~HostRegistration() {
    if (address_ != 0) guf_host_unregister(device_, address_, nullptr);
  }

 private:
  HostRegistration(Device device, uint64_t address) : device_(device), address_(address) {}
  Device device_;
  uint64_t address_ = 0;
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_DEVICE_HPP

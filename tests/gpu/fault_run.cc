// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/fault_run.h"

#include <cstdio>

namespace gufunc::gpu_test {

void Trial::note(const char *slot, const void *device, guf_status status, const guf_error &error) {
  SlotCall call = {slot, device, status, error.native_code, false, {}};
  std::snprintf(call.message, sizeof(call.message), "%.*s", int{sizeof(call.message)} - 1,
                error.message);
  if (!fault_.function.empty()) {
    const uint64_t now = sim().calls(fault_.function.c_str());
    call.injected = seen_ < fault_.nth && now >= fault_.nth;
    seen_ = now;
  }
  calls_.push_back(call);
}

RunDevice::RunDevice(Trial &run, int32_t index, uint64_t native) : run_(run) {
  guf_backend_device_info info = {};
  info.struct_size = sizeof(info);
  status_ = GUF_TEST_CALL(run, nullptr, device_open, index, native, &device_, &info);
}

RunDevice::~RunDevice() {
  if (device_ == nullptr) return;
  round_trip(run_, device_);
  GUF_TEST_CLOSE(run_, device_, device_close, device_);
}

RunStream::RunStream(Trial &run, void *device, uint64_t native) : run_(run), device_(device) {
  status_ = GUF_TEST_CALL(run, device, stream_open, device, native, 0, &stream_);
}

void RunStream::close() {
  if (stream_ != nullptr) GUF_TEST_CLOSE(run_, device_, stream_close, stream_);
  stream_ = nullptr;
}

RunEvent::RunEvent(Trial &run, void *device) : run_(run), device_(device) {
  status_ = GUF_TEST_CALL(run, device, event_open, device, &event_);
}

RunEvent::~RunEvent() {
  if (event_ != nullptr) GUF_TEST_CLOSE(run_, device_, event_close, event_);
}

RunMemory::RunMemory(Trial &run, void *device, uint64_t bytes, int32_t kind, void *stream)
    : run_(run), device_(device), stream_(stream), bytes_(bytes), kind_(kind) {
  status_ = GUF_TEST_CALL(run, device, memory_alloc, device, bytes, kind, stream, &address_);
}

void RunMemory::free() {
  if (address_ == 0) return;
  GUF_TEST_CALL(run_, device_, memory_free, device_, address_, bytes_, kind_, stream_);
  address_ = 0;
}

guf_status wait_for(Trial &run, void *device, void *stream) {
  const auto wait = [&] {
    return GUF_TEST_CALL(run, device, stream_synchronize, stream, UINT64_MAX);
  };
  const guf_status status = wait();
  if (status != GUF_OK) wait();
  return status;
}

void round_trip(Trial &run, void *device) {
  static constexpr unsigned char kSent[40] = "every byte of it, there and back again";
  unsigned char received[sizeof(kSent)] = {};
  const auto from = reinterpret_cast<uint64_t>(kSent);
  const auto to = reinterpret_cast<uint64_t>(received);
  const RunMemory there(run, device, sizeof(kSent));
  GUF_TEST_TRY(there.status());
  GUF_TEST_TRY(GUF_TEST_CALL(run, device, copy, device, nullptr, there.get(), from, sizeof(kSent),
                             GUF_COPY_HOST_TO_DEVICE));
  GUF_TEST_TRY(GUF_TEST_CALL(run, device, copy, device, nullptr, to, there.get(), sizeof(kSent),
                             GUF_COPY_DEVICE_TO_HOST));
  EXPECT_EQ(std::memcmp(kSent, received, sizeof(kSent)), 0) << "bytes that went to the device";
}

}  // namespace gufunc::gpu_test

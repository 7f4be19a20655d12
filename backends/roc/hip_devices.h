// SPDX-License-Identifier: Apache-2.0
// The driver interface for HIP, part 1 of 4: devices. HIP has no contexts.
// Each thread has a current device, which is set and restored.
#ifndef GUFUNC_BACKENDS_ROC_HIP_DEVICES_H
#define GUFUNC_BACKENDS_ROC_HIP_DEVICES_H

#include <cstdio>
#include <cstring>

#include "backends/gpu/runtime/driver.h"
#include "backends/roc/hip_api.h"
#include "backends/roc/hip_codes.h"
#include "backends/roc/hip_library.h"

namespace gufunc::roc {

using gpu::Code;
using gpu::Native;

class HipDevices : public gpu::Driver {
 public:
  explicit HipDevices(const Hip &hip) : hip_(hip) {}

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

  Code device_facts(int32_t index, gpu::DeviceFacts *out) override {
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
    out->lanes = std::strncmp(out->target, "gfx9", 4) == 0 ? 64 : 32;
    out->units = ask(kUnitsAttribute, index);
    out->max_shared_bytes = ask(kSharedBytesAttribute, index);
    out->pools = has_pools(hip_) && ask(kPoolsAttribute, index) != 0;
    out->managed = ask(kManagedAttribute, index) != 0;
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

 protected:
  ~HipDevices() = default;

  // Returns the value of a device attribute, or 0 if the runtime does not support the attribute.
  uint32_t ask(int attribute, int device) const {
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
    const size_t place =
        hip_.hipGetDevicePropertiesR0600 != nullptr ? kTargetInProperties6 : kTargetInProperties5;
    std::snprintf(out_text, size, "%.63s", found.bytes + place);
    return status;
  }

  const Hip hip_;
};

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_DEVICES_H

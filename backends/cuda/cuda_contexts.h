// SPDX-License-Identifier: Apache-2.0
// The driver interface for NVIDIA, part 1 of 4: devices and contexts.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_CONTEXTS_H
#define GUFUNC_BACKENDS_CUDA_CUDA_CONTEXTS_H

#include <cstdio>

#include "backends/cuda/cuda_api.h"
#include "backends/cuda/cuda_codes.h"
#include "backends/cuda/cuda_library.h"
#include "backends/gpu/runtime/driver.h"

namespace gufunc::cuda {

using gpu::Code;
using gpu::Native;

class CudaContexts : public gpu::Driver {
 public:
  explicit CudaContexts(const Api &api) : api_(api) {}

  const gpu::ErrorInfo &error_info(Code code) const override { return cuda::error_info(code); }

  void write_version(char *out_text, size_t size) const override {
    int version = 0;
    if (api_.driver_version(&version) != kSuccess || version <= 0) {
      std::snprintf(out_text, size, "CUDA of an unknown version");
      return;
    }
    std::snprintf(out_text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
  }

  Code device_facts(int32_t index, gpu::DeviceFacts *out) override {
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
    out->lanes = 32;
    out->units = static_cast<uint32_t>(attribute(kAttributeMultiprocessors, device));
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
    // Making it current is the only way to query its device.
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

 protected:
  ~CudaContexts() = default;

  // Returns the value of a device attribute, or 0 if the driver does not support the attribute.
  int attribute(int number, DeviceNumber device) const {
    int value = 0;
    return api_.device_attribute(&value, number, device) == kSuccess ? value : 0;
  }

  const Api api_;
};

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_CONTEXTS_H

// SPDX-License-Identifier: Apache-2.0
// The driver interface for NVIDIA, part 2 of 4: memory.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_MEMORY_H
#define GUFUNC_BACKENDS_CUDA_CUDA_MEMORY_H

#include "backends/cuda/cuda_contexts.h"

namespace gufunc::cuda {

class CudaMemory : public CudaContexts {
 public:
  using CudaContexts::CudaContexts;

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

  bool knows(uint64_t address) override {
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

 protected:
  ~CudaMemory() = default;
};

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_MEMORY_H

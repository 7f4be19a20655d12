// SPDX-License-Identifier: Apache-2.0
// The driver interface for HIP, part 2 of 4: memory.
#ifndef GUFUNC_BACKENDS_ROC_HIP_MEMORY_H
#define GUFUNC_BACKENDS_ROC_HIP_MEMORY_H

#include "backends/roc/hip_devices.h"
#include "backends/roc/registered_ranges.h"

namespace gufunc::roc {

inline void *pointer_of(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

class HipMemory : public HipDevices {
 public:
  using HipDevices::HipDevices;

  Code allocate(uint64_t bytes, uint64_t *out_address) override {
    return place(out_address, [&](void **memory) { return hip_.hipMalloc(memory, bytes); });
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
    // Without this attribute, an allocation may make its stream wait for another stream.
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
    return place(out_address, [&](void **memory) {
      return hip_.hipMallocFromPoolAsync(memory, bytes, pool, stream);
    });
  }
  Code pool_release(uint64_t address, Native stream) override {
    return hip_.hipFreeAsync(pointer_of(address), stream);
  }
  Code managed_allocate(uint64_t bytes, uint64_t *out_address) override {
    return place(out_address, [&](void **memory) {
      return hip_.hipMallocManaged(memory, bytes, kManagedForAll);
    });
  }

  // Allocates page-locked memory. Memory that only copies access is coarse-grained,
  // which is fastest. Memory that kernels access while the host uses it is fine-grained.
  Code host_allocate(uint64_t bytes, gpu::HostMemory kind, uint64_t *out_address) override {
    if (kind == gpu::HostMemory::kPinned) {
      return place(out_address, [&](void **memory) {
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
  // Since 6.4, HIP accepts memory that is already registered,
  // but the first hipHostUnregister then ends both registrations.
  Code host_register(uint64_t address, uint64_t bytes) override {
    if (knows(address) || knows(address + bytes - 1)) return kHipAlreadyRegistered;
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
  bool knows(uint64_t address) override {
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

 protected:
  ~HipMemory() = default;

 private:
  RegisteredRanges registered_;

  template <class Function>
  static Code place(uint64_t *out_address, Function function) {
    void *memory = nullptr;
    const HipError made = function(&memory);
    *out_address = reinterpret_cast<uint64_t>(memory);
    return made;
  }
};

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_MEMORY_H

// SPDX-License-Identifier: Apache-2.0
// Provides a device that runs plain loops and counts its calls. The test chooses whether the host
// can access the memory of the device.
#ifndef GUFUNC_TESTS_UNIT_MEMORY_FAKE_DEVICE_H
#define GUFUNC_TESTS_UNIT_MEMORY_FAKE_DEVICE_H

#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/backend/backend.h"

namespace gufunc::memory {

// Addresses of device memory that the host cannot access are shifted, so that a host access
// crashes.
inline constexpr uint64_t kShift = uint64_t{1} << 62;

struct FakeDevice {
  explicit FakeDevice(bool host_memory, const char *spec) {
    backend.name = spec;
    backend.api.memory_alloc = alloc;
    backend.api.memory_free = free_memory;
    backend.api.copy = copy;
    backend.api.convert = convert;
    device.backend = &backend;
    device.native = this;
    device.host_memory = host_memory;
    device.spec = spec;
  }

  static guf_status alloc(void *device, uint64_t size, int32_t, void *, uint64_t *out_address,
                          guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    *out_address = reinterpret_cast<uint64_t>(std::malloc(size)) + self->shift();
    ++self->blocks;
    return GUF_OK;
  }
  static guf_status free_memory(void *device, uint64_t address, uint64_t, int32_t, void *,
                                guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    std::free(reinterpret_cast<void *>(address - self->shift()));
    --self->blocks;
    return GUF_OK;
  }
  static guf_status copy(void *device, void *, uint64_t dst, uint64_t src, uint64_t size,
                         int32_t kind, guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    if (kind != GUF_COPY_HOST_TO_DEVICE) src -= self->shift();
    if (kind != GUF_COPY_DEVICE_TO_HOST) dst -= self->shift();
    std::memcpy(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), size);
    ++self->copies;
    return GUF_OK;
  }

  // Copies elements between operands of the same dtype, and swaps bytes if the byte orders differ.
  // Rejects operands of different dtypes.
  static guf_status convert(void *device, void *, const guf_launch_block *block, guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    self->blocks_seen.push_back(*block);
    if (block->dtype[0] != block->dtype[1]) return GUF_E_DTYPE;
    const size_t itemsize = dtype::itemsize(block->dtype[0]);
    const bool swap_bytes =
        ((block->operand_flags[0] ^ block->operand_flags[1]) & GUF_LAUNCH_OPERAND_SWAPPED) != 0;
    for (uint64_t n = 0; n < block->items; ++n) {
      uint64_t rest = n;
      uint64_t from = block->address[0] - self->shift();
      uint64_t to = block->address[1] - self->shift();
      for (int32_t d = 0; d < block->nloop; ++d) {
        const auto extent =
            static_cast<uint64_t>(d == 0 ? block->size[0] : block->outer_size[d - 1]);
        const int64_t *const step = d == 0 ? block->step : block->outer_step[d - 1];
        from += rest % extent * static_cast<uint64_t>(step[0]);
        to += rest % extent * static_cast<uint64_t>(step[1]);
        rest /= extent;
      }
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), itemsize);
      auto *const bytes = reinterpret_cast<unsigned char *>(to);
      for (size_t i = 0; swap_bytes && i < itemsize / 2; ++i) {
        std::swap(bytes[i], bytes[itemsize - 1 - i]);
      }
    }
    return GUF_OK;
  }

  uint64_t shift() const { return device.host_memory ? 0 : kShift; }

  backend::Backend backend;
  backend::Device device;
  int blocks = 0;
  int copies = 0;
  std::vector<guf_launch_block> blocks_seen;
};

}  // namespace gufunc::memory

#endif  // GUFUNC_TESTS_UNIT_MEMORY_FAKE_DEVICE_H

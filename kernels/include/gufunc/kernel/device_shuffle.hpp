// SPDX-License-Identifier: Apache-2.0
// Sub-groups of 32 consecutive threads of a block, on every device. On a device with waves of 64
// threads, a sub-group is half of a wave. All threads of a sub-group must call these functions
// together.
#ifndef GUFUNC_KERNEL_DEVICE_SHUFFLE_HPP
#define GUFUNC_KERNEL_DEVICE_SHUFFLE_HPP

#include "device_block.hpp"

#if !defined(GUF_OPENCL)  // sub-groups of OpenCL have no fixed size
namespace guf {
namespace device {

GUF_DEVICE_ONLY u32 lane_id() {
  return thread_id() & (u32)(kLanes - 1);
}

#if defined(GUF_EMULATE)
typedef u64 lane_word;
GUF_DEVICE_ONLY lane_word word_from_lane(lane_word value, u32 lane) {
  work_item *const self = current_item;
  const u64 result = self->shuffle(self, value, lane);
  current_item = self;
  return result;
}
GUF_DEVICE_ONLY void subgroup_barrier() {
  (void)word_from_lane(0, 0);
}
#else
typedef u32 lane_word;
#if defined(GUF_HIP)
GUF_DEVICE_ONLY lane_word word_from_lane(lane_word value, u32 lane) {
  const u32 half = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)) & 32u;
  return (u32)__builtin_amdgcn_ds_bpermute((int)((half | lane) << 2), (int)value);
}
GUF_DEVICE_ONLY void subgroup_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#elif defined(__clang__)
GUF_DEVICE_ONLY lane_word word_from_lane(lane_word value, u32 lane) {
  return (u32)__nvvm_shfl_sync_idx_i32(~0u, (int)value, (int)lane, kLanes - 1);
}
GUF_DEVICE_ONLY void subgroup_barrier() {
  __nvvm_bar_warp_sync(~0u);
}
#else
GUF_DEVICE_ONLY lane_word word_from_lane(lane_word value, u32 lane) {
  return __shfl_sync(~0u, value, (int)lane);
}
GUF_DEVICE_ONLY void subgroup_barrier() {
  __syncwarp();
}
#endif
#endif

// Returns the value of the thread whose lane is `lane`.
template <class T>
GUF_DEVICE_ONLY T from_lane(T value, u32 lane) {
  constexpr int words = (int)((sizeof(T) + sizeof(lane_word) - 1) / sizeof(lane_word));
  lane_word word[words] = {};
  __builtin_memcpy(word, &value, sizeof(T));
  GUF_UNROLL
  for (int i = 0; i < words; ++i) word[i] = word_from_lane(word[i], lane);
  __builtin_memcpy(&value, word, sizeof(T));
  return value;
}

}  // namespace device
}  // namespace guf
#endif

#endif  // GUFUNC_KERNEL_DEVICE_SHUFFLE_HPP

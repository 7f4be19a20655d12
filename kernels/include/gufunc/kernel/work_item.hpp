// SPDX-License-Identifier: Apache-2.0
// With GUF_EMULATE, device entries are compiled for the host, and one call runs one work-item. The
// code that runs them (an executor) passes each call its position in a work_item and implements its
// barriers.
#ifndef GUFUNC_KERNEL_WORK_ITEM_HPP
#define GUFUNC_KERNEL_WORK_ITEM_HPP

#include "types.hpp"

namespace guf {
namespace device {

enum { kLanes = 32 };  // threads of a sub-group on every device; half of a wave of 64

#if !defined(GUF_OPENCL)  // OpenCL has no pointers to functions
// Owned by the executor; one per work-item of a block.
struct work_item {
  u32 thread[3];   // index within the block
  u32 threads[3];  // number of threads of the block
  u32 block[3];
  u32 blocks[3];
  char *shared;  // memory of the block as requested by the launch, 16-byte aligned
  // A barrier: returns when every work-item of the block has called sync.
  void (*sync)(work_item *self);
  // Waits until all work-items of the sub-group have called shuffle. Returns the `value` that
  // work-item `lane` of the sub-group passed.
  u64 (*shuffle)(work_item *self, u64 value, u32 lane);
};

// An entry for the executor. `arguments` is the block that a device receives by value.
typedef void (*item_entry)(work_item *item, const void *arguments);

// Output of gufcc --emulate: the entries of a module's device images, and the identities of those
// images.
struct emulated_kernel {
  const char *name;  // "guf_ew_add_ff_f_row"
  item_entry entry;
  u32 argument_bytes;
  u32 max_threads;   // threads per block
  u32 synchronizes;  // 1: it may call sync or shuffle
  u32 reserved;
};
struct emulated_image {
  const char *target;  // "sm_90"
  u64 size;            // bytes of the plain image
  u8 sha256[32];       // digest of the plain image
};
struct emulation_table {
  u32 struct_size;
  u32 nkernels, nimages;
  u32 reserved;
  const emulated_kernel *kernels;  // sorted by name
  const emulated_image *images;
};
// The table is exported by the shared object under the symbol gufunc_emulation_v1.
#endif

#if defined(GUF_EMULATE)
// The work-item whose entry runs on this thread. Barriers switch between work-items, so the pointer
// is set again after each barrier.
inline thread_local work_item *current_item = nullptr;
#endif

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_WORK_ITEM_HPP

// SPDX-License-Identifier: Apache-2.0
// The front end GUF_ITEMS: device entries compiled for the host, one call per work-item. What runs
// them (an executor) tells each call where it stands by a work_item, and serves its barriers.
#ifndef GUFUNC_KERNEL_WORK_ITEM_HPP
#define GUFUNC_KERNEL_WORK_ITEM_HPP

#include "types.hpp"

namespace guf {
namespace device {

enum { kLanes = 32 };  // of a sub-group, on every device: halves of a wave of 64

#if !defined(GUF_OPENCL)  // which has no pointers to functions
// Belongs to the executor; one per work-item of a block.
struct work_item {
  u32 thread[3];   // within the block
  u32 threads[3];  // of the block
  u32 block[3];
  u32 blocks[3];
  char *shared;  // memory that the launch gave the block, 16-byte aligned
  // Returns when every work-item of the block has called it.
  void (*sync)(work_item *self);
  // Returns what work-item `lane` of the own sub-group gave, when all of that have called it.
  u64 (*exchange)(work_item *self, u64 value, u32 lane);
};

// An entry as the executor sees it; `arguments` is the block that a device gets by value.
typedef void (*item_entry)(work_item *item, const void *arguments);

// What gufcc --items writes: entries of a module's device images, and which images those are.
struct items_kernel {
  const char *name;  // "guf_ew_add_ff_f_row"
  item_entry entry;
  u32 argument_bytes;
  u32 max_threads;   // of a block
  u32 synchronises;  // 1: it may call sync or exchange
  u32 reserved;
};
struct items_image {
  const char *target;  // "sm_90"
  u64 size;            // of the plain image
  u8 sha256[32];       // over it
};
struct items_table {
  u32 struct_size;
  u32 nkernels, nimages;
  u32 reserved;
  const items_kernel *kernels;  // sorted by name
  const items_image *images;
};
// The symbol of the table in the shared object: gufunc_items_v1.
#endif

#if defined(GUF_ITEMS)
// Of the entry that runs on this thread. Barriers switch between work-items: set anew behind each.
inline thread_local work_item *current_item = nullptr;
#endif

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_WORK_ITEM_HPP

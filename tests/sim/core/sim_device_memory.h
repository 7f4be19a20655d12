// SPDX-License-Identifier: Apache-2.0
// Allocations of every kind. Called with the driver locked; addresses out are 0 on failure.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H

#include <cstdint>

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Plain device memory. Errors  kInvalidValue (no bytes), kOutOfMemory
int allocate(Driver &driver, Context &context, uint64_t bytes, uint64_t *out);
// Waits for the context's work first, unless the memory is a pool's: then its users must be done.
int release(Driver &driver, Lock &lock, Context &context, uint64_t address);

// In the order of a stream, from a pool.
int allocate_async(Driver &driver, const std::shared_ptr<Stream> &stream,
                   const std::shared_ptr<Pool> &pool, uint64_t bytes, uint64_t *out);
int release_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t address);

// Host memory: allocated (kPinned), usable by both (kManaged), or the caller's own.
int allocate_host(Driver &driver, Context *context, uint64_t bytes, unsigned flags, MemoryKind kind,
                  void **out);
int release_host(Driver &driver, void *address);
int register_host(Driver &driver, Context *context, void *address, uint64_t bytes, unsigned flags);
int unregister_host(Driver &driver, void *address);

// Takes an allocation out of the table and gives its memory back; of registered memory nothing.
void forget_allocation(Driver &driver, uint64_t address);

// Pools.
std::shared_ptr<Pool> make_pool(Driver &driver, int device, uint64_t max_bytes);
// Gives memory that a pool holds unused back, down to `keep` bytes.
void trim_pool(Pool &pool, uint64_t keep);
// What every call that waits does: pools keep no more than their threshold.
void release_over_threshold(Driver &driver);
// Attributes as both vendors number them: reuse 1-3 are ints, the others 64 bits of bytes; high
// marks can only be set to 0. Errors  kInvalidValue
int set_pool_attribute(Pool &pool, int attribute, const void *value);
int get_pool_attribute(const Pool &pool, int attribute, void *value);
// What a device may do with a pool's memory: 0, 1 (read) or 3 (write too), as both vendors number
// them; its own device both. Errors  kInvalidValue <= no such flags, or its own device is left out
int set_pool_access(Driver &driver, Pool &pool, int device, int flags);
int pool_access(const Pool &pool, int device);
int destroy_pool(Driver &driver, const std::shared_ptr<Pool> &pool);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H

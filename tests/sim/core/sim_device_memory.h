// SPDX-License-Identifier: Apache-2.0
// Allocations of every kind. Callers hold the driver's lock. On failure the returned address is 0.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H

#include <cstdint>

#include "tests/sim/core/sim_driver.h"

namespace sim {

// Allocates plain device memory.
// Errors  kInvalidValue (no bytes), kOutOfMemory
int allocate(Driver &driver, Context &context, uint64_t bytes, uint64_t *out);
// Frees memory. First waits for the work of the context, unless the memory is stream-ordered. No
// pending work may use stream-ordered memory at this time.
int release(Driver &driver, Lock &lock, Context &context, uint64_t address);

// Allocates from a pool in stream order.
int allocate_async(Driver &driver, const std::shared_ptr<Stream> &stream,
                   const std::shared_ptr<Pool> &pool, uint64_t bytes, uint64_t *out);
int release_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t address);

// Allocates host memory (kPinned, or kManaged for memory that host and device use), or registers
// memory of the program.
int allocate_host(Driver &driver, Context *context, uint64_t bytes, unsigned flags, MemoryKind kind,
                  void **out);
int release_host(Driver &driver, void *address);
int register_host(Driver &driver, Context *context, void *address, uint64_t bytes, unsigned flags);
int unregister_host(Driver &driver, void *address);

// Removes an allocation from the table and frees its memory. Registered memory is not freed.
void forget_allocation(Driver &driver, uint64_t address);

std::shared_ptr<Pool> make_pool(Driver &driver, int device, uint64_t max_bytes);
// Frees unused memory of a pool until at most `keep` bytes are reserved.
void trim_pool(Pool &pool, uint64_t keep);
// Shrinks the pools to their release thresholds. Every function that waits for work calls this
// function.
void release_over_threshold(Driver &driver);
// Sets an attribute of a pool. Both vendors identify attributes by the same numbers. The reuse
// attributes (1 to 3) are ints, and all other attributes are 64-bit byte counts. A high-water mark
// can only be set to 0.
// Errors  kInvalidValue
int set_pool_attribute(Pool &pool, int attribute, const void *value);
int get_pool_attribute(const Pool &pool, int attribute, void *value);
// Sets the access of a device to the memory of a pool: 0 (none), 1 (read) or 3 (read and write).
// Both vendors use these numbers. The device that owns the pool always has read and write access.
// Errors  kInvalidValue (invalid flags, or flags that remove access of the pool's own device)
int set_pool_access(Driver &driver, Pool &pool, int device, int flags);
int pool_access(const Pool &pool, int device);
int destroy_pool(Driver &driver, const std::shared_ptr<Pool> &pool);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_DEVICE_MEMORY_H

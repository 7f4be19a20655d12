// SPDX-License-Identifier: Apache-2.0
// The ranges of the program's memory that are page-locked for devices. A wrong result of
// is_page_locked only costs speed, because a plugin queries its driver before it copies. The
// library stores the ranges itself, because some drivers accept a range that is already registered
// and later unregister both registrations together.
#ifndef GUFUNC_CORE_MEMORY_PAGE_LOCKS_H
#define GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

#include "core/base/error.h"
#include "core/op/call_view.h"

namespace gufunc::memory {

// Reserves a range before the driver registers it.
// Errors  GUF_E_EXISTS <= the range overlaps a range of the same backend. Throws std::bad_alloc
guf_status reserve_page_lock(const backend::Device &device, uint64_t address, uint64_t size,
                             guf_error *error);
// Marks a reserved range as registered with the driver.
void note_page_locked(const backend::Device &device, uint64_t address);
// Marks a range as unregistered, before the driver unregisters it. The range stays reserved.
// Errors  GUF_E_ARG <= no registered range of the device begins at `address`
guf_status end_page_lock(const backend::Device &device, uint64_t address, guf_error *error);
// Releases a reserved range.
void forget_page_lock(const backend::Device &device, uint64_t address);

// Returns whether the whole operand is in page-locked memory for copies to and from `device`, that
// is, in one allocation of the library or in one registered range.
bool is_page_locked(const op::OperandView &operand, const backend::Device &device);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

// SPDX-License-Identifier: Apache-2.0
// Memory of the program that is page-locked for devices. A plugin asks its driver before it copies,
// so only speed depends on is_page_locked; but not every driver refuses memory that is registered
// already, and one that does not unregisters both at once. The ranges are therefore kept here.
#ifndef GUFUNC_CORE_MEMORY_PAGE_LOCKS_H
#define GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

#include "core/base/error.h"
#include "core/op/call_view.h"

namespace gufunc::memory {

// Reserves a range before the driver is asked to register it.
// Errors  GUF_E_EXISTS <= it overlaps a range of the same backend.  Throws std::bad_alloc.
guf_status reserve_page_lock(const backend::Device &device, uint64_t address, uint64_t size,
                             guf_error *error);
// The driver has registered the reserved range.
void note_page_locked(const backend::Device &device, uint64_t address);
// The range is about to be unregistered; it stays reserved.
// Errors  GUF_E_ARG <= no range of the device that is registered begins there
guf_status end_page_lock(const backend::Device &device, uint64_t address, guf_error *error);
// Gives a reserved range back.
void forget_page_lock(const backend::Device &device, uint64_t address);

// Whether all of an operand lies in one allocation for copies to and from `device`, or in memory
// that was noted.
bool is_page_locked(const op::OperandView &operand, const backend::Device &device);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

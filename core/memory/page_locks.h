// SPDX-License-Identifier: Apache-2.0
// Which host memory a device copies without staging. Only speed depends on the answer: a plugin
// asks its driver before it copies.
#ifndef GUFUNC_CORE_MEMORY_PAGE_LOCKS_H
#define GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

#include "core/op/call_view.h"

namespace gufunc::memory {

// Memory of the program, from when the driver has registered it until before it is unregistered.
// Throws std::bad_alloc.
void note_page_locked(const backend::Device &device, uint64_t address, uint64_t size);
void forget_page_locked(const backend::Device &device, uint64_t address);

// Whether all of an operand lies in one allocation for copies to and from `device`, or in memory
// that was noted.
bool is_page_locked(const op::OperandView &operand, const backend::Device &device);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_PAGE_LOCKS_H

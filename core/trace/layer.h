// SPDX-License-Identifier: Apache-2.0
// The layer between the core and the slots of the backends: names of backends and kernels, and the
// sizes of launches.
#ifndef GUFUNC_CORE_TRACE_LAYER_H
#define GUFUNC_CORE_TRACE_LAYER_H

#include <gufunc/backend.h>

#include <cstdint>

namespace gufunc::trace {

const char *backend_name(int32_t backend);
void collect_all();

// Returns nullptr for a kernel without a name.
const char *kernel_name(const void *kernel);

// Returns the total size in bytes of the elements that are read or written. An operand that is both
// read and written counts twice. A broadcast dimension counts as one element. The mask is included.
uint64_t bytes_of(const guf_launch_block &block);
uint64_t bytes_of(const guf_method_block &block);

// Returns the number of reduced elements of all results together.
uint64_t items_of(const guf_method_block &block);

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_LAYER_H

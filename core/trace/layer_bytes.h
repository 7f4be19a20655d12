// SPDX-License-Identifier: Apache-2.0
// What a launch works on, for traces.
#ifndef GUFUNC_CORE_TRACE_LAYER_BYTES_H
#define GUFUNC_CORE_TRACE_LAYER_BYTES_H

#include <gufunc/backend.h>

#include <cstdint>

namespace gufunc::trace {

// Bytes of all elements that are read and written, each once per operand; what is stretched counts
// as the elements it has. The mask is counted too.
uint64_t bytes_of(const guf_launch_block &block);
uint64_t bytes_of(const guf_method_block &block);

// Elements that are folded, over all results.
uint64_t items_of(const guf_method_block &block);

}  // namespace gufunc::trace

#endif  // GUFUNC_CORE_TRACE_LAYER_BYTES_H

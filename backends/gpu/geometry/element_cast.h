// SPDX-License-Identifier: Apache-2.0
// The codes of element types in the parameters of device entries, and the casts between them.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_ELEMENT_CAST_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_ELEMENT_CAST_H

#include <gufunc/backend.h>
#include <gufunc/backend/dtype.hpp>
#include <gufunc/kernel/device_copy_block.hpp>

namespace gufunc::gpu {

using sdk::dtype_size;
using sdk::is_structured;
using sdk::is_time;

// The operand flags that mean that an entry cannot access the elements in place.
inline constexpr uint32_t kStoredFlags = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;

// Returns the guf::device::element_kind of a dtype, or kKinds if the dtype is not numeric. The kind
// of datetime types is kKindI64.
uint32_t kind_of_dtype(guf_dtype dtype);

// Returns the size in bytes of a partial result in a tree. Partial results of storage types are
// wider than their elements.
uint32_t partial_bytes(guf_dtype dtype);

// Returns the form of a stored element (device_form.hpp). Structured dtypes have no form.
// `operand_flags` contains flags of guf_launch_operand_flag.
uint32_t form_of(guf_dtype dtype, uint32_t operand_flags);

struct ElementCast {
  guf::device::conversion_kind kind;
  bool same;  // the bytes of the elements do not change, except for their order
  guf::time::conversion units;
};

// Chooses the cast between two dtypes. Returns false if no cast exists.
bool choose_cast(guf_dtype from, guf_dtype to, ElementCast *out);

// Fails with GUF_E_DTYPE and names both dtypes.
[[gnu::cold]] guf_status fail_no_cast(guf_error *error, int operand, guf_dtype from, guf_dtype to);

// Converts one element in host memory, of any byte order, to a different type in the host's order.
guf::device::raw_element cast_on_host(const void *from, guf_dtype dtype, uint32_t operand_flags,
                                      guf_dtype to, const ElementCast &cast);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_ELEMENT_CAST_H

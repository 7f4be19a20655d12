// SPDX-License-Identifier: Apache-2.0
// Where at reads and writes: index arrays turned into byte offsets.
#ifndef GUFUNC_CORE_METHOD_INDEX_OFFSETS_H
#define GUFUNC_CORE_METHOD_INDEX_OFFSETS_H

#include <vector>

#include "core/method/method.h"

namespace gufunc::method {

// One place per element of the broadcast index arrays, in C order.
struct IndexOffsets {
  int32_t ndim = 0;  // of the index arrays together
  int64_t shape[GUF_MAX_NDIM];
  std::vector<int64_t> array;    // bytes from the array's address
  std::vector<int64_t> operand;  // bytes from the operand's; empty for a unary ufunc
};

// Reads and checks every index. Waits for the view's stream where an index operand is memory.
// With Elements::kLeftAlone it reads none, and gives the shape without the places.
// Errors  GUF_E_INDEX <= too many, no integers, shapes that do not broadcast, an index out of range
//         GUF_E_DEVICE_MISMATCH;  throws std::bad_alloc
guf_status find_offsets(AtView &view, Elements elements, IndexOffsets *out, guf_error *error);

// Errors  GUF_E_SHAPE <= the operand does not broadcast to the elements indexed
guf_status check_operand(const AtView &view, const IndexOffsets &offsets, guf_error *error);

// Fills `places->operand`. The stride of the operand along dimension `k` of what is indexed, which
// has `places.ndim` dimensions of the indices and then the array's own; 0 where it is stretched.
void set_operand_offsets(const AtView &view, const array::Layout &operand, IndexOffsets *offsets);
int64_t operand_step(const AtView &view, const array::Layout &operand, const IndexOffsets &offsets,
                     int32_t k);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INDEX_OFFSETS_H

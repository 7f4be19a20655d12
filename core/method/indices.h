// SPDX-License-Identifier: Apache-2.0
// Reads integers from operands, for the indices of reduceat and at, and computes the index offsets
// of `at` from the index arrays.
#ifndef GUFUNC_CORE_METHOD_INDICES_H
#define GUFUNC_CORE_METHOD_INDICES_H

#include <vector>

#include "core/method/method.h"
#include "core/op/call_view.h"

namespace gufunc::method {

// Ensures that the host can read an operand: checks that it is in host memory, and waits for
// `stream` (if not nullptr), so that all queued writes are complete.
// Errors  GUF_E_DEVICE_MISMATCH <= the operand is in device memory
guf_status make_readable(const op::OperandView &operand, backend::Stream *stream, int32_t index,
                         guf_error *error);

// Reads an integer or bool element at `address`. Unsigned values above INT64_MAX wrap around.
int64_t read_index(guf_dtype type, bool swapped, uint64_t address);

// The index offsets. There is one offset per element of the broadcast index arrays, in C order.
struct IndexOffsets {
  int32_t ndim = 0;  // number of dimensions of the broadcast index arrays
  int64_t shape[GUF_MAX_NDIM];
  std::vector<int64_t> array;    // byte offsets from the array's address
  std::vector<int64_t> operand;  // byte offsets from the operand's address; empty if unary
  uint64_t array_bits = 0;       // bitwise OR of `array`
  uint64_t operand_bits = 0;     // bitwise OR of `operand`
};

// Reads and checks every index. Waits for the view's stream if an index operand is an array. With
// Elements::kNotRead, reads no index and computes only the shape.
// Errors  GUF_E_INDEX <= too many indices, a dtype that is not integer, shapes that do not
//         broadcast, or an index out of range
//         GUF_E_DEVICE_MISMATCH;  throws std::bad_alloc
guf_status find_offsets(AtView &view, Elements elements, IndexOffsets *out, guf_error *error);

// Checks that the operand broadcasts to the shape of the indexed elements.
// Errors  GUF_E_SHAPE <= the operand does not broadcast
guf_status check_operand(const AtView &view, const IndexOffsets &offsets, guf_error *error);

// `set_operand_offsets` computes `offsets->operand` and its bits. `operand_step` returns the stride
// of the operand along dimension `k` of the indexed result, or 0 if the operand is broadcast along
// this dimension. The dimensions of the indexed result are the `offsets.ndim` dimensions of the
// indices, followed by the array's dimensions that are not indexed.
void set_operand_offsets(const AtView &view, const array::Layout &operand, IndexOffsets *offsets);
int64_t operand_step(const AtView &view, const array::Layout &operand, const IndexOffsets &offsets,
                     int32_t k);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INDICES_H

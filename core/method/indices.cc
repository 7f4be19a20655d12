// SPDX-License-Identifier: Apache-2.0
// Reads integers of any width, alignment and byte order. For `at`, broadcasts the index arrays
// against each other. An index offset is the sum of the byte offsets along all indexed axes.
#include "core/method/indices.h"

#include <algorithm>
#include <cstring>

#include "core/backend/backend.h"
#include "core/base/checked.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::method {
namespace {

template <class T>
T load(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

using base::kNone;

constexpr int32_t kFirstIndex = 2;  // the argument number of the first index, for messages

// Calls body(n, offset) for every index offset in C order. `steps` has one stride per
// dimension of the broadcast index arrays.
template <class Body>
void for_each_offset(const IndexOffsets &offsets, const int64_t *steps, Body body) {
  const auto count = static_cast<int64_t>(offsets.array.size());
  const int32_t last = offsets.ndim - 1;
  const int64_t row = offsets.ndim == 0 ? 1 : offsets.shape[last];
  const int64_t step = offsets.ndim == 0 ? 0 : steps[last];
  int64_t index[GUF_MAX_NDIM] = {};
  int64_t start = 0;
  for (int64_t n = 0; n < count; n += row) {
    for (int64_t i = 0; i < row; ++i) body(n + i, start + i * step);
    for (int32_t k = last - 1; k >= 0; --k) {
      if (++index[k] < offsets.shape[k]) {
        start += steps[k];
        break;
      }
      start -= steps[k] * (offsets.shape[k] - 1);
      index[k] = 0;
    }
  }
}

// Computes the strides of a layout along the dimensions of the broadcast index arrays.
void steps_of(const array::Layout &layout, const IndexOffsets &offsets, int64_t *out) {
  for (int32_t k = 0; k < offsets.ndim; ++k) {
    const int32_t axis = k - (offsets.ndim - layout.ndim);
    out[k] = axis < 0 || layout.shape[axis] == 1 ? 0 : layout.strides[axis];
  }
}

guf_status fail_shapes(const AtView &view, guf_error *error) {
  base::Text text;
  for (int32_t k = 0; k < view.nindices; ++k) {
    const array::Layout &layout = view.index[k].layout;
    if (layout.ndim == 0) continue;  // NumPy's message omits 0-d indices, too
    text.add_shape(layout.shape, layout.ndim).add(" ");
  }
  return base::fail(
      error, GUF_E_INDEX, kNone, kNone,
      "shape mismatch: indexing arrays could not be broadcast together with shapes %s",
      text.c_str());
}

guf_status broadcast_indices(const AtView &view, IndexOffsets *offsets, guf_error *error) {
  for (int32_t k = 0; k < view.nindices; ++k) {
    offsets->ndim = std::max(offsets->ndim, view.index[k].layout.ndim);
  }
  std::fill_n(offsets->shape, offsets->ndim, 1);
  for (int32_t k = 0; k < view.nindices; ++k) {
    const array::Layout &layout = view.index[k].layout;
    for (int32_t axis = 0; axis < layout.ndim; ++axis) {
      int64_t &common = offsets->shape[offsets->ndim - layout.ndim + axis];
      const int64_t extent = layout.shape[axis];
      if (extent == common || extent == 1) continue;
      if (common != 1) return fail_shapes(view, error);
      common = extent;
    }
  }
  const int32_t total = offsets->ndim + view.array.layout.ndim - view.nindices;
  if (total <= GUF_MAX_NDIM) return GUF_OK;
  return base::fail(error, GUF_E_INDEX, kNone, kNone,
                    "number of dimensions of the indexing result must be within [0, %d]: got %d",
                    static_cast<int>(GUF_MAX_NDIM), total);
}

guf_status prepare_index(AtView &view, Elements elements, int32_t k, guf_error *error) {
  op::OperandView &index = view.index[k];
  GUF_TRY(resolve::convert_to_default(&index, kFirstIndex + k, error));
  if (!dtype::is_integer(index.layout.dtype)) {
    return base::fail(error, GUF_E_INDEX, kFirstIndex + k, kNone,
                      "arrays used as indices must be of integer (or boolean) type; argument %d: "
                      "expected an integer type, got %s",
                      kFirstIndex + k, dtype::name(index.layout.dtype));
  }
  backend::Stream *const stream = elements == Elements::kRead ? view.call.stream : nullptr;
  return make_readable(index, stream, kFirstIndex + k, error);
}

guf_status fail_bounds(int64_t found, int32_t axis, int64_t extent, guf_error *error) {
  return base::fail(error, GUF_E_INDEX, kFirstIndex + axis, axis,
                    "index %lld is out of bounds for axis %d with size %lld",
                    static_cast<long long>(found), axis, static_cast<long long>(extent));
}

int64_t index_at(const op::OperandView &index, int64_t offset) {
  return read_index(index.layout.dtype, (index.flags & op::kSwapped) != 0,
                    index.layout.address + static_cast<uint64_t>(offset));
}

// Checks the 0-d indices. As in NumPy, these indices are checked before the shapes, and even if
// there are no index offsets.
guf_status check_single_indices(const AtView &view, guf_error *error) {
  for (int32_t axis = 0; axis < view.nindices; ++axis) {
    if (view.index[axis].layout.ndim != 0) continue;
    const int64_t extent = view.array.layout.shape[axis];
    const int64_t given = index_at(view.index[axis], 0);
    if (given < -extent || given >= extent) return fail_bounds(given, axis, extent, error);
  }
  return GUF_OK;
}

// Adds the offsets of one axis to `offsets->array`, and sets its bits. `read` returns the index at
// a byte offset of the index array.
//
// PERF. The first loop has no branches and only detects that an index is invalid. A second loop
// then finds the first invalid index.
template <class Read>
guf_status add_axis_with(const AtView &view, int32_t axis, IndexOffsets *offsets, Read read,
                         guf_error *error) {
  const int64_t extent = view.array.layout.shape[axis];
  const int64_t stride = view.array.layout.strides[axis];
  int64_t steps[GUF_MAX_NDIM];
  steps_of(view.index[axis].layout, *offsets, steps);
  int64_t *const sums = offsets->array.data();
  uint64_t bits = 0;
  bool failed = false;
  for_each_offset(*offsets, steps, [&](int64_t n, int64_t offset) {
    const int64_t given = read(offset);
    const int64_t found = given + (given < 0 ? extent : 0);
    failed |= static_cast<uint64_t>(found) >= static_cast<uint64_t>(extent);
    const uint64_t sum = static_cast<uint64_t>(sums[n]) + base::offset_of(stride, found);
    sums[n] = static_cast<int64_t>(sum);
    bits |= sum;
  });
  offsets->array_bits = bits;
  if (!failed) return GUF_OK;
  bool has_invalid = false;
  int64_t first_invalid = 0;
  for_each_offset(*offsets, steps, [&](int64_t, int64_t offset) {
    const int64_t given = read(offset);
    if (has_invalid || (given >= -extent && given < extent)) return;
    has_invalid = true;
    first_invalid = given;
  });
  return fail_bounds(first_invalid, axis, extent, error);
}

guf_status add_axis(const AtView &view, int32_t axis, IndexOffsets *offsets, guf_error *error) {
  const op::OperandView &index = view.index[axis];
  // PERF. Nearly all indices are int64. Testing each dtype took as much time as the rest of `at`.
  if (index.layout.dtype == GUF_I64 && (index.flags & op::kSwapped) == 0) {
    const uint64_t address = index.layout.address;
    return add_axis_with(
        view, axis, offsets,
        [=](int64_t offset) {
          return load<int64_t>(
              reinterpret_cast<const void *>(address + static_cast<uint64_t>(offset)));
        },
        error);
  }
  return add_axis_with(
      view, axis, offsets, [&](int64_t offset) { return index_at(index, offset); }, error);
}

}  // namespace

guf_status make_readable(const op::OperandView &operand, backend::Stream *stream, int32_t index,
                         guf_error *error) {
  if ((operand.flags & op::kScalar) != 0) return GUF_OK;
  if (operand.device != nullptr && !operand.device->host_memory) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, index, base::kNone,
                      "the indices are in the memory of %s, which the host cannot read",
                      operand.device->spec.c_str());
  }
  if (stream != nullptr) backend::wait_quietly(*stream);
  return GUF_OK;
}

int64_t read_index(guf_dtype type, bool swapped, uint64_t address) {
  const auto *const from = reinterpret_cast<const void *>(address);
  const bool is_signed = dtype::is_signed(type);
  switch (dtype::itemsize(type)) {
    case 8: {
      const auto value = load<uint64_t>(from);
      return static_cast<int64_t>(swapped ? __builtin_bswap64(value) : value);
    }
    case 4: {
      const auto value = swapped ? __builtin_bswap32(load<uint32_t>(from)) : load<uint32_t>(from);
      return is_signed ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
    }
    case 2: {
      const auto value = swapped ? __builtin_bswap16(load<uint16_t>(from)) : load<uint16_t>(from);
      return is_signed ? static_cast<int16_t>(value) : static_cast<int64_t>(value);
    }
    default: {
      const auto value = load<uint8_t>(from);
      return is_signed ? static_cast<int8_t>(value) : static_cast<int64_t>(value);
    }
  }
}

guf_status find_offsets(AtView &view, Elements elements, IndexOffsets *out, guf_error *error) {
  const int32_t ndim = view.array.layout.ndim;
  if (view.nindices > ndim) {
    return base::fail(error, GUF_E_INDEX, 0, kNone,
                      "too many indices for array: array is %d-dimensional, but %d were indexed",
                      ndim, view.nindices);
  }
  for (int32_t k = 0; k < view.nindices; ++k) GUF_TRY(prepare_index(view, elements, k, error));
  if (elements == Elements::kRead) GUF_TRY(check_single_indices(view, error));
  GUF_TRY(broadcast_indices(view, out, error));
  uint64_t count = 1;
  for (int32_t k = 0; k < out->ndim; ++k) {
    if (!base::checked_mul(count, static_cast<uint64_t>(out->shape[k]), &count)) {
      return base::fail(error, GUF_E_SHAPE, kNone, kNone,
                        "iterator is too large; the index arrays broadcast to too many elements");
    }
  }
  if (count > out->array.max_size()) {
    return base::fail(error, GUF_E_NO_MEMORY, kNone, kNone,
                      "no memory for the index offsets of %llu elements",
                      static_cast<unsigned long long>(count));
  }
  if (elements == Elements::kNotRead) return GUF_OK;
  out->array.assign(count, 0);
  for (int32_t axis = 0; axis < view.nindices; ++axis) {
    GUF_TRY(add_axis(view, axis, out, error));
  }
  return GUF_OK;
}

int64_t operand_step(const AtView &view, const array::Layout &operand, const IndexOffsets &offsets,
                     int32_t k) {
  const int32_t total = offsets.ndim + view.array.layout.ndim - view.nindices;
  const int32_t axis = k - (total - operand.ndim);
  return axis < 0 || operand.shape[axis] == 1 ? 0 : operand.strides[axis];
}

guf_status check_operand(const AtView &view, const IndexOffsets &offsets, guf_error *error) {
  if (!view.has_operand) return GUF_OK;
  const array::Layout &operand = view.operand.layout;
  const array::Layout &array = view.array.layout;
  const int32_t total = offsets.ndim + array.ndim - view.nindices;
  int64_t expected[GUF_MAX_NDIM];
  std::copy_n(offsets.shape, offsets.ndim, expected);
  std::copy_n(array.shape + view.nindices, array.ndim - view.nindices, expected + offsets.ndim);
  bool fits = operand.ndim <= total;
  for (int32_t axis = 0; fits && axis < operand.ndim; ++axis) {
    const int64_t extent = operand.shape[axis];
    fits = extent == 1 || extent == expected[total - operand.ndim + axis];
  }
  if (fits) return GUF_OK;
  base::Text text;
  text.add("expected ").add_shape(expected, total);
  text.add(", got ").add_shape(operand.shape, operand.ndim);
  return base::fail(error, GUF_E_SHAPE, 1, kNone,
                    "array is not broadcastable to correct shape; argument 1: %s", text.c_str());
}

void set_operand_offsets(const AtView &view, const array::Layout &operand, IndexOffsets *offsets) {
  int64_t steps[GUF_MAX_NDIM];
  for (int32_t k = 0; k < offsets->ndim; ++k) steps[k] = operand_step(view, operand, *offsets, k);
  offsets->operand.resize(offsets->array.size());
  int64_t *const operand_offsets = offsets->operand.data();
  uint64_t bits = 0;
  for_each_offset(*offsets, steps, [&](int64_t n, int64_t offset) {
    operand_offsets[n] = offset;
    bits |= static_cast<uint64_t>(offset);
  });
  offsets->operand_bits = bits;
}

}  // namespace gufunc::method

// SPDX-License-Identifier: Apache-2.0
#include "drawn_operand.h"

#include <algorithm>
#include <cstring>

namespace gufunc::fuzz {
namespace {

__extension__ using Wide = __int128;  // in this type no product of an extent and a stride overflows

// Each product of an extent and a stride is limited to this absolute value, so that the sum of the
// products over all dimensions does not overflow.
constexpr Wide kFurthest = Wide{1} << 100;

constexpr guf_dtype kDtypes[] = {GUF_F64,         GUF_F32,    GUF_I64,  GUF_I32, GUF_I8,
                                 GUF_U8,          GUF_BOOL,   GUF_I16,  GUF_U16, GUF_U32,
                                 GUF_U64,         GUF_F16,    GUF_BF16, GUF_C64, GUF_C128,
                                 GUF_DATETIME64,  0x00010780,  // datetime64[s]
                                 GUF_TIMEDELTA64, 0x00070781,  // timedelta64[7s]
                                 0x00000F82,   // a structured dtype that was never registered
                                 0x00014007};  // not a dtype

constexpr int64_t kLargeExtents[] = {INT64_MAX,        INT64_MAX / 2, int64_t{1} << 32,
                                     int64_t{1} << 31, INT64_MIN,     -1};

uint32_t itemsize_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  return guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK ? info.itemsize : 1;
}

int32_t draw_ndim(ByteReader *bytes) {
  const uint32_t choice = bytes->byte();
  if (choice < 200) return static_cast<int32_t>(choice % 5);
  return static_cast<int32_t>(choice * 7 % (GUF_MAX_NDIM + 2));  // the result 65 must be rejected
}

}  // namespace

guf_dtype draw_dtype(ByteReader *bytes) {
  return bytes->pick(kDtypes);
}

DrawnShape DrawnShape::draw(ByteReader *bytes) {
  DrawnShape shape;
  shape.ndim = std::min<int32_t>(draw_ndim(bytes), GUF_MAX_NDIM);
  for (int32_t axis = 0; axis < shape.ndim; ++axis) {
    const uint32_t choice = bytes->byte();
    // Extents are small if there are many axes, because otherwise the call would be too large to
    // run.
    const uint32_t most = shape.ndim > 6 ? 3 : 9;
    shape.extent[static_cast<size_t>(axis)] =
        choice == 255 ? bytes->pick(kLargeExtents) : static_cast<int64_t>(choice % most);
  }
  return shape;
}

int64_t DrawnShape::items(int64_t limit) const {
  int64_t count = 1;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const int64_t size = extent[static_cast<size_t>(axis)];
    if (size < 0) return limit + 1;
    // The library checks the product of the extents before it looks at later extents of 0, so the
    // function returns a large number even if a later extent is 0.
    if (size > 1 && count > limit / size) return limit + 1;
    count *= size == 0 ? 1 : size;
  }
  return std::any_of(extent.begin(), extent.begin() + ndim, [](int64_t e) { return e == 0; })
             ? 0
             : count;
}

void DrawnOperand::clear() {
  operand_ = {};
  memory_.place(0, false);
  lowest_ = highest_ = 0;
  can_run_ = true;
}

void DrawnOperand::draw(ByteReader *bytes, const DrawnShape &shape, bool is_output) {
  clear();
  const uint32_t kind = bytes->byte();
  if (kind >= 224) {
    operand_.kind = static_cast<int32_t>(kind % 9);  // 8 is not a kind, and kind 1 has no array
    operand_.dtype = draw_dtype(bytes);
    operand_.value[0] = bytes->value<uint64_t>();
    operand_.value[1] = bytes->value<uint64_t>();
    if (operand_.kind != GUF_OPERAND_TENSOR) return;
  }
  DrawnShape own = shape;
  if (kind % 4 == 1) own = DrawnShape::draw(bytes);
  if (kind % 4 == 2) {  // the operand lacks some leading axes of the shape and has extents of 1, so
                        // it broadcasts to the shape
    const auto dropped =
        static_cast<int32_t>(is_output ? 0 : bytes->below(static_cast<uint32_t>(shape.ndim) + 1));
    own.ndim = shape.ndim - dropped;
    std::copy_n(shape.extent.begin() + dropped, own.ndim, own.extent.begin());
    const auto ones = bytes->value<uint16_t>();
    for (int32_t axis = 0; axis < own.ndim; ++axis) {
      if ((ones >> (axis % 16) & 1) != 0) own.extent[static_cast<size_t>(axis)] = 1;
    }
  }
  draw_exact(bytes, own, draw_dtype(bytes));
}

void DrawnOperand::draw_exact(ByteReader *bytes, const DrawnShape &shape, guf_dtype dtype) {
  shape_ = shape;
  operand_ = {};
  operand_.kind = GUF_OPERAND_TENSOR;
  operand_.tensor = &tensor_;
  tensor_ = {};
  tensor_.struct_size = sizeof tensor_;
  tensor_.dtype = dtype;
  tensor_.ndim = shape.ndim;
  tensor_.flags = bytes->one_in(8) ? bytes->below(4) : 0;
  tensor_.shape = shape_.extent.data();
  draw_strides(bytes);
  place(bytes);
}

void DrawnOperand::draw_strides(ByteReader *bytes) {
  const auto itemsize = static_cast<int64_t>(itemsize_of(tensor_.dtype));
  // 0 and 1 mean C order, 2 means F order, and 3 to 5 mean that the stride of each axis is chosen
  // separately.
  const uint32_t how = bytes->below(6);
  Wide step = itemsize;
  for (int32_t k = 0; k < shape_.ndim; ++k) {
    const auto axis = static_cast<size_t>(how == 2 ? k : shape_.ndim - 1 - k);
    strides_[axis] = static_cast<int64_t>(step);
    step *= std::max<int64_t>(shape_.extent[axis], 1);
    if (step > INT64_MAX / 2) step = itemsize;
    if (how < 3) continue;
    const uint32_t change = bytes->byte();
    if (change % 4 == 1) strides_[axis] = -strides_[axis];
    if (change % 4 == 2) strides_[axis] = 0;
    if (change % 4 == 3) strides_[axis] = bytes->value<int8_t>();
    if (change == 255) strides_[axis] = bytes->value<int64_t>();
  }
  tensor_.strides = how == 0 ? nullptr : strides_.data();
}

void DrawnOperand::place(ByteReader *bytes) {
  const int64_t items = shape_.items(kMaxItems);
  Wide lowest = 0, highest = itemsize_of(tensor_.dtype);
  for (int32_t axis = 0; axis < shape_.ndim; ++axis) {
    const auto k = static_cast<size_t>(axis);
    const Wide reach =
        std::clamp((static_cast<Wide>(shape_.extent[k]) - 1) * strides_[k], -kFurthest, kFurthest);
    if (shape_.extent[k] > 0) (reach < 0 ? lowest : highest) += reach;
  }
  if (items == 0) lowest = highest = 0;  // without elements no byte may be accessed
  const uint32_t where = bytes->byte();
  can_run_ = items <= kMaxItems && highest - lowest <= GuardedMemory::kBytes;
  if (!can_run_) lowest = highest = 0;
  lowest_ = static_cast<int64_t>(lowest);
  highest_ = static_cast<int64_t>(highest);
  const auto nbytes = static_cast<size_t>(highest_ - lowest_);
  unsigned char *const start = memory_.place(nbytes, where % 2 == 0);
  for (size_t i = 0; i < nbytes; ++i) {
    start[i] = static_cast<unsigned char>(tensor_.dtype == GUF_BOOL ? (i + where) & 1
                                                                    : (i * 37 + where) * 11 >> 3);
  }
  tensor_.address = reinterpret_cast<uint64_t>(start - lowest_);
}

void DrawnOperand::overlap(const DrawnOperand &other, ByteReader *bytes) {
  if (operand_.kind != GUF_OPERAND_TENSOR || other.operand_.kind != GUF_OPERAND_TENSOR) return;
  const int64_t own = highest_ - lowest_, others = other.highest_ - other.lowest_;
  if (!can_run_ || !other.can_run_ || own == 0 || own > others) return;
  const int64_t offset = bytes->byte() % (others - own + 1);
  tensor_.address = other.tensor_.address + static_cast<uint64_t>(other.lowest_ + offset - lowest_);
}

void DrawnOperand::fill_indices(ByteReader *bytes, int64_t extent) {
  const auto itemsize = itemsize_of(tensor_.dtype);
  auto *const start = reinterpret_cast<unsigned char *>(tensor_.address) + lowest_;
  const auto nbytes = static_cast<size_t>(highest_ - lowest_);
  const auto limit = static_cast<uint32_t>(std::clamp<int64_t>(extent, 1, 100));
  std::memset(start, 0, nbytes);
  for (size_t i = 0; i + itemsize <= nbytes; i += itemsize) {
    start[i] = static_cast<unsigned char>(bytes->below(limit));
    if (bytes->one_in(64)) start[i] = static_cast<unsigned char>(limit);
    if (bytes->one_in(64)) std::memset(start + i, 0xFF, itemsize);  // an index of -1
  }
}

}  // namespace gufunc::fuzz

// SPDX-License-Identifier: Apache-2.0
// Makes the operands of calls through the C API, on memory that the test owns.
#ifndef GUFUNC_TESTS_SUPPORT_OPERANDS_H
#define GUFUNC_TESTS_SUPPORT_OPERANDS_H

#include <gufunc/gufunc.h>

#include <cstring>
#include <list>
#include <vector>

namespace gufunc {

// The dtype of elements of a C++ type.
template <class T>
inline constexpr guf_dtype kDtypeOf = 0;
template <>
inline constexpr guf_dtype kDtypeOf<float> = GUF_F32;
template <>
inline constexpr guf_dtype kDtypeOf<double> = GUF_F64;
template <>
inline constexpr guf_dtype kDtypeOf<int32_t> = GUF_I32;
template <>
inline constexpr guf_dtype kDtypeOf<uint32_t> = GUF_U32;
template <>
inline constexpr guf_dtype kDtypeOf<int64_t> = GUF_I64;
template <>
inline constexpr guf_dtype kDtypeOf<uint64_t> = GUF_U64;
template <>
inline constexpr guf_dtype kDtypeOf<uint16_t> = GUF_U16;

// Describes the tensor of one operand, and owns its shape and strides.
struct View {
  guf_dtype dtype = GUF_F64;
  const void *data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in bytes; empty means C-contiguous
  uint32_t flags = 0;
  guf_device device = nullptr;
};

template <class T>
View view(guf_dtype dtype, const std::vector<T> &data) {
  return {dtype, data.data(), {static_cast<int64_t>(data.size())}, {}, 0};
}

// Makes an operand that refers to the array, or an absent operand if `array` is NULL.
inline guf_operand operand_of(guf_array array) {
  guf_operand operand = {};
  operand.kind = array == nullptr ? GUF_OPERAND_NONE : GUF_OPERAND_ARRAY;
  operand.array = array;
  return operand;
}

// Makes a scalar operand of dtype float32.
inline guf_operand scalar_of(float value) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_SCALAR;
  operand.dtype = GUF_F32;
  std::memcpy(operand.value, &value, sizeof value);
  return operand;
}

// Makes a scalar operand from the bytes of its value: `low` contains bytes 0 to 7, and `high` bytes
// 8 to 15.
inline guf_operand scalar_of(guf_dtype dtype, uint64_t low, uint64_t high = 0) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_SCALAR;
  operand.dtype = dtype;
  operand.value[0] = low;
  operand.value[1] = high;
  return operand;
}

inline guf_operand weak_int_of(int64_t value) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_WEAK_INT;
  operand.value[0] = static_cast<uint64_t>(value);
  return operand;
}

inline guf_operand weak_float_of(double value) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_WEAK_FLOAT;
  std::memcpy(operand.value, &value, sizeof value);
  return operand;
}

// Makes operands, and keeps the operands and the structs to which they refer. The operands are
// valid until the object is destroyed.
class Operands {
 public:
  const guf_operand *tensor(const View &view) {
    views_.push_back(view);
    const View &kept = views_.back();
    guf_tensor made = {};
    made.struct_size = sizeof made;
    made.dtype = kept.dtype;
    made.ndim = static_cast<int32_t>(kept.shape.size());
    made.flags = kept.flags;
    made.address = reinterpret_cast<uint64_t>(kept.data);
    made.shape = kept.shape.data();
    made.strides = kept.strides.empty() ? nullptr : kept.strides.data();
    made.device = kept.device;
    tensors_.push_back(made);
    guf_operand operand = {};
    operand.kind = GUF_OPERAND_TENSOR;
    operand.tensor = &tensors_.back();
    return keep(operand);
  }
  const guf_operand *weak_int(int64_t value) { return keep(weak_int_of(value)); }
  const guf_operand *weak_float(double value) { return keep(weak_float_of(value)); }
  const guf_operand *none() { return keep({}); }
  const guf_operand *keep(const guf_operand &operand) {
    operands_.push_back(operand);
    return &operands_.back();
  }

 private:
  std::list<View> views_;
  std::list<guf_tensor> tensors_;
  std::list<guf_operand> operands_;
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_SUPPORT_OPERANDS_H

// SPDX-License-Identifier: Apache-2.0
// Evaluates value rules such as "n=value(1)". No other step of an ordinary call reads elements
// before the launch.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/broadcast/core_dims.h"

namespace gufunc::broadcast {
namespace {

using base::kNone;

// An element, converted to an integer if its value is an integer.
struct Number {
  bool whole;
  bool is_negative;
  int64_t value;  // valid if `whole`
};

template <class T>
T load(const unsigned char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Number from_signed(int64_t value) {
  return {true, value < 0, value};
}
Number from_unsigned(uint64_t value) {
  return {value <= static_cast<uint64_t>(INT64_MAX), false, static_cast<int64_t>(value)};
}
Number from_double(double value) {
  const bool whole = value == std::floor(value) && std::fabs(value) < 0x1p62;
  return {whole, value < 0, whole ? static_cast<int64_t>(value) : 0};
}

// Decodes an element. Returns false for dtypes that cannot be sizes, like complex and float16.
bool decode(guf_dtype dtype, const unsigned char *bytes, Number *out) {
  switch (dtype) {
    case GUF_BOOL:
    case GUF_U8:
      *out = from_unsigned(bytes[0]);
      return true;
    case GUF_I8:
      *out = from_signed(static_cast<signed char>(bytes[0]));
      return true;
    case GUF_I16:
      *out = from_signed(load<int16_t>(bytes));
      return true;
    case GUF_U16:
      *out = from_unsigned(load<uint16_t>(bytes));
      return true;
    case GUF_I32:
      *out = from_signed(load<int32_t>(bytes));
      return true;
    case GUF_U32:
      *out = from_unsigned(load<uint32_t>(bytes));
      return true;
    case GUF_I64:
      *out = from_signed(load<int64_t>(bytes));
      return true;
    case GUF_U64:
      *out = from_unsigned(load<uint64_t>(bytes));
      return true;
    case GUF_F32:
      *out = from_double(static_cast<double>(load<float>(bytes)));
      return true;
    case GUF_F64:
      *out = from_double(load<double>(bytes));
      return true;
    default:
      return false;
  }
}

uint64_t count(const array::Layout &layout) {
  uint64_t size = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis)
    size *= static_cast<uint64_t>(layout.shape[axis]);
  return size;
}

}  // namespace

guf_status read_size(const op::CallView &call, const op::DimRule &rule, int64_t *out,
                     guf_error *error) {
  const op::OperandView &operand = call.operand[rule.operand];
  const char *const name = call.ufunc->name.c_str();
  if ((operand.flags & op::kDeviceMemory) != 0) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, rule.operand, kNone,
                      "%s: the rule %s reads argument %d, which is in device memory", name,
                      rule.text.c_str(), rule.operand);
  }
  if (count(operand.layout) != 1) {
    return base::fail(error, GUF_E_VALUE, rule.operand, kNone,
                      "%s: the rule %s needs one value; argument %d: expected 1 values, got %llu",
                      name, rule.text.c_str(), rule.operand,
                      static_cast<unsigned long long>(count(operand.layout)));
  }
  Number number = {false, false, 0};
  if (operand.kind == GUF_OPERAND_WEAK_INT) {
    number = from_signed(static_cast<int64_t>(operand.value[0]));
  } else if (operand.kind == GUF_OPERAND_WEAK_FLOAT) {
    number = from_double(std::bit_cast<double>(operand.value[0]));
  } else {
    unsigned char bytes[16] = {};
    // An element of a structured dtype may be larger, and is never a size.
    const uint32_t size = std::min<uint32_t>(dtype::itemsize(operand.layout.dtype), sizeof bytes);
    const auto *const from = reinterpret_cast<const unsigned char *>(operand.layout.address);
    const bool swapped = (operand.flags & op::kSwapped) != 0;
    for (uint32_t k = 0; k < size; ++k) bytes[k] = from[swapped ? size - 1 - k : k];
    if (!decode(operand.layout.dtype, bytes, &number)) number.whole = false;
  }
  if (!number.whole || number.is_negative) {
    return base::fail(error, GUF_E_VALUE, rule.operand, kNone,
                      "%s: the rule %s needs a size; argument %d: expected an integer in 0..2**62",
                      name, rule.text.c_str(), rule.operand);
  }
  *out = number.value;
  return GUF_OK;
}

}  // namespace gufunc::broadcast

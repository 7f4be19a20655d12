// SPDX-License-Identifier: Apache-2.0
// Conversion of weak scalars to the dtypes of a loop.
#include "core/resolve/weak_scalar.h"

#include <gufunc/kernel/types.hpp>

#include <cinttypes>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace gufunc::resolve {
namespace {

template <class T>
void store(op::OperandView *operand, guf_dtype type, T value) {
  static_assert(sizeof(T) <= sizeof operand->cast_value);
  std::memcpy(operand->cast_value, &value, sizeof value);
  operand->layout.dtype = type;
  operand->layout.address = reinterpret_cast<uint64_t>(operand->cast_value);
}

template <class From>
void store_as(op::OperandView *operand, guf_dtype type, From value) {
  switch (type) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return store(operand, type, guf::cast<guf::element>(value));
#include <gufunc/dtypes.def>
    default:
      return;
  }
}

guf::f64 as_double(uint64_t bits) {
  guf::f64 value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool fits(int64_t value, guf_dtype type) {
  const uint32_t bits = 8 * dtype::itemsize(type);
  if (dtype::is_unsigned(type)) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
}

guf_status out_of_bounds(int64_t value, int32_t index, guf_dtype type, guf_error *error) {
  return base::fail(error, GUF_E_OVERFLOW, index, base::kNone,
                    "Python integer %" PRId64 " out of bounds for %s", value, dtype::name(type));
}

// Reports an int outside int64 with the message of NumPy's conversion to a C type. Integer dtypes
// are converted through long, except that uint32 is converted through unsigned long, so its message
// contains the value if it fits in unsigned long. Datetime types are converted through long long.
[[gnu::cold, gnu::noinline]] guf_status fail_huge(const op::OperandView &operand, int32_t index,
                                                  guf_dtype type, guf_error *error) {
  if (dtype::is_time(type)) {
    return base::fail(error, GUF_E_OVERFLOW, index, base::kNone, "int too big to convert");
  }
  if (type == GUF_U32 && !is_negative_huge(operand) && !is_saturated(operand)) {
    return base::fail(error, GUF_E_OVERFLOW, index, base::kNone,
                      "Python integer %" PRIu64 " out of bounds for uint32", operand.value[0]);
  }
  return base::fail(error, GUF_E_OVERFLOW, index, base::kNone,
                    "Python int too large to convert to C long");
}

guf_status convert_huge(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error) {
  const bool negative = is_negative_huge(*operand);
  if (type == GUF_BOOL || dtype::is_integer(type)) {
    if (type != GUF_U64 || negative || is_saturated(*operand)) {
      return fail_huge(*operand, index, type, error);
    }
    store(operand, type, operand->value[0]);
    return GUF_OK;
  }
  if (is_saturated(*operand)) {
    return base::fail(
        error, GUF_E_OVERFLOW, index, base::kNone,
        "int too large to convert to float; pass an integer beyond uint64 as a float");
  }
  // The conversion is through double, like Python's float(int). The sign is exact.
  const auto size = static_cast<guf::f64>(operand->value[0]);
  store_as(operand, type, negative ? -size : size);
  return GUF_OK;
}

// Converts an int to a number of steps. Other weak scalars do not convert to datetime types, and no
// weak scalar converts to a structured dtype.
guf_status convert_to_time(op::OperandView *operand, int32_t index, guf_dtype type,
                           guf_error *error) {
  if (operand->kind == GUF_OPERAND_WEAK_INT && !dtype::is_structured(type)) {
    store(operand, type, operand->value[0]);
    return GUF_OK;
  }
  if (operand->kind == GUF_OPERAND_WEAK_INT_HUGE && !dtype::is_structured(type)) {
    return fail_huge(*operand, index, type, error);
  }
  if (dtype::is_structured(type)) {
    return base::fail(error, GUF_E_CASTING, index, base::kNone,
                      "a Python scalar cannot become an element of structured dtype '%s'",
                      dtype::name(type));
  }
  return base::fail(error, GUF_E_VALUE, index, base::kNone, "Could not convert object to NumPy %s",
                    dtype::is_datetime(type) ? "datetime" : "timedelta");
}

bool is_true(const op::OperandView &operand) {
  switch (operand.kind) {
    case GUF_OPERAND_WEAK_FLOAT:
      return as_double(operand.value[0]) != 0;
    case GUF_OPERAND_WEAK_COMPLEX:
      return as_double(operand.value[0]) != 0 || as_double(operand.value[1]) != 0;
    default:
      return operand.kind == GUF_OPERAND_WEAK_INT_HUGE || operand.value[0] != 0;
  }
}

}  // namespace

bool adopts(int32_t weak_kind, guf_dtype type) {
  switch (weak_kind) {
    case GUF_OPERAND_WEAK_COMPLEX:
      return dtype::is_complex(type);
    case GUF_OPERAND_WEAK_FLOAT:
      return type != GUF_BOOL && !dtype::is_integer(type) && !dtype::is_extended(type);
    default:
      return type != GUF_BOOL && !dtype::is_extended(type);
  }
}

guf_dtype default_dtype(const op::OperandView &operand, bool alone) {
  switch (operand.kind) {
    case GUF_OPERAND_WEAK_COMPLEX:
      return GUF_C128;
    case GUF_OPERAND_WEAK_FLOAT:
      return GUF_F64;
    case GUF_OPERAND_WEAK_INT_HUGE:
      return alone && !is_negative_huge(operand) && !is_saturated(operand) ? GUF_U64 : GUF_I64;
    default:
      return GUF_I64;
  }
}

guf_status convert(op::OperandView *operand, int32_t index, guf_dtype type, guf_error *error) {
  if (dtype::is_extended(type)) return convert_to_time(operand, index, type, error);
  switch (operand->kind) {
    case GUF_OPERAND_WEAK_INT: {
      const auto value = static_cast<int64_t>(operand->value[0]);
      if (dtype::is_integer(type) && !fits(value, type))
        return out_of_bounds(value, index, type, error);
      // The conversion to floating point is through double, like Python's float(int).
      if (type == GUF_BOOL || dtype::is_integer(type)) {
        store_as(operand, type, static_cast<guf::i64>(value));
      } else {
        store_as(operand, type, static_cast<guf::f64>(value));
      }
      return GUF_OK;
    }
    case GUF_OPERAND_WEAK_INT_HUGE:
      return convert_huge(operand, index, type, error);
    case GUF_OPERAND_WEAK_FLOAT:
      store_as(operand, type, as_double(operand->value[0]));
      return GUF_OK;
    default:
      store_as(operand, type,
               guf::complex<guf::f64>(as_double(operand->value[0]), as_double(operand->value[1])));
      return GUF_OK;
  }
}

guf_status convert_to_default(op::OperandView *operand, int32_t index, guf_error *error) {
  if (!is_weak(*operand)) return GUF_OK;
  GUF_TRY(convert(operand, index, default_dtype(*operand, true), error));
  operand->kind = GUF_OPERAND_SCALAR;
  return GUF_OK;
}

guf_status make_int(double value, int32_t index, op::OperandView *out, guf_error *error) {
  const double whole = std::trunc(value);
  if (std::isnan(whole)) {
    return base::fail(error, GUF_E_VALUE, index, base::kNone,
                      "cannot convert float NaN to integer");
  }
  if (std::isinf(whole)) {
    return base::fail(error, GUF_E_OVERFLOW, index, base::kNone,
                      "cannot convert float infinity to integer");
  }
  if (whole >= -0x1p63 && whole < 0x1p63) {
    out->kind = GUF_OPERAND_WEAK_INT;
    out->value[0] = static_cast<uint64_t>(static_cast<int64_t>(whole));
    out->value[1] = 0;
    return GUF_OK;
  }
  const double size = std::fabs(whole);
  out->kind = GUF_OPERAND_WEAK_INT_HUGE;
  out->value[0] = size < 0x1p64 ? static_cast<uint64_t>(size) : UINT64_MAX;
  out->value[1] = (whole < 0 ? 1U : 0U) | (size < 0x1p64 ? 0U : 2U);
  return GUF_OK;
}

guf_status convert_named(op::OperandView *operand, int32_t index, guf_dtype type,
                         guf_error *error) {
  if (type == GUF_BOOL) {
    store_as(operand, type, static_cast<guf::i64>(is_true(*operand)));
    return GUF_OK;
  }
  if (operand->kind == GUF_OPERAND_WEAK_COMPLEX && !dtype::is_complex(type) &&
      !dtype::is_extended(type)) {
    return base::fail(error, GUF_E_CASTING, index, base::kNone,
                      dtype::is_integer(type)
                          ? "int() argument must be a string, a bytes-like object or a real "
                            "number, not 'complex'"
                          : "float() argument must be a string or a real number, not 'complex'");
  }
  if (operand->kind != GUF_OPERAND_WEAK_FLOAT || !dtype::is_integer(type)) {
    return convert(operand, index, type, error);
  }
  op::OperandView whole = *operand;
  GUF_TRY(make_int(as_double(operand->value[0]), index, &whole, error));
  GUF_TRY(convert(&whole, index, type, error));
  std::memcpy(operand->cast_value, whole.cast_value, sizeof whole.cast_value);
  operand->layout.dtype = type;
  operand->layout.address = reinterpret_cast<uint64_t>(operand->cast_value);
  return GUF_OK;
}

}  // namespace gufunc::resolve

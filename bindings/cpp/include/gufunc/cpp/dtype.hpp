// SPDX-License-Identifier: Apache-2.0
// DTypes, which are made from C++ types or names, and NumPy's rules for casts and promotion.
#ifndef GUFUNC_CPP_DTYPE_HPP
#define GUFUNC_CPP_DTYPE_HPP

#include <gufunc/dtype.h>
#include <gufunc/cpp/error.hpp>

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// The bits of an element of a type that C++17 lacks.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// Returns the dtype of a C++ type: bool, an integer type, float, double, std::complex<float>,
// std::complex<double>, Float16 or BFloat16.
template <class T>
constexpr guf_dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return GUF_BOOL;
  else if constexpr (std::is_same_v<T, float>)
    return GUF_F32;
  else if constexpr (std::is_same_v<T, double>)
    return GUF_F64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return GUF_C64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return GUF_C128;
  else if constexpr (std::is_same_v<T, Float16>)
    return GUF_F16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return GUF_BF16;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                  "no dtype of libgufunc has this C++ type");
    return (std::is_signed_v<T> ? 0U : 1U) | static_cast<guf_dtype>(8 * sizeof(T)) << 8U |
           1U << 16U;
  }
}

// A dtype. The value converts from and to guf_dtype, and values are equal if their guf_dtype are
// equal.
class DType {
 public:
  constexpr DType() = default;
  constexpr DType(guf_dtype value) : value_(value) {}
  constexpr DType(guf_dtype_code value) : value_(value) {}
  template <class T>
  static constexpr DType of() {
    return dtype_of<T>();
  }

  // Parses "float32", "f4", "datetime64[25s]" or the name of a structured dtype. Fails with
  // GUF_E_DTYPE for other texts.
  static Result<DType> parse(const std::string &spelling) {
    detail::Record record;
    guf_dtype found = 0;
    const guf_status status = guf_dtype_parse(spelling.c_str(), &found, record);
    return detail::result(status, record, [&] { return DType(found); });
  }
  // Returns a datetime dtype with a unit. `kind` is GUF_DATETIME64 or GUF_TIMEDELTA64, `unit` a
  // guf_time_unit.
  static Result<DType> time(DType kind, int32_t unit, uint32_t multiple = 1) {
    detail::Record record;
    guf_dtype made = 0;
    const guf_status status = guf_dtype_make_time(kind.value_, unit, multiple, &made, record);
    return detail::result(status, record, [&] { return DType(made); });
  }
  // Registers a structured dtype: an opaque element type whose bytes only the program's own loops
  // interpret. `itemsize` and `alignment` are in bytes.
  static Result<DType> register_dtype(const std::string &name, uint32_t itemsize,
                                      uint32_t alignment) {
    detail::Record record;
    guf_dtype made = 0;
    const guf_status status = guf_dtype_register(name.c_str(), itemsize, alignment, &made, record);
    return detail::result(status, record, [&] { return DType(made); });
  }

  constexpr guf_dtype get() const noexcept { return value_; }
  constexpr operator guf_dtype() const noexcept { return value_; }
  // Returns the name, such as "float32"; "" if the value is not a dtype.
  const char *name() const noexcept {
    const char *text = guf_dtype_name(value_);
    return text == nullptr ? "" : text;
  }
  Result<guf_dtype_info> info() const {
    detail::Record record;
    guf_dtype_info found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_dtype_get_info(value_, &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  struct Unit {
    int32_t unit;  // guf_time_unit
    uint32_t multiple;
  };
  // Returns the unit of a datetime64 or timedelta64. Fails with GUF_E_DTYPE for other dtypes.
  Result<Unit> unit() const {
    detail::Record record;
    Unit found = {};
    const guf_status status = guf_dtype_get_unit(value_, &found.unit, &found.multiple, record);
    return detail::result(status, record, [&] { return found; });
  }

 private:
  guf_dtype value_ = 0;
};

namespace detail {

inline std::string other_elements(DType found, DType expected) {
  return std::string("dtype of the array: expected ") + expected.name() + ", got " + found.name();
}
inline std::string other_count(const char *what, size_t found, size_t expected) {
  return std::string(what) + ": expected " + std::to_string(expected) + ", got " +
         std::to_string(found);
}

}  // namespace detail

// NumPy's can_cast and promote_types.
inline Result<bool> can_cast(DType from, DType to, int32_t casting = GUF_CASTING_SAFE) {
  detail::Record record;
  int32_t possible = 0;
  const guf_status status = guf_dtype_can_cast(from, to, casting, &possible, record);
  return detail::result(status, record, [&] { return possible != 0; });
}
inline Result<DType> promote_types(DType a, DType b) {
  detail::Record record;
  guf_dtype found = 0;
  const guf_status status = guf_dtype_promote(a, b, &found, record);
  return detail::result(status, record, [&] { return DType(found); });
}

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_DTYPE_HPP

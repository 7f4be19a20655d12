// SPDX-License-Identifier: Apache-2.0
// Classifies floating-point numbers by their bits.
#include "backends/cpu/loops/value_class.h"

#include <gufunc/kernel/types.hpp>

#include <cstdint>
#include <cstring>

#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {
namespace {

template <class T>
uint8_t class_of(const char *element) {
  using Format = guf::float_bits<T>;
  using Bits = typename Format::word;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  bits = static_cast<Bits>(bits & ~kSign);
  return static_cast<uint8_t>(
      (bits > Format::infinity ? kIsNaN : 0) | (bits == Format::infinity ? kIsInfinite : 0) |
      (bits == 0 ? kIsZero : 0) | (bits < Format::smallest_normal ? kIsTiny : 0));
}

// Elements of type T: floating-point or complex numbers. Other numbers have no class.
template <class T>
struct Elements {
  static void classify(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
    if constexpr (guf::is_float<T>::value || guf::is_stored_float<T>::value) {
      for (int64_t i = 0; i < count; ++i) {
        classes[i] = static_cast<uint8_t>(classes[i] | class_of<T>(elements + i * step));
      }
    }
  }
};

template <class T>
struct Elements<guf::complex<T>> {
  static void classify(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
    constexpr uint8_t kAny = kIsNaN | kIsInfinite;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t real = class_of<T>(elements + i * step);
      const uint8_t imag = class_of<T>(elements + i * step + sizeof(T));
      classes[i] =
          static_cast<uint8_t>(classes[i] | ((real | imag) & kAny) | (real & imag & kIsZero));
    }
  }
};

void classify_datetimes(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t steps;
    std::memcpy(&steps, elements + i * step, sizeof steps);
    classes[i] = static_cast<uint8_t>(classes[i] | (steps == INT64_MIN ? kIsNaN : 0) |
                                      (steps == 0 ? kIsZero : 0));
  }
}

}  // namespace

void classify(guf_dtype dtype, const char *elements, int64_t step, int64_t count,
              uint8_t *classes) {
  if (is_time(dtype)) return classify_datetimes(elements, step, count, classes);
  switch (dtype) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return Elements<guf::element>::classify(elements, step, count, classes);
#include <gufunc/dtypes.def>
    default:
      return;
  }
}

}  // namespace gufunc::cpu

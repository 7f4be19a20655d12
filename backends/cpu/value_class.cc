// SPDX-License-Identifier: Apache-2.0
// Classifies floating-point numbers by their bits.
#include "backends/cpu/value_class.h"

#include <cstdint>
#include <cstring>

#include "backends/cpu/dtype_layout.h"

namespace gufunc::cpu {
namespace {

// The bit patterns of a floating-point format. Without the sign bit,
// patterns below `Infinity` are finite numbers and patterns above it are NaN.
template <class Bits, Bits Infinity, Bits SmallestNormal>
struct Format {
  using Word = Bits;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

  static uint8_t classify(const char *element) {
    Bits bits;
    std::memcpy(&bits, element, sizeof bits);
    bits = static_cast<Bits>(bits & ~kSign);
    return static_cast<uint8_t>((bits > Infinity ? kIsNaN : 0) |
                                (bits == Infinity ? kIsInfinite : 0) | (bits == 0 ? kIsZero : 0) |
                                (bits < SmallestNormal ? kIsTiny : 0));
  }
};
using Half = Format<uint16_t, 0x7c00, 0x0400>;
using BFloat = Format<uint16_t, 0x7f80, 0x0080>;
using Single = Format<uint32_t, 0x7f800000, 0x00800000>;
using Double = Format<uint64_t, 0x7ff0000000000000, 0x0010000000000000>;

template <class F>
void classify_reals(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
  for (int64_t i = 0; i < count; ++i) {
    classes[i] = static_cast<uint8_t>(classes[i] | F::classify(elements + i * step));
  }
}

template <class F>
void classify_complex(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
  constexpr uint8_t kAny = kIsNaN | kIsInfinite;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t real = F::classify(elements + i * step);
    const uint8_t imag = F::classify(elements + i * step + sizeof(typename F::Word));
    classes[i] =
        static_cast<uint8_t>(classes[i] | ((real | imag) & kAny) | (real & imag & kIsZero));
  }
}

void classify_times(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
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
  if (is_time(dtype)) return classify_times(elements, step, count, classes);
  switch (dtype) {
    case GUF_F16:
      return classify_reals<Half>(elements, step, count, classes);
    case GUF_BF16:
      return classify_reals<BFloat>(elements, step, count, classes);
    case GUF_F32:
      return classify_reals<Single>(elements, step, count, classes);
    case GUF_F64:
      return classify_reals<Double>(elements, step, count, classes);
    case GUF_C64:
      return classify_complex<Single>(elements, step, count, classes);
    case GUF_C128:
      return classify_complex<Double>(elements, step, count, classes);
    default:
      return;
  }
}

}  // namespace gufunc::cpu

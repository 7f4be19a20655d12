// SPDX-License-Identifier: Apache-2.0
// Elements of the host's dtypes as device entries are told of them.
#ifndef GUFUNC_BACKENDS_GPU_ELEMENT_LAYOUT_H
#define GUFUNC_BACKENDS_GPU_ELEMENT_LAYOUT_H

#include <gufunc/backend.h>
#include <gufunc/kernel/device_form.hpp>

#include <bit>
#include <cstdint>

namespace gufunc::gpu {

// Codes from 0x80 on: times of 8 bytes, and records, which say their size.
inline bool is_time(guf_dtype dtype) {
  return (dtype & 0xFE) == 0x80;
}
inline bool is_record(guf_dtype dtype) {
  return (dtype & 0xFF) == 0x82;
}
inline uint32_t dtype_bytes(guf_dtype dtype) {
  if ((dtype & 0x80) != 0) return is_record(dtype) ? dtype >> 8 & 0xFFF : 8;
  return (dtype >> 8 & 0xFF) / 8;
}
inline bool is_complex(guf_dtype dtype) {
  return dtype == GUF_C64 || dtype == GUF_C128;
}

// element_kind of the dialect; kKinds: none of its types.
uint32_t element_kind_of(guf_dtype dtype);

// How elements of a dtype that has a kind lie in memory. `flags`: guf_launch_operand_flag.
inline uint32_t form_of(guf_dtype dtype, uint32_t flags) {
  const bool pair = is_complex(dtype);
  const uint32_t unit = dtype_bytes(dtype) / (pair ? 2 : 1);
  return element_kind_of(dtype) |
         static_cast<uint32_t>(std::countr_zero(unit)) << guf::device::kFormUnit |
         (pair ? uint32_t{guf::device::kFormPair} : 0) |
         ((flags & GUF_LAUNCH_OPERAND_SWAPPED) != 0 ? uint32_t{guf::device::kFormSwapped} : 0) |
         ((flags & GUF_LAUNCH_OPERAND_UNALIGNED) != 0 ? uint32_t{guf::device::kFormLoose} : 0);
}

// Division by 0 < d < 2^31 of numbers below 2^31, as a multiplication.
inline guf::device::divisor divisor_of(uint32_t d) {
  const auto shift = static_cast<uint32_t>(std::bit_width(d - 1));
  const uint64_t magic = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1;
  return {d, static_cast<uint32_t>(magic), shift};
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_ELEMENT_LAYOUT_H

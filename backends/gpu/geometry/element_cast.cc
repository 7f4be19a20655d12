// SPDX-License-Identifier: Apache-2.0
// Chooses casts, as documented for guf_backend_api.convert.
#include "backends/gpu/geometry/element_cast.h"

#include <gufunc/kernel/partial.hpp>

#include <cstring>

#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {

namespace dev = guf::device;

uint32_t kind_of_dtype(guf_dtype dtype) {
  if (is_time(dtype)) return dev::kKindI64;
  switch (dtype) {
#define GUF_DTYPE(NAME, ...) \
  case GUF_##NAME:           \
    return dev::kKind##NAME;
#include <gufunc/dtypes.def>
    default:
      return dev::kKinds;
  }
}

uint32_t partial_bytes(guf_dtype dtype) {
  switch (dtype) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return sizeof(guf::partial_of<guf::element>::type);
#include <gufunc/dtypes.def>
    default:
      return dtype_size(dtype);
  }
}

uint32_t form_of(guf_dtype dtype, uint32_t operand_flags) {
  const uint32_t kind = kind_of_dtype(dtype);
  const bool pair = kind >= dev::kKindC64;
  const uint32_t unit = dtype_size(dtype) / (pair ? 2 : 1);
  uint32_t form = kind | static_cast<uint32_t>(__builtin_ctz(unit)) << dev::kFormUnit;
  if (pair) form |= dev::kFormComplex;
  if (unit > 1 && (operand_flags & GUF_LAUNCH_OPERAND_SWAPPED) != 0) form |= dev::kFormSwapped;
  if (unit > 1 && (operand_flags & GUF_LAUNCH_OPERAND_UNALIGNED) != 0) form |= dev::kFormUnaligned;
  return form;
}

namespace {

uint32_t unit_of_time(guf_dtype time) {
  return time >> 8 & 0xFF;
}
uint32_t multiple_of_time(guf_dtype time) {
  return time >> 16;
}

bool choose_units(guf_dtype from, guf_dtype to, ElementCast *out) {
  if (unit_of_time(from) == GUF_UNIT_GENERIC) return true;
  if (unit_of_time(to) == GUF_UNIT_GENERIC) return false;
  const bool datetimes = (from & 1) == 0;
  out->units = guf::time::conversion_of(datetimes, unit_of_time(from), multiple_of_time(from),
                                        unit_of_time(to), multiple_of_time(to));
  if (out->units.num == 0) return false;
  if (out->units.by_calendar) {
    out->kind = dev::kByCalendar;
  } else if (out->units.denom != 1) {
    out->kind = dev::kByRatio;
  } else if (out->units.num != 1) {
    out->kind = dev::kByFactor;
  }
  out->same = out->kind == dev::kRecast;
  return true;
}

}  // namespace

bool choose_cast(guf_dtype from, guf_dtype to, ElementCast *out) {
  out->kind = dev::kRecast;
  out->same = true;
  if (from == to) return is_structured(from) || kind_of_dtype(from) != dev::kKinds;
  if (is_time(from) && is_time(to) && ((from ^ to) & 0xFF) == 0) {
    return choose_units(from, to, out);
  }
  const uint32_t from_kind = kind_of_dtype(from), to_kind = kind_of_dtype(to);
  if (from_kind == dev::kKinds || to_kind == dev::kKinds) return false;
  out->same = from_kind == to_kind;
  if (is_time(to) && from_kind >= dev::kKindF16) out->kind = dev::kNumberToTime;
  return true;
}

guf_status fail_no_cast(guf_error *error, int operand, guf_dtype from, guf_dtype to) {
  return fail(error, GUF_E_DTYPE, "operand %d: dtype 0x%x has no cast to dtype 0x%x", operand,
              static_cast<unsigned>(from), static_cast<unsigned>(to));
}

dev::raw_element cast_on_host(const void *from, guf_dtype dtype, uint32_t operand_flags,
                              guf_dtype to, const ElementCast &cast) {
  unsigned char bytes[16] = {};
  std::memcpy(bytes, from, dtype_size(dtype));
  dev::raw_element raw;
  std::memcpy(&raw, bytes, sizeof raw);

  return dev::converted(cast.kind, cast.units, form_of(dtype, operand_flags), form_of(to, 0), raw);
}

}  // namespace gufunc::gpu

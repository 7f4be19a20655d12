// SPDX-License-Identifier: Apache-2.0
// C API layer of gufunc/dtype.h.
#include "core/dtype/dtype.h"

#include <cstdio>
#include <cstring>

#include "capi.h"
#include "core/base/struct_size.h"
#include "core/dtype/time_dtype.h"

namespace {

using namespace gufunc;  // NOLINT(google-build-using-namespace): this file is all C API layer

guf_status check_dtype(guf_dtype value, const char *parameter, guf_error *error) {
  if (dtype::valid(value)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone, "%s 0x%08x is not a data type",
                    parameter, value);
}

guf_status check_time(guf_dtype value, guf_error *error) {
  if (dtype::valid_time(value)) return GUF_OK;
  const char *const name = dtype::name(value);
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                    "time 0x%08x (%s) is neither a datetime64 nor a timedelta64", value,
                    name == nullptr ? "no data type" : name);
}

int32_t kind_of(guf_dtype value) {
  if (dtype::is_structured(value)) return GUF_KIND_STRUCTURED;
  if (dtype::is_time(value)) {
    return dtype::is_datetime(value) ? GUF_KIND_DATETIME : GUF_KIND_TIMEDELTA;
  }
  switch (value) {
    case GUF_BOOL:
      return GUF_KIND_BOOL;
    case GUF_BF16:
      return GUF_KIND_BFLOAT;
    default:
      break;
  }
  switch (value & 0xFFU) {
    case 0:
      return GUF_KIND_INT;
    case 1:
      return GUF_KIND_UINT;
    case 2:
      return GUF_KIND_FLOAT;
    default:
      return GUF_KIND_COMPLEX;
  }
}

// Writes NumPy's kind character and the size, such as "f4".
// bool is "b1", bfloat16 is "bf16" and a structured dtype is "V12".
void write_short_name(guf_dtype value, char (&out)[8]) {
  if (value == GUF_BF16) {
    std::memcpy(out, "bf16", sizeof "bf16");
    return;
  }
  const uint32_t bytes = dtype::itemsize(value);
  std::snprintf(out, sizeof out, "%c%u", static_cast<char>(kind_of(value)), bytes & 0xFFFU);
}

}  // namespace

extern "C" {

guf_status guf_dtype_parse(const char *spelling, guf_dtype *out_dtype, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(spelling, "spelling", error));
    GUF_TRY(capi::need(out_dtype, "out_dtype", error));
    return dtype::parse(spelling, out_dtype, error);
  });
}

const char *guf_dtype_name(guf_dtype dtype) {
  return gufunc::dtype::name(dtype);
}

guf_status guf_dtype_get_info(guf_dtype dtype, guf_dtype_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    guf_dtype_info info = {};
    if (dtype::valid(dtype)) {
      info.dtype = dtype;
      info.itemsize = dtype::itemsize(dtype);
      info.alignment = dtype::alignment(dtype);
      info.kind = kind_of(dtype);
      info.letter = dtype::letter(dtype);
      std::strncpy(info.name, dtype::name(dtype), sizeof info.name - 1);
      write_short_name(dtype, info.short_name);
    }
    GUF_TRY(base::check_struct(out_info, "out_info", base::kFirstSize<guf_dtype_info>,
                               base::kMaxStructSize, error));
    GUF_TRY(check_dtype(dtype, "dtype", error));
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_dtype_can_cast(guf_dtype from, guf_dtype to, int32_t casting, int32_t *out_possible,
                              guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_possible, "out_possible", error));
    if (casting < GUF_CASTING_DEFAULT || casting > GUF_CASTING_UNSAFE) {
      return base::fail(
          error, GUF_E_ARG, base::kNone, base::kNone,
          "casting must be one of 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'; got %d", casting);
    }
    GUF_TRY(check_dtype(from, "from", error));
    GUF_TRY(check_dtype(to, "to", error));
    const int rule = casting == GUF_CASTING_DEFAULT ? GUF_CASTING_SAME_KIND : casting;
    *out_possible = dtype::can_cast(from, to, rule) ? 1 : 0;
    return GUF_OK;
  });
}

guf_status guf_dtype_promote(guf_dtype a, guf_dtype b, guf_dtype *out_dtype, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_dtype, "out_dtype", error));
    GUF_TRY(check_dtype(a, "a", error));
    GUF_TRY(check_dtype(b, "b", error));
    return dtype::common_type(a, b, out_dtype, error);
  });
}

guf_status guf_dtype_make_time(guf_dtype time, int32_t unit, uint32_t multiple,
                               guf_dtype *out_dtype, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_dtype, "out_dtype", error));
    GUF_TRY(check_time(time, error));
    if (unit < GUF_UNIT_GENERIC || unit > GUF_UNIT_ATTOSECOND) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "unit is %d, which is not a guf_time_unit", unit);
    }
    const uint32_t most = unit == GUF_UNIT_GENERIC ? 1U : uint32_t{GUF_MAX_UNIT_MULTIPLE};
    if (multiple == 0 || multiple > most) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "multiple: expected 1 to %u, got %u", most, multiple);
    }
    *out_dtype = dtype::make_time(time, static_cast<uint32_t>(unit), multiple);
    return GUF_OK;
  });
}

guf_status guf_dtype_get_unit(guf_dtype time, int32_t *out_unit, uint32_t *out_multiple,
                              guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_unit, "out_unit", error));
    GUF_TRY(capi::need(out_multiple, "out_multiple", error));
    GUF_TRY(check_time(time, error));
    *out_unit = static_cast<int32_t>(dtype::unit(time));
    *out_multiple = dtype::multiple(time);
    return GUF_OK;
  });
}

guf_status guf_dtype_register(const char *name, uint32_t itemsize, uint32_t alignment,
                              guf_dtype *out_dtype, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    GUF_TRY(capi::need(out_dtype, "out_dtype", error));
    return dtype::register_structured(name, itemsize, alignment, out_dtype, error);
  });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The initial value of a reduction. Like NumPy, the library starts every numeric reduction with the
// identity if the ufunc has one. This is visible in results: the sum of -0.0 is 0.0, and
// hypot.reduce of one value is its absolute value.
#include "core/method/initial_value.h"

#include <cstring>
#include <limits>

#include "core/memory/transfer.h"
#include "core/plugin/find_device.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::method {
namespace {

using base::kNone;

// Sets an operand to a weak scalar of the given kind and bits.
void make_number(int32_t kind, uint64_t bits, op::OperandView *out) {
  out->kind = kind;
  out->value[0] = bits;
  out->value[1] = 0;
}

bool make_identity(int32_t identity, op::OperandView *out) {
  switch (identity) {
    case GUF_IDENTITY_ZERO:
      make_number(GUF_OPERAND_WEAK_INT, 0, out);
      return true;
    case GUF_IDENTITY_ONE:
      make_number(GUF_OPERAND_WEAK_INT, 1, out);
      return true;
    case GUF_IDENTITY_MINUS_ONE:
      make_number(GUF_OPERAND_WEAK_INT, UINT64_MAX, out);
      return true;
    case GUF_IDENTITY_MINUS_INF: {
      const double infinity = -std::numeric_limits<double>::infinity();
      uint64_t bits = 0;
      std::memcpy(&bits, &infinity, sizeof bits);
      make_number(GUF_OPERAND_WEAK_FLOAT, bits, out);
      return true;
    }
    default:
      return false;
  }
}

// Rejects an integer as the initial value of a datetime without a unit.
guf_status check_unit(guf_dtype type, guf_error *error) {
  if (type != GUF_DATETIME64) return GUF_OK;
  return base::fail(error, GUF_E_VALUE, 4, kNone,
                    "Converting an integer to a NumPy datetime requires a specified unit");
}

guf_status write_identity(int32_t identity, guf_dtype type, unsigned char *out, bool *out_has,
                          guf_error *error) {
  // The identity is a number, which the library cannot convert to a structured dtype, so there is
  // no initial value.
  if (dtype::is_structured(type)) return GUF_OK;
  if (identity == GUF_IDENTITY_MINUS_ONE && dtype::is_unsigned(type)) {  // all bits are set
    std::memset(out, 0xFF, dtype::itemsize(type));
    *out_has = true;
    return GUF_OK;
  }
  op::OperandView number = {};
  if (!make_identity(identity, &number)) return GUF_OK;
  GUF_TRY(check_unit(type, error));
  GUF_TRY(resolve::convert(&number, kNone, type, error));
  std::memcpy(out, number.cast_value, sizeof number.cast_value);
  *out_has = true;
  return GUF_OK;
}

// Reports an initial value with dimensions. NumPy converts the value to a Python value of the
// dtype, so the message depends on the dtype.
[[gnu::cold, gnu::noinline]] guf_status fail_sequence(int32_t ndim, guf_dtype type,
                                                      guf_error *error) {
  const char *text = "setting an array element with a sequence.";
  if (dtype::is_complex(type))
    text = "only 0-dimensional arrays can be converted to Python scalars";
  if (dtype::is_datetime(type)) text = "Could not convert object to NumPy datetime";
  if (dtype::is_timedelta(type)) text = "Could not convert object to NumPy timedelta";
  return base::fail(error, dtype::is_complex(type) ? GUF_E_CASTING : GUF_E_VALUE, 4, kNone,
                    "%s; initial: expected 0 dimensions, got %d", text, ndim);
}

guf_status check_given(const op::OperandView &initial, guf_dtype type, guf_error *error) {
  if (!resolve::is_weak(initial)) {
    const guf_dtype own = initial.layout.dtype;
    if (!dtype::can_cast(own, type, GUF_CASTING_UNSAFE))
      return fail_initial_cast(own, type, 4, "initial", error);
  }
  if (initial.layout.ndim != 0) return fail_sequence(initial.layout.ndim, type, error);
  if (initial.device != nullptr && !initial.device->host_memory) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, 4, kNone,
                      "initial is in the memory of %s, which the host cannot read",
                      initial.device->spec.c_str());
  }
  return GUF_OK;
}

// Reads the initial value from an array or from a scalar with a dtype.
guf_status read_element(ReduceView &view, guf_dtype type, unsigned char *out, guf_error *error) {
  const op::OperandView &initial = view.initial;
  if (view.call.stream != nullptr && (initial.flags & op::kScalar) == 0) {
    backend::wait_quietly(*view.call.stream);
  }
  const bool swapped = (initial.flags & op::kSwapped) != 0;
  if (initial.layout.dtype == type && !swapped) {
    std::memcpy(out, reinterpret_cast<const void *>(initial.layout.address), dtype::itemsize(type));
    return GUF_OK;
  }
  if (initial.kind == GUF_OPERAND_SCALAR) {
    GUF_TRY(dtype::check_time_scalar(initial.layout.dtype, type, 4, error));
  }
  GUF_TRY(dtype::check_cast(initial.layout.dtype, type, error));
  backend::Device *host = nullptr;
  GUF_TRY(plugin::cpu_device(&host, error));
  const memory::CopyOperand to = {{type, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(out)},
                                  false};
  const memory::CopyOperand from = {initial.layout, swapped};
  return memory::convert(*host, nullptr, to, from, error);
}

// Converts a scalar with a dtype to a weak int. For a reduction in a signed integer dtype, NumPy
// converts the scalar to a Python int. The conversion fails for a datetime value that NumPy
// converts to a Python date or duration, because Python cannot convert these objects to int.
guf_status make_number_of(ReduceView &view, op::OperandView *out, guf_error *error) {
  const guf_dtype type = view.initial.layout.dtype;
  unsigned char bytes[16];
  if (dtype::is_time(type)) {
    GUF_TRY(read_element(view, type, bytes, error));
    int64_t steps = 0;
    std::memcpy(&steps, bytes, sizeof steps);
    if (const char *const name = dtype::python_type(type, steps)) {
      return base::fail(error, GUF_E_CASTING, 4, kNone,
                        "int() argument must be a string, a bytes-like object or a real number, "
                        "not '%s'",
                        name);
    }
    make_number(GUF_OPERAND_WEAK_INT, static_cast<uint64_t>(steps), out);
    return GUF_OK;
  }
  if (type == GUF_BOOL || dtype::is_integer(type)) {
    const guf_dtype wide = type == GUF_U64 ? GUF_U64 : GUF_I64;
    GUF_TRY(read_element(view, wide, bytes, error));
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    const bool huge = type == GUF_U64 && bits > INT64_MAX;
    make_number(huge ? GUF_OPERAND_WEAK_INT_HUGE : GUF_OPERAND_WEAK_INT, bits, out);
    return GUF_OK;
  }
  GUF_TRY(read_element(view, GUF_F64, bytes, error));
  double value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return resolve::make_int(value, 4, out, error);
}

// Returns whether NumPy converts the initial value through Python's int, which may fail.
bool converts_through_int(const op::OperandView &initial, guf_dtype type) {
  return initial.kind == GUF_OPERAND_SCALAR && !dtype::is_complex(initial.layout.dtype) &&
         dtype::is_signed(type) && initial.layout.dtype != type;
}

guf_status write_given(ReduceView &view, guf_dtype type, unsigned char *out, guf_error *error) {
  op::OperandView &initial = view.initial;
  GUF_TRY(check_given(initial, type, error));
  if (converts_through_int(initial, type)) {
    op::OperandView number = {};
    GUF_TRY(make_number_of(view, &number, error));
    initial = number;
  }
  if (!resolve::is_weak(initial)) return read_element(view, type, out, error);
  if (resolve::is_weak_int(initial)) GUF_TRY(check_unit(type, error));
  GUF_TRY(resolve::convert_named(&initial, 4, type, error));
  std::memcpy(out, initial.cast_value, sizeof initial.cast_value);
  return GUF_OK;
}

}  // namespace

guf_status fail_initial_cast(guf_dtype from, guf_dtype to, int32_t argument, const char *what,
                             guf_error *error) {
  base::Text found, expected;
  dtype::spell(from, false, &found);
  dtype::spell(to, false, &expected);
  return base::fail(error, GUF_E_CASTING, argument, kNone,
                    "Cannot cast array data from dtype('%s') to dtype('%s').; %s", found.c_str(),
                    expected.c_str(), what);
}

guf_status find_initial_value(ReduceView &view, guf_dtype type, Elements elements,
                              unsigned char *out, bool *out_has, guf_error *error) {
  *out_has = false;
  switch (view.initial_kind) {
    case Initial::kNone:
      return GUF_OK;
    case Initial::kIdentity:
      return write_identity(view.call.ufunc->identity, type, out, out_has, error);
    default:
      *out_has = true;
      if (elements == Elements::kNotRead && (view.initial.flags & op::kScalar) == 0) {
        GUF_TRY(check_given(view.initial, type, error));
        return dtype::check_cast(view.initial.layout.dtype, type, error);
      }
      return write_given(view, type, out, error);
  }
}

}  // namespace gufunc::method

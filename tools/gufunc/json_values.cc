// SPDX-License-Identifier: Apache-2.0
// Converts all elements of a result to JSON, nested like its shape.
#include "json_values.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "outcome.h"
#include "owned_handle.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

using nlohmann::ordered_json;

// JSON cannot represent infinities and NaN. Python's float() reads these strings; in JavaScript a
// lookup table may be needed.
ordered_json to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}
ordered_json to_json(std::complex<double> value) {
  return ordered_json::array({to_json(value.real()), to_json(value.imag())});
}
ordered_json to_json(int64_t value) {
  return value;
}
ordered_json to_json(uint64_t value) {
  return value;
}
ordered_json to_json(std::byte value) {
  return value != std::byte{0};
}

template <class T>
ordered_json nested(const guf_array_info &info, int32_t axis, const T *&next) {
  if (axis == info.ndim) return to_json(*next++);
  ordered_json list = ordered_json::array();
  for (int64_t i = 0; i < info.shape[axis]; ++i) list.push_back(nested(info, axis + 1, next));
  return list;
}

// Returns the elements of `array` as T after a cast to `dtype`, which must represent all of them.
// Elements of datetime types become their number of steps.
template <class T>
ordered_json values_as(guf_array array, guf_dtype dtype, const guf_array_info &info,
                       int32_t casting = GUF_CASTING_SAFE) {
  Call call;
  ArrayHandle wide;
  call.check(
      guf_array_astype(array, dtype, casting, GUF_ORDER_C, nullptr, wide.out(), call.error()));
  std::vector<T> values(info.size);
  call.check(guf_array_copy_to_host(wide.get(), values.data(), info.size * sizeof(T), GUF_ORDER_C,
                                    nullptr, call.error()));
  const T *next = values.data();
  return nested(info, 0, next);
}

}  // namespace

void print_json(const ordered_json &value) {
  write_output(value.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
}

ordered_json values_json(const guf_operand &operand) {
  guf_array array = operand.array;
  ArrayHandle wrapped;
  Call call;
  if (array == nullptr) {
    call.check(guf_array_wrap(operand.tensor, nullptr, nullptr, 0, wrapped.out(), call.error()));
    array = wrapped.get();
  }
  guf_array_info info = {};
  info.struct_size = sizeof info;
  call.check(guf_array_get_info(array, &info, call.error()));
  guf_dtype_info dtype = {};
  dtype.struct_size = sizeof dtype;
  call.check(guf_dtype_get_info(info.dtype, &dtype, call.error()));
  switch (dtype.kind) {
    case GUF_KIND_BOOL:
      return values_as<std::byte>(array, GUF_BOOL, info);
    case GUF_KIND_INT:
      return values_as<int64_t>(array, GUF_I64, info);
    case GUF_KIND_DATETIME:
    case GUF_KIND_TIMEDELTA:
      return values_as<int64_t>(array, GUF_I64, info, GUF_CASTING_UNSAFE);
    case GUF_KIND_UINT:
      return values_as<uint64_t>(array, GUF_U64, info);
    case GUF_KIND_COMPLEX:
      return values_as<std::complex<double>>(array, GUF_C128, info);
    default:
      return values_as<double>(array, GUF_F64, info);
  }
}

}  // namespace gufunc::cli

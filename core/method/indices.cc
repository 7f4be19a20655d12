// SPDX-License-Identifier: Apache-2.0
// Reads integers of any width, alignment and byte order.
#include "core/method/indices.h"

#include <cstring>

#include "core/backend/backend.h"

namespace gufunc::method {
namespace {

template <class T>
T load(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

guf_status make_readable(const op::OperandView &operand, backend::Stream *stream, int32_t index,
                         guf_error *error) {
  if ((operand.flags & op::kScalar) != 0) return GUF_OK;
  if (operand.device != nullptr && !operand.device->host_memory) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, index, base::kNone,
                      "the indices are in the memory of %s, which the host cannot read",
                      operand.device->spec.c_str());
  }
  if (stream != nullptr) backend::wait_quietly(*stream);
  return GUF_OK;
}

int64_t read_index(guf_dtype type, bool swapped, uint64_t address) {
  const auto *const from = reinterpret_cast<const void *>(address);
  const bool is_signed = dtype::is_signed(type);
  switch (dtype::itemsize(type)) {
    case 8: {
      const auto value = load<uint64_t>(from);
      return static_cast<int64_t>(swapped ? __builtin_bswap64(value) : value);
    }
    case 4: {
      const auto value = swapped ? __builtin_bswap32(load<uint32_t>(from)) : load<uint32_t>(from);
      return is_signed ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
    }
    case 2: {
      const auto value = swapped ? __builtin_bswap16(load<uint16_t>(from)) : load<uint16_t>(from);
      return is_signed ? static_cast<int16_t>(value) : static_cast<int64_t>(value);
    }
    default: {
      const auto value = load<uint8_t>(from);
      return is_signed ? static_cast<int8_t>(value) : static_cast<int64_t>(value);
    }
  }
}

}  // namespace gufunc::method

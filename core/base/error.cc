// SPDX-License-Identifier: Apache-2.0
// Formats failures into the caller's record.
#include "core/base/error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gufunc::base {
namespace {

// Keeps the text valid UTF-8 after a cut: drops a trailing incomplete sequence.
void trim_partial_character(char *text) {
  size_t end = std::strlen(text);
  size_t start = end;
  while (start > 0 && (static_cast<unsigned char>(text[start - 1]) & 0xC0U) == 0x80U) --start;
  if (start == 0) return;
  const auto lead = static_cast<unsigned char>(text[start - 1]);
  const size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (end - (start - 1) < wanted) text[start - 1] = '\0';
}

void write(guf_error *error, guf_status status, int argument, int axis, int native_code,
           const char *format, va_list args) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return;
  error->status = status;
  error->argument = argument;
  error->axis = axis;
  error->native_code = native_code;
  error->reserved = 0;
  const int written = std::vsnprintf(error->message, sizeof error->message, format, args);
  if (written < 0) error->message[0] = '\0';
  if (written >= static_cast<int>(sizeof error->message)) trim_partial_character(error->message);
}

}  // namespace

guf_status fail(guf_error *error, guf_status status, int argument, int axis, const char *format,
                ...) {
  va_list args;
  va_start(args, format);
  write(error, status, argument, axis, 0, format, args);
  va_end(args);
  return status;
}

guf_status fail_native(guf_error *error, guf_status status, int argument, int axis, int native_code,
                       const char *format, ...) {
  va_list args;
  va_start(args, format);
  write(error, status, argument, axis, native_code, format, args);
  va_end(args);
  return status;
}

Text &Text::add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const size_t room = sizeof buffer_ - length_;
  const int written = std::vsnprintf(buffer_ + length_, room, format, args);
  va_end(args);
  if (written > 0) length_ += std::min(static_cast<size_t>(written), room - 1);
  return *this;
}

Text &Text::add_shape(const int64_t *shape, int32_t ndim) {
  add("(");
  for (int32_t axis = 0; axis < ndim; ++axis) {
    add(axis + 1 < ndim || ndim == 1 ? "%lld," : "%lld", static_cast<long long>(shape[axis]));
  }
  return add(")");
}

}  // namespace gufunc::base

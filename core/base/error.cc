// SPDX-License-Identifier: Apache-2.0
// Formats errors into the caller's guf_error.
#include "core/base/error.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "core/base/utf8.h"

namespace gufunc::base {
namespace {

void write(guf_error *error, guf_status status, int argument, int axis, int native_code,
           const char *format, va_list args) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return;
  error->status = status;
  error->argument = argument;
  error->axis = axis;
  error->native_code = native_code;
  error->reserved = 0;
  // The buffer is 3 bytes longer than the message. If vsnprintf splits a UTF-8 character, the split
  // character is therefore beyond the end of the message.
  char text[sizeof error->message + 3];
  if (std::vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
  copy_harmless(error->message, sizeof error->message, text);
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

guf_status copy_error(guf_status status, const guf_error &details, guf_error *error) {
  const bool has_details = details.status == status;
  return fail_native(error, status, has_details ? details.argument : kNone,
                     has_details ? details.axis : kNone, details.native_code, "%s",
                     details.message[0] != '\0' ? details.message : "no reason given");
}

guf_status status_of_errno(int code) {
  return code == ENOMEM ? GUF_E_NO_MEMORY : GUF_E_IO;
}

bool is_shortage(guf_status status, int32_t native_code) {
  return status == GUF_E_NO_MEMORY ||
         (status == GUF_E_IO && (native_code == EMFILE || native_code == ENFILE));
}

void make_harmless(guf_error *error) {
  const std::string_view message(error->message,
                                 strnlen(error->message, sizeof error->message - 1));
  const char *const end = message.data() + message.size();
  const char *at = message.data();
  while (const size_t known = harmless_length(at, static_cast<size_t>(end - at))) at += known;
  error->message[message.size()] = '\0';
  if (at == end) return;
  const guf_error copy = *error;
  copy_harmless(error->message, sizeof error->message, {copy.message, message.size()});
}

Text &Text::add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char text[sizeof buffer_ + 3];
  if (std::vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
  va_end(args);
  length_ += copy_harmless(buffer_ + length_, sizeof buffer_ - length_, text);
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

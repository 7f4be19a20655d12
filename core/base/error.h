// SPDX-License-Identifier: Apache-2.0
// How failure travels: a status returned, details written once into the caller's record.
#ifndef GUFUNC_CORE_BASE_ERROR_H
#define GUFUNC_CORE_BASE_ERROR_H

#include <gufunc/status.h>

// Returns a failure to the caller. The details were written where the failure was found.
#define GUF_TRY(expression)                              \
  do {                                                   \
    if (const guf_status guf_try_status = (expression);  \
        __builtin_expect(guf_try_status != GUF_OK, 0)) { \
      return guf_try_status;                             \
    }                                                    \
  } while (false)

namespace gufunc::base {

// No argument or axis is at fault.
inline constexpr int kNone = -1;

// Writes the failure into `error` (NULL, or a wrong struct_size: nothing is written) and returns
// `status`. The message is valid UTF-8, and cut before a character that does not fit. Allocates
// nothing.
[[gnu::cold, gnu::noinline, gnu::format(printf, 5, 6)]] guf_status fail(guf_error *error,
                                                                        guf_status status,
                                                                        int argument, int axis,
                                                                        const char *format, ...);

// The same with the operating system's or a vendor's own code.
[[gnu::cold, gnu::noinline, gnu::format(printf, 6, 7)]] guf_status fail_native(
    guf_error *error, guf_status status, int argument, int axis, int native_code,
    const char *format, ...);

// Makes the message of a failure that others composed (a plugin, a hook) valid UTF-8.
[[gnu::cold, gnu::noinline]] void make_utf8(guf_error *error);

// A bounded text under construction, for messages that list things. Cuts silently at its end.
class Text {
 public:
  [[gnu::format(printf, 2, 3)]] Text &add(const char *format, ...);
  Text &add_shape(const int64_t *shape, int32_t ndim);  // NumPy's spelling: (), (3,), (2,3)
  const char *c_str() const { return buffer_; }

 private:
  char buffer_[400] = {};
  size_t length_ = 0;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_ERROR_H

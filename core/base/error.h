// SPDX-License-Identifier: Apache-2.0
// Error reporting: a function returns a status and writes the details into the caller's guf_error.
#ifndef GUFUNC_CORE_BASE_ERROR_H
#define GUFUNC_CORE_BASE_ERROR_H

#include <gufunc/status.h>

// Returns from the enclosing function if the status is not GUF_OK. Does not write the guf_error,
// because the function that detected the error has written it.
#define GUF_TRY(expression)                              \
  do {                                                   \
    if (const guf_status guf_try_status = (expression);  \
        __builtin_expect(guf_try_status != GUF_OK, 0)) { \
      return guf_try_status;                             \
    }                                                    \
  } while (false)

namespace gufunc::base {

// Value of `argument` or `axis` for errors that concern no single argument or axis.
inline constexpr int kNone = -1;

// Writes the details into `error` and returns `status`. Writes nothing if `error` is NULL
// or its struct_size is wrong. The message is valid UTF-8 and is truncated before a
// character that does not fit. Allocates nothing.
[[gnu::cold, gnu::noinline, gnu::format(printf, 5, 6)]] guf_status fail(guf_error *error,
                                                                        guf_status status,
                                                                        int argument, int axis,
                                                                        const char *format, ...);

// Like fail(), and records an error code of the operating system or of a vendor's driver.
[[gnu::cold, gnu::noinline, gnu::format(printf, 6, 7)]] guf_status fail_native(
    guf_error *error, guf_status status, int argument, int axis, int native_code,
    const char *format, ...);

// Copies `details` to `error` and returns `status`. `details` is the guf_error that was passed to a
// call that returned `status`. The call may have written nothing to `details`.
[[gnu::cold, gnu::noinline]] guf_status copy_error(guf_status status, const guf_error &details,
                                                   guf_error *error);

// Returns the status for an error code of the operating system: GUF_E_NO_MEMORY for ENOMEM,
// GUF_E_IO for all others.
guf_status status_of_errno(int code);

// Returns whether a failure was caused by a lack of memory or of file descriptors. Such a failure
// may be temporary, so its outcome must not be cached, and the next call must try again.
bool is_shortage(guf_status status, int32_t native_code);

// Escapes the message in `error` like copy_harmless. Used for messages that a plugin or a hook
// wrote.
[[gnu::cold, gnu::noinline]] void make_harmless(guf_error *error);

// A bounded text buffer for messages that contain lists. Text beyond its capacity is dropped.
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

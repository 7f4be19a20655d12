// SPDX-License-Identifier: Apache-2.0
#ifndef GUFUNC_TESTS_SUPPORT_FRESH_ERROR_H
#define GUFUNC_TESTS_SUPPORT_FRESH_ERROR_H

#include <gufunc/status.h>

// Returns an error record that reports no error and that a function of the library may fill in.
inline guf_error fresh_error() {
  guf_error error = {};
  error.struct_size = sizeof error;
  return error;
}

#endif  // GUFUNC_TESTS_SUPPORT_FRESH_ERROR_H

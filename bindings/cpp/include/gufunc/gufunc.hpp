// SPDX-License-Identifier: Apache-2.0
// The C interface for C++17, with handles that release themselves and operands made from
// containers. Failures are exceptions or, with GUFUNC_NO_EXCEPTIONS, values (gufunc/cpp/error.hpp).
// The C headers specify what each function does and how it fails.
#ifndef GUFUNC_GUFUNC_HPP
#define GUFUNC_GUFUNC_HPP

#include <gufunc/gufunc.h>
#include <gufunc/cpp/module.hpp>
#include <gufunc/cpp/ufunc.hpp>

#endif  // GUFUNC_GUFUNC_HPP

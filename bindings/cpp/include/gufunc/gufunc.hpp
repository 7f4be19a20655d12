// SPDX-License-Identifier: Apache-2.0
// The C ABI for C++17: handles that release themselves, operands made from containers, and failures
// as exceptions or, with GUFUNC_NO_EXCEPTIONS, as values (gufunc/cpp/error.hpp). The C headers
// specify what each function does and how it fails.
#ifndef GUFUNC_GUFUNC_HPP
#define GUFUNC_GUFUNC_HPP

#include <gufunc/gufunc.h>
#include <gufunc/cpp/module.hpp>
#include <gufunc/cpp/ufunc.hpp>

#endif  // GUFUNC_GUFUNC_HPP

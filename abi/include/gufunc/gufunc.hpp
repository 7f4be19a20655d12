// SPDX-License-Identifier: Apache-2.0
// The C ABI as C++17: handles that release themselves, operands made from containers, failures as
// exceptions or, with GUFUNC_NO_EXCEPTIONS, as values (gufunc/cpp/error.hpp). What a function does
// and how it fails stands in the C header of its noun.
#ifndef GUFUNC_GUFUNC_HPP
#define GUFUNC_GUFUNC_HPP

#include <gufunc/gufunc.h>
#include <gufunc/cpp/module.hpp>
#include <gufunc/cpp/ufunc.hpp>

#endif  // GUFUNC_GUFUNC_HPP

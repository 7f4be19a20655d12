// SPDX-License-Identifier: Apache-2.0
// Functions of cpp_noexcept_values.cc, which is built with GUFUNC_NO_EXCEPTIONS, for a program that
// is built without this macro.
#ifndef GUFUNC_TESTS_CPP_NOEXCEPT_VALUES_H
#define GUFUNC_TESTS_CPP_NOEXCEPT_VALUES_H

#include <gufunc/status.h>

#include <string>
#include <vector>

guf_status status_by_value(const char *name);
double sum_by_value(double a, double b);
std::vector<std::string> names_of_types_by_value();

#endif  // GUFUNC_TESTS_CPP_NOEXCEPT_VALUES_H

// SPDX-License-Identifier: Apache-2.0
// The part of cpp_noexcept_test.cc's program that uses failures as values.
#define GUFUNC_NO_EXCEPTIONS
#include "cpp_noexcept_values.h"

#include <gufunc/gufunc.hpp>

#include <typeinfo>

namespace {

// A call through a pointer is not inlined, so it runs the function that the linker kept.
gufunc::Expected<gufunc::Ufunc> (*volatile find)(const std::string &,
                                                 guf_context) = &gufunc::Ufunc::find;

}  // namespace

guf_status status_by_value(const char *name) {
  const auto found = find(name, nullptr);
  return found.has_value() ? GUF_OK : found.error().status();
}

double sum_by_value(double a, double b) {
  double inputs[] = {a, b}, sum = 0;
  const auto add = find("add", nullptr);
  return add && add->reduce_into(inputs, gufunc::Operand(&sum, {})) ? sum : -1;
}

std::vector<std::string> names_of_types_by_value() {
  return {typeid(gufunc::Ufunc).name(), typeid(gufunc::Array).name(), typeid(gufunc::Error).name(),
          typeid(gufunc::Operand).name(), typeid(gufunc::detail::Record).name()};
}

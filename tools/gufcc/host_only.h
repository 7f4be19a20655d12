// SPDX-License-Identifier: Apache-2.0
// Code that only a host has, found in what a kernel was compiled to: it would build for the cpu and
// for no device.
#ifndef GUFUNC_TOOLS_GUFCC_HOST_ONLY_H
#define GUFUNC_TOOLS_GUFCC_HOST_ONLY_H

#include <string>
#include <vector>

#include "object_file.h"

namespace gufunc::gufcc {

struct HostOnly {
  std::string symbol;   // mangled; empty: of the object as a whole
  std::string message;  // what it is and what to use instead
};

// Calls of functions that are neither the kernel's own nor the compiler's, variables, constructors
// of static objects, addresses of functions. Empty: a device could have all of it, but for printing
// where that is allowed.
std::vector<HostOnly> find_host_only(const ObjectFile &object, bool may_print = false);

// "f(float)" of "_Z1ff"; a C name as it is.
std::string demangled(const std::string &symbol);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_HOST_ONLY_H

// SPDX-License-Identifier: Apache-2.0
// Finds code in a compiled kernel that only a host can run. Such code would compile for the cpu but
// for no device.
#ifndef GUFUNC_TOOLS_GUFCC_HOST_ONLY_H
#define GUFUNC_TOOLS_GUFCC_HOST_ONLY_H

#include <string>
#include <vector>

#include "object_file.h"

namespace gufunc::gufcc {

struct HostOnly {
  std::string symbol;   // mangled; empty: the object as a whole
  std::string message;  // what was found and what to use instead
};

// Reports variables, constructors of static objects, addresses of functions, and calls of functions
// that neither the kernel nor the compiler defines. An empty result means that a device can run the
// code. If `may_print` is true, calls of printing functions are allowed.
std::vector<HostOnly> find_host_only(const ObjectFile &object, bool may_print = false);

// Returns "f(float)" for "_Z1ff". C names are returned unchanged.
std::string demangled(const std::string &symbol);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_HOST_ONLY_H

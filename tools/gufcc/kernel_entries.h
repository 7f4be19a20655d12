// SPDX-License-Identifier: Apache-2.0
// Parses the registrations of raw kernels, and generates their entries.
#ifndef GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H
#define GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H

#include "registration.h"
#include "targets.h"

namespace gufunc::gufcc {

// Parses GUF_KERNEL(function, options...).
bool add_kernel(const RawRegistration &raw, Module *module, Diagnostics *diagnostics);

// Symbol of a host entry: "guf_rk_scale__v3".
std::string kernel_entry_name(const RawKernel &kernel, const Target &target);
// Symbol of the parameter record, which the table points to.
std::string kernel_parameters_name(const RawKernel &kernel);

// Returns the host entries of raw kernels, to be appended to the other host entries of a source.
std::string host_kernel_entries(const std::vector<const RawKernel *> &kernels,
                                const Target &target);

// Returns the struct `callee` that a device entry uses. The entry receives a `callee::arguments` by
// value and calls `callee::call`.
std::string device_kernel_callee(const RawKernel &kernel, const std::string &callee);

// Static assertions with the line numbers of the registrations (see generate_call_probes).
std::string kernel_call_probes(const std::vector<const RawKernel *> &kernels);

// A host translation unit that defines the parameter records of these kernels of `source`.
std::string kernel_parameters(const std::string &source,
                              const std::vector<const RawKernel *> &kernels);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H

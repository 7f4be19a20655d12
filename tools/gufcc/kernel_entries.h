// SPDX-License-Identifier: Apache-2.0
// Raw kernels: their registrations, and the texts of their entries.
#ifndef GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H
#define GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H

#include "registration.h"
#include "targets.h"

namespace gufunc::gufcc {

// Reads GUF_KERNEL(function, options...).
bool add_kernel(const RawRegistration &raw, Module *module, Diagnostics *diagnostics);

// The symbol of a host entry: "guf_rk_scale__v3".
std::string kernel_entry_name(const RawKernel &kernel, const Target &target);
// Of the record of its parameters, which the table points at.
std::string kernel_parameters_name(const RawKernel &kernel);

// Text behind that of a source's other host entries.
std::string host_kernel_entries(const std::vector<const RawKernel *> &kernels,
                                const Target &target);

// What the entry of a device calls and takes by value: `callee::call` and `callee::arguments`.
std::string device_kernel_callee(const RawKernel &kernel, const std::string &callee);

// Static assertions on the registrations' lines (see generate_call_probes).
std::string kernel_call_probes(const std::vector<const RawKernel *> &kernels);

// A translation unit of the host that defines the records of these kernels of `source`.
std::string kernel_parameters(const std::string &source,
                              const std::vector<const RawKernel *> &kernels);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_KERNEL_ENTRIES_H

// SPDX-License-Identifier: Apache-2.0
// Parses signature, rules and roles of a registration with the parser that the library uses to load
// modules, so that every module that gufcc accepts also loads.
#ifndef GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H
#define GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H

#include "core/op/signature.h"
#include "registration_options.h"

namespace gufunc::gufcc {

// Reads the operand counts, core dimensions, rules and roles of a generalized function.
bool read_form(const Place &place, const std::string &signature, const RegistrationOptions &options,
               Function *function, Diagnostics *diagnostics);

// Sets the roles of an elementwise function, whose operand counts must already be set.
bool read_elementwise_form(const Place &place, Function *function, Diagnostics *diagnostics);

// Returns the signature of a function that read_form or read_elementwise_form has read.
op::Signature form_of(const Function &function);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H

// SPDX-License-Identifier: Apache-2.0
// What signature, rules and roles of a registration say, as the library reads them when it loads
// the module: with its own parser, so that what gufcc takes also loads.
#ifndef GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H
#define GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H

#include "core/op/signature.h"
#include "registration_options.h"

namespace gufunc::gufcc {

// Of a generalized function: its counts, core dimensions, rules and roles.
bool read_form(const Place &place, const std::string &signature, const RegistrationOptions &options,
               Function *function, Diagnostics *diagnostics);

// Of an elementwise function, whose counts the types gave.
bool read_elementwise_form(const Place &place, Function *function, Diagnostics *diagnostics);

// The form of a function that one of the above has read.
op::Signature form_of(const Function &function);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REGISTRATION_FORM_H

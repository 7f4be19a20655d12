// SPDX-License-Identifier: Apache-2.0
// The option strings of a registration: "key" or "key=value". Registrations with the same name form
// one function and share its options.
#ifndef GUFUNC_TOOLS_GUFCC_REGISTRATION_OPTIONS_H
#define GUFUNC_TOOLS_GUFCC_REGISTRATION_OPTIONS_H

#include "fp_mode.h"
#include "registration.h"

namespace gufunc::gufcc {

struct RegistrationOptions {
  std::string name, doc, rules, failure, merge, finish, batch, identity = "none";
  std::vector<Role> roles;
  bool inplace_safe = false, commutative = false, associative = false, group = false;
  bool underflows = false, divides = false, accepts_empty = false, overwrites = false;
  bool keeps_precision = false;
  FpMode fp = FpMode::kStrict;
};

bool parse_options(const Place &place, const std::vector<std::string> &texts,
                   RegistrationOptions *options, Diagnostics *diagnostics);

// Refuses a registration `added` whose options differ from `known`. Each registration may leave out
// doc and failure.
bool merge_options(Function *known, const Function &added, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REGISTRATION_OPTIONS_H

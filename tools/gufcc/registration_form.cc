// SPDX-License-Identifier: Apache-2.0
#include "registration_form.h"

namespace gufunc::gufcc {
namespace {

guf_error empty_error() {
  guf_error error = {};
  error.struct_size = sizeof error;
  return error;
}

void take_form(const op::Signature &form, Function *function) {
  function->nin = form.nin;
  function->nout = form.nout;
  for (size_t i = 0; i < static_cast<size_t>(form.nin + form.nout); ++i) {
    function->roles.push_back(static_cast<Role>(form.role[i]));
    const auto first = form.operand_dims.begin() + form.core_offset[i];
    if (form.generalized) function->core_dims.emplace_back(first, first + form.core_ndim[i]);
  }
}

// Checks the roles more strictly than the parser, which accepts module tables that leave the role
// of an output open.
bool check_roles(const Place &place, const RegistrationOptions &options, const Function &function,
                 Diagnostics *diagnostics) {
  for (size_t i = static_cast<size_t>(function.nin); i < options.roles.size(); ++i) {
    if (options.roles[i] == Role::kIn) {
      return diagnostics->error(place,
                                "roles: operand {} is an output: expected out or inout, got in", i);
    }
  }
  for (const Role role : function.roles) {
    if (role != Role::kIn) return true;
  }
  return diagnostics->error(
      place, "{} has no outputs: name the operands that it writes, as in \"roles=inout\"",
      function.name);
}

}  // namespace

bool read_form(const Place &place, const std::string &signature, const RegistrationOptions &options,
               Function *function, Diagnostics *diagnostics) {
  std::vector<int32_t> roles;
  roles.reserve(options.roles.size());
  for (const Role role : options.roles) roles.push_back(static_cast<int32_t>(role));
  op::Signature form;
  guf_error error = empty_error();
  if (op::parse_signature(signature, "", nullptr, 0, &form, &error) != GUF_OK) {
    return diagnostics->error(place, "signature: {}", error.message);
  }
  if (op::parse_signature(signature, options.rules, roles.empty() ? nullptr : roles.data(),
                          static_cast<int32_t>(roles.size()), &form, &error) != GUF_OK) {
    const bool in_rules = error.status == GUF_E_SIGNATURE;
    return diagnostics->error(place, "{}{}", in_rules ? "rule: " : "", error.message);
  }
  take_form(form, function);
  function->signature = signature;
  function->rules = options.rules;
  function->roles_given = !roles.empty();
  return check_roles(place, options, *function, diagnostics);
}

bool read_elementwise_form(const Place &place, Function *function, Diagnostics *diagnostics) {
  op::Signature form;
  guf_error error = empty_error();
  if (op::make_elementwise(function->nin, function->nout, nullptr, 0, &form, &error) != GUF_OK) {
    return diagnostics->error(place, "types: {}", error.message);
  }
  take_form(form, function);
  return true;
}

op::Signature form_of(const Function &function) {
  op::Signature form;
  if (!function.generalized()) {
    op::make_elementwise(function.nin, function.nout, nullptr, 0, &form, nullptr);
    return form;
  }
  std::vector<int32_t> roles;
  roles.reserve(function.roles.size());
  for (const Role role : function.roles) roles.push_back(static_cast<int32_t>(role));
  op::parse_signature(function.signature, function.rules, roles.data(),
                      static_cast<int32_t>(roles.size()), &form, nullptr);
  return form;
}

}  // namespace gufunc::gufcc

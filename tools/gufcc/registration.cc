// SPDX-License-Identifier: Apache-2.0
// Checks registrations and merges loops. Every error points at the line of the registration.
// Signatures, rules, roles and reductions are read and checked with the functions that the library
// uses to load modules, so that every module that gufcc accepts also loads.
#include "registration.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/op/signature.h"
#include "core/op/state_reduction.h"
#include "kernel_entries.h"
#include "registration_options.h"

namespace gufunc::gufcc {
namespace {

constexpr TypeLetter kLetters[] = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  {letter, (letter) == '?' ? 'o' : (letter), "guf::" #element, "GUF_" #NAME, name},
#include <gufunc/dtypes.def>
    {'M', 'M', "guf::datetime", "GUF_DATETIME64", "datetime64"},
    {'m', 'm', "guf::timedelta", "GUF_TIMEDELTA64", "timedelta64"},
};

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

// Refuses the role `in` for an output, which the parser accepts because it means "not specified" in
// module tables, and refuses a function that writes no operand.
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

// Reads the operand counts, core dimensions, rules and roles of a generalized function.
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

// Sets the roles of an elementwise function, whose operand counts must already be set.
bool read_elementwise_form(const Place &place, Function *function, Diagnostics *diagnostics) {
  op::Signature form;
  guf_error error = empty_error();
  if (op::make_elementwise(function->nin, function->nout, nullptr, 0, &form, &error) != GUF_OK) {
    return diagnostics->error(place, "types: {}", error.message);
  }
  take_form(form, function);
  return true;
}

// Returns the signature of a function that read_form or read_elementwise_form has read.
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

std::string spell_identifier(const std::string &letters) {
  std::string spelled;
  for (const char letter : letters) spelled += find_letter(letter)->identifier;
  return spelled;
}

class Builder {
 public:
  Builder(Module *module, Diagnostics *diagnostics) : module_(module), diagnostics_(diagnostics) {}

  bool add(const RawRegistration &raw) {
    if (raw.depth != 0) {
      return diagnostics_->error(
          raw.place,
          "a registration must be outside of namespaces and braces; name the "
          "function with its namespace: GUF_UFUNC(ns::{}, ...)",
          raw.function);
    }
    if (raw.kind == "kernel") return add_kernel(raw, module_, diagnostics_);
    if (raw.kind == "entry") return add_entry(raw);
    const bool generalized = raw.kind == "gufunc";
    const size_t needed = generalized ? 2 : 1;
    if (raw.arguments.size() < needed) {
      return diagnostics_->error(raw.place, "{}({}) lacks its {}",
                                 generalized ? "GUF_GUFUNC" : "GUF_UFUNC", raw.function,
                                 raw.arguments.empty() && generalized ? "signature" : "types");
    }
    Function function;
    function.place = raw.place;
    function.name = last_component(raw.function);
    RegistrationOptions options;
    options.fp = module_->fp;
    const std::vector<std::string> texts(raw.arguments.begin() + static_cast<long>(needed),
                                         raw.arguments.end());
    if (!parse_options(raw.place, texts, &options, diagnostics_)) return false;
    if (generalized && !read_form(raw.place, raw.arguments[0], options, &function, diagnostics_)) {
      return false;
    }
    return read_loops(raw, raw.arguments[needed - 1], options, &function) &&
           apply_options(raw, options, &function) && merge(std::move(function));
  }

 private:
  bool add_entry(const RawRegistration &raw) {
    const std::vector<std::string> &texts = raw.arguments;
    const bool shared = texts.size() == 3 && texts[2] == "shared";
    if (texts.size() != 2 && !shared) {
      return diagnostics_->error(
          raw.place,
          "GUF_ENTRY({}) expects its block's type, its number of threads and optionally \"shared\"",
          raw.function);
    }
    PlainEntry entry{"guf_copy_" + last_component(raw.function),
                     raw.function,
                     texts[0],
                     texts[1],
                     shared,
                     raw.place,
                     raw.source};
    for (const PlainEntry &other : module_->entries) {
      if (other.name != entry.name) continue;
      return diagnostics_->error(raw.place, "{} is registered at {}:{} already", entry.name,
                                 other.place.file, other.place.line);
    }
    module_->entries.push_back(std::move(entry));
    return true;
  }

  bool read_loops(const RawRegistration &raw, const std::string &types,
                  const RegistrationOptions &options, Function *function) {
    std::string text = types;
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      Loop loop;
      const size_t arrow = word.find("->");
      loop.inputs = word.substr(0, arrow);
      if (arrow != std::string::npos) loop.outputs = word.substr(arrow + 2);
      if (!check_letters(raw.place, word, loop.inputs + loop.outputs)) return false;
      const int nin = static_cast<int>(loop.inputs.size());
      const int nout = static_cast<int>(loop.outputs.size());
      if (!function->generalized() && function->loops.empty()) {
        function->nin = nin;
        function->nout = nout;
        if (nout < 1 || nout > 3 || nin < 1) {
          return diagnostics_->error(
              raw.place,
              "types \"{}\": an elementwise function has inputs and one to three "
              "outputs, as in \"ff->f\"",
              word);
        }
      }
      if (nin != function->nin || nout != function->nout) {
        return diagnostics_->error(raw.place,
                                   "types \"{}\": expected {} inputs and {} outputs, got {} and {}",
                                   word, function->nin, function->nout, nin, nout);
      }
      loop.callee = raw.function;
      loop.place = raw.place;
      loop.source = raw.source;
      loop.cooperative = options.group;
      if (has_batch_types(loop)) loop.batch = options.batch;
      loop.fp = options.fp;
      loop.declares_shared = raw.declares_shared;
      loop.may_fail = !options.failure.empty();
      function->loops.push_back(std::move(loop));
    }
    if (function->loops.empty()) {
      return diagnostics_->error(raw.place, "{} has no types", raw.function);
    }
    return true;
  }

  bool check_letters(const Place &place, const std::string &word, const std::string &letters) {
    for (const char letter : letters) {
      if (find_letter(letter) == nullptr) {
        return diagnostics_->error(place, "types \"{}\": '{}' is not a type; valid are {}", word,
                                   letter, valid_letters());
      }
    }
    return true;
  }

  bool apply_options(const RawRegistration &raw, const RegistrationOptions &options,
                     Function *function) {
    if (!options.name.empty()) function->name = options.name;
    if (!is_identifier(function->name) || function->name.size() > 63) {
      return diagnostics_->error(raw.place, "'{}' is not a name: letters, digits and _, at most 63",
                                 function->name);
    }
    function->doc = {options.doc, raw.place};
    function->failure = {options.failure, raw.place};
    function->identity = options.identity;
    function->inplace_safe = options.inplace_safe;
    function->commutative = options.commutative;
    function->associative = options.associative;
    function->underflows = options.underflows;
    function->divides = options.divides;
    function->accepts_empty = options.accepts_empty;
    function->overwrites = options.overwrites;
    function->keeps_precision = options.keeps_precision;
    function->merge = options.merge;
    function->finish = options.finish;
    function->fp = options.fp;
    if (!function->generalized() && (!options.rules.empty() || options.group ||
                                     !options.batch.empty() || !options.roles.empty())) {
      return diagnostics_->error(raw.place, "rule=, roles=, batch= and group belong to GUF_GUFUNC");
    }
    if (!options.batch.empty() && !options.failure.empty()) {
      return diagnostics_->error(raw.place, "batch= and failure= cannot be combined");
    }
    if (!options.batch.empty() &&
        std::none_of(function->loops.begin(), function->loops.end(), has_batch_types)) {
      return diagnostics_->error(raw.place,
                                 "batch=: no loop has operands that are all f32 or all f64");
    }
    if (function->overwrites && !overwrites_input(*function)) {
      return diagnostics_->error(
          raw.place, "overwrites: operand 0 must be an input with core dimensions and the role in");
    }
    return function->generalized() || read_elementwise_form(raw.place, function, diagnostics_);
  }

  bool merge(Function function) {
    for (Loop &loop : function.loops) {
      loop.stem = fmt::format("guf_{}_{}_{}{}{}", function.generalized() ? "gu" : "ew",
                              function.name, spell_identifier(loop.inputs),
                              loop.outputs.empty() ? "" : "_", spell_identifier(loop.outputs));
    }
    auto known = std::find_if(module_->functions.begin(), module_->functions.end(),
                              [&](const Function &f) { return f.name == function.name; });
    if (known == module_->functions.end()) {
      const Function head = without_loops(function);
      module_->functions.push_back(head);
      known = module_->functions.end() - 1;
    } else if (known->signature != function.signature || known->nin != function.nin ||
               known->nout != function.nout || known->roles != function.roles ||
               known->rules != function.rules) {
      return diagnostics_->error(function.place,
                                 "{} is registered at {}:{} with another signature, operand count, "
                                 "roles or rules",
                                 function.name, known->place.file, known->place.line);
    }
    if (!merge_options(&*known, function, diagnostics_)) return false;
    for (Loop &loop : function.loops) {
      if (!add_loop(&*known, std::move(loop))) return false;
    }
    return true;
  }

  // A batch is computed with vectors of f32 or f64.
  static bool has_batch_types(const Loop &loop) {
    const std::string letters = loop.inputs + loop.outputs;
    return (letters[0] == 'f' || letters[0] == 'd') &&
           letters.find_first_not_of(letters[0]) == std::string::npos;
  }

  static bool overwrites_input(const Function &function) {
    return function.generalized() && function.nin > 0 && function.roles[0] == Role::kIn &&
           !function.core_dims[0].empty();
  }

  static Function without_loops(const Function &function) {
    Function head = function;
    head.loops.clear();
    return head;
  }

  bool add_loop(Function *function, Loop loop) {
    for (const Loop &other : function->loops) {
      if (other.stem == loop.stem) {
        return diagnostics_->error(loop.place, "{} has the loop {}->{} already, from {}:{}",
                                   function->name, loop.inputs, loop.outputs, other.place.file,
                                   other.place.line);
      }
    }
    function->loops.push_back(std::move(loop));
    return true;
  }

  Module *module_;
  Diagnostics *diagnostics_;
};

bool find_part(const Function &block_function, const Module &module, const char *key,
               const std::string &name, op::Signature *out, Diagnostics *diagnostics) {
  const size_t number = part_number(module, name);
  if (number == 0) {
    return diagnostics->error(block_function.place, "{}={}: the sources register no such function",
                              key, name);
  }
  *out = form_of(module.functions[number - 1]);
  return true;
}

bool check_reduction(const Function &block_function, const Module &module,
                     Diagnostics *diagnostics) {
  if (block_function.merge.empty())
    return diagnostics->error(block_function.place, "finish= needs merge=");
  op::Signature merge;
  op::Signature finish;
  if (!find_part(block_function, module, "merge", block_function.merge, &merge, diagnostics))
    return false;
  const bool finishes = !block_function.finish.empty();
  if (finishes &&
      !find_part(block_function, module, "finish", block_function.finish, &finish, diagnostics))
    return false;
  guf_error error = {};
  error.struct_size = sizeof error;
  if (op::check_state_reduction(form_of(block_function), merge, finishes ? &finish : nullptr,
                                &error) == GUF_OK)
    return true;
  return diagnostics->error(block_function.place, "{}", error.message);
}

// Checks that every merge= and finish= names a registered function whose signature matches.
bool check_reductions(const Module &module, Diagnostics *diagnostics) {
  return std::all_of(module.functions.begin(), module.functions.end(),
                     [&](const Function &block_function) {
                       if (block_function.merge.empty() && block_function.finish.empty())
                         return true;
                       return check_reduction(block_function, module, diagnostics);
                     });
}

}  // namespace

const TypeLetter *find_letter(char letter) {
  if (letter == 'l') letter = 'q';
  if (letter == 'L') letter = 'Q';
  for (const TypeLetter &row : kLetters) {
    if (row.letter == letter) return &row;
  }
  return nullptr;
}

std::string valid_letters() {
  std::string all;
  for (const TypeLetter &row : kLetters)
    all += fmt::format("{}{}", all.empty() ? "" : " ", row.letter);
  return all + " (l is q, L is Q)";
}

bool is_identifier(const std::string &text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

std::string last_component(const std::string &function) {
  const std::string plain = function.substr(0, function.find('<'));
  const size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}

bool build_module(const std::vector<RawRegistration> &raw, Module *module,
                  Diagnostics *diagnostics) {
  Builder builder(module, diagnostics);
  bool good = true;
  for (const RawRegistration &registration : raw) good &= builder.add(registration);
  if (good && module->functions.empty() && module->entries.empty() && module->kernels.empty()) {
    return diagnostics->error({}, "no GUF_UFUNC, GUF_GUFUNC or GUF_KERNEL in the sources");
  }
  return good && check_reductions(*module, diagnostics);
}

bool check_choice(const Module &module, Diagnostics *diagnostics) {
  for (const Function &function : module.functions) {
    std::map<std::string, const Loop *> seen;
    for (const Loop &loop : function.loops) {
      const auto [known, is_new] =
          seen.emplace(spell_identifier(loop.inputs.empty() ? loop.outputs : loop.inputs), &loop);
      if (!is_new) {
        const Loop &other = *known->second;
        return diagnostics->error(
            loop.place,
            "{}: loops {}->{} and {}->{} have the same inputs, but the library "
            "selects a loop by its inputs; the other is registered at {}:{}",
            function.name, other.inputs, other.outputs, loop.inputs, loop.outputs, other.place.file,
            other.place.line);
      }
    }
  }
  return true;
}

size_t part_number(const Module &module, const std::string &name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &function) { return function.name == name; });
  if (name.empty() || found == module.functions.end()) return 0;
  return static_cast<size_t>(found - module.functions.begin()) + 1;
}

}  // namespace gufunc::gufcc

// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_module.h"

#include <cstring>

namespace ptx {
namespace {

// Reads one value of an initialiser: an integer, or a float such as 0f3F800000.
uint64_t read_value(Lexer &lexer) {
  const bool negative = lexer.take_if("-");
  const Token token = lexer.expect_word();
  uint64_t value = 0;
  std::string_view text = token.text;
  const bool is_float = text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1]);
  const std::string digits = is_float ? "0x" + std::string(text.substr(2)) : std::string(text);
  if (!read_integer(digits, &value)) {
    fail_at(token.line, "no initialiser: " + std::string(token.text));
  }
  return negative ? -value : value;
}

void append_value(uint64_t value, Type type, std::vector<uint8_t> *out) {
  for (int shift = 0; shift < type.bits; shift += 8) {
    out->push_back(static_cast<uint8_t>(value >> shift));
  }
}

void read_initialiser(Lexer &lexer, Variable *variable) {
  if (!lexer.take_if("{")) {
    append_value(read_value(lexer), variable->type, &variable->contents);
    return;
  }
  while (!lexer.take_if("}")) {
    append_value(read_value(lexer), variable->type, &variable->contents);
    lexer.take_if(",");
  }
}

bool is_linkage(const Token &token) {
  return token.is(".visible") || token.is(".weak") || token.is(".extern") || token.is(".common");
}

std::vector<Variable> parse_parameters(Lexer &lexer) {
  std::vector<Variable> all;
  lexer.expect("(");
  while (!lexer.take_if(")")) {
    lexer.expect(".param");
    all.push_back(parse_variable(lexer, Space::kParam));
    lexer.take_if(",");
  }
  return all;
}

void parse_limits(Lexer &lexer, FunctionText *function) {
  for (uint32_t &limit : function->max_threads) {
    limit = static_cast<uint32_t>(lexer.expect_integer());
    if (!lexer.take_if(",")) break;
  }
  for (uint32_t &limit : function->max_threads) limit = limit == 0 ? 1 : limit;
}

// Parses the directives between the parameters and the body.
void parse_directives(Lexer &lexer, FunctionText *function) {
  for (;;) {
    const Token &token = lexer.peek();
    if (token.kind == Token::kEnd) fail_at(token.line, "a function has no body");
    if (token.is("{") || token.is(";")) return;
    const Token directive = lexer.take();
    function->requires_threads |= directive.is(".reqntid");
    if (directive.is(".maxntid") || directive.is(".reqntid")) parse_limits(lexer, function);
  }
}

FunctionText parse_function(Lexer &lexer, bool is_entry) {
  FunctionText function;
  function.is_entry = is_entry;
  if (lexer.peek().is("(")) function.results = parse_parameters(lexer);
  function.name = lexer.expect_word().text;
  if (lexer.peek().is("(")) function.parameters = parse_parameters(lexer);
  parse_directives(lexer, &function);
  if (lexer.take_if(";")) return function;
  lexer.peek();
  function.body_line = lexer.line();
  function.body = lexer.skip_block();
  return function;
}

Space space_of(const Token &token) {
  if (token.is(".global")) return Space::kGlobal;
  if (token.is(".const")) return Space::kConst;
  if (token.is(".shared")) return Space::kShared;
  fail_at(token.line, "unknown directive " + std::string(token.text));
}

void parse_target(Lexer &lexer) {
  const Token token = lexer.expect_word();
  if (token.text.rfind("sm_", 0) != 0) {
    fail_at(token.line, "unknown target " + std::string(token.text));
  }
  while (lexer.take_if(",")) lexer.take();
}

void parse_version(Lexer &lexer, Module *module) {
  const Token token = lexer.expect_word();
  uint64_t major = 0, minor = 0;
  const size_t dot = token.text.find('.');
  if (dot == token.text.npos || !read_integer(token.text.substr(0, dot), &major) ||
      !read_integer(token.text.substr(dot + 1), &minor)) {
    fail_at(token.line, "no version: " + std::string(token.text));
  }
  module->version = static_cast<int>(major * 10 + minor);
}

void add_function(FunctionText function, Module *module) {
  FunctionText &known = module->functions[function.name];
  if (known.body.empty()) known = std::move(function);
}

void parse_declaration(Lexer &lexer, Module *module) {
  bool is_external = false;
  while (is_linkage(lexer.peek())) is_external |= lexer.take().is(".extern");
  const Token token = lexer.take();
  if (token.is(".entry") || token.is(".func")) {
    add_function(parse_function(lexer, token.is(".entry")), module);
    return;
  }
  Variable variable = parse_variable(lexer, space_of(token));
  variable.is_external = is_external;
  lexer.expect(";");
  module->variables[variable.name] = std::move(variable);
}

}  // namespace

Variable parse_variable(Lexer &lexer, Space space) {
  Variable variable;
  variable.space = space;
  uint64_t elements = 1;
  while (lexer.peek().text.rfind('.', 0) == 0) {
    const Token token = lexer.take();
    if (token.is(".align")) {
      variable.align = static_cast<uint32_t>(lexer.expect_integer());
    } else if (token.is(".v2") || token.is(".v4")) {
      elements = token.is(".v2") ? 2 : 4;
    } else if (type_of(token.text.substr(1)).bits != 0) {
      variable.type = type_of(token.text.substr(1));
    } else if (!token.is(".ptr") && !token.is(".global") && !token.is(".const") &&
               !token.is(".shared") && !token.is(".local")) {
      fail_at(token.line, "unknown attribute " + std::string(token.text));
    }
  }
  const Token name = lexer.expect_word();
  if (variable.type.bits == 0) fail_at(name.line, std::string(name.text) + " has no type");
  variable.name = name.text;
  while (lexer.take_if("[")) {
    elements *= lexer.peek().is("]") ? 0 : static_cast<uint64_t>(lexer.expect_integer());
    lexer.expect("]");
  }
  variable.bytes = elements * ((variable.type.bits + 7u) / 8);
  variable.align = std::max(variable.align, (variable.type.bits + 7u) / 8);
  if (lexer.take_if("=")) read_initialiser(lexer, &variable);
  if (variable.contents.size() > variable.bytes) {
    fail_at(name.line, std::string(name.text) + " has too many initial values");
  }
  return variable;
}

Module parse_module(std::string_view text) {
  Module module;
  Lexer lexer(text);
  lexer.expect(".version");
  parse_version(lexer, &module);
  lexer.expect(".target");
  parse_target(lexer);
  while (lexer.peek().kind != Token::kEnd) {
    if (lexer.take_if(".address_size")) {
      if (lexer.expect_integer() != 64) fail_at(lexer.line(), "addresses must have 64 bits");
    } else if (lexer.take_if(".file")) {
      lexer.expect_integer();
      lexer.take();
    } else if (lexer.take_if(".section")) {
      lexer.expect_word();
      lexer.skip_block();
    } else if (!lexer.take_if(";")) {
      parse_declaration(lexer, &module);
    }
  }
  return module;
}

}  // namespace ptx

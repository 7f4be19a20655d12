// SPDX-License-Identifier: Apache-2.0
// Parses PTX in clang's layout: a function begins with .entry or .func at the start of a line and
// ends with a brace at the start of a line; each instruction is one line.
#include "tests/images/ptx_rules.h"

#include <algorithm>
#include <sstream>

namespace gufunc::images {
namespace {

std::string trimmed(const std::string &line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

// Returns 12 for "name[12]", and 0 without a bracket.
uint64_t bracketed(const std::string &line) {
  const size_t open = line.rfind('[');
  return open == std::string::npos ? 0 : std::strtoull(line.c_str() + open + 1, nullptr, 10);
}

// Returns the name in "\t.visible .entry name(" or ".func  (.param .b32 func_retval0) name(".
std::string name_in(const std::string &line) {
  const size_t end = line.find_last_not_of(" \t(");
  if (end == std::string::npos) return {};
  const size_t first = line.find_last_of(" \t)", end);
  return line.substr(first + 1, end - first);
}

// Splits "fma.rn.f32" into operation, modifiers and type.
std::vector<std::string> parts_of(const std::string &instruction) {
  std::string word;
  std::istringstream words(instruction);
  words >> word;
  if (word.starts_with('@')) words >> word;  // a predicate
  if (word.ends_with(';')) word.pop_back();
  std::vector<std::string> parts;
  std::istringstream dotted(word);
  for (std::string part; std::getline(dotted, part, '.');) parts.push_back(part);
  return parts;
}

bool has(const std::vector<std::string> &parts, const char *part) {
  return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
}

bool breaks_a_rule(const std::vector<std::string> &parts, InexactOps inexact_ops) {
  if (parts.empty()) return false;
  // Approximate instructions flush subnormals to zero, which is permitted in the vendor's
  // mathematics, because its code handles subnormals separately.
  const bool approximates = has(parts, "approx");
  if (inexact_ops == InexactOps::kApproximate) {
    return approximates ? parts[0] == "sqrt" : has(parts, "ftz");
  }
  if (approximates || has(parts, "ftz")) return true;
  const std::string &what = parts[0];
  if (!has(parts, "f32") && !has(parts, "f64")) return false;
  if (what == "fma" || what == "mad") return inexact_ops == InexactOps::kNone || !has(parts, "rn");
  for (const char *exact : {"add", "sub", "mul", "div", "sqrt"}) {
    if (what == exact) return !has(parts, "rn");
  }
  return false;
}

}  // namespace

std::vector<PtxFunction> read_ptx(const std::string &text) {
  std::vector<PtxFunction> all;
  std::istringstream lines(text);
  bool in_body = false, in_head = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string trim = trimmed(line);
    const bool entry = trim.find(".entry ") != std::string::npos;
    if (!in_body && !in_head && (entry || trim.find(".func ") != std::string::npos)) {
      all.emplace_back();
      all.back().name = name_in(trim);
      all.back().is_entry = entry;
      in_head = true;
    } else if (in_head && trim.starts_with("{")) {
      in_head = false;
      in_body = true;
    } else if (in_head && trim.ends_with(";")) {  // a declaration
      all.pop_back();
      in_head = false;
    } else if (in_head && trim.starts_with(".param") && all.back().parameter_bytes == 0) {
      all.back().parameter_bytes = bracketed(trim);
    } else if (in_body && line.starts_with("}")) {
      in_body = false;
    } else if (in_body && trim.starts_with(".local ")) {
      all.back().local_bytes += bracketed(trim);
    } else if (in_body && trim.ends_with(";") && !trim.starts_with(".") &&
               !trim.starts_with("//")) {
      all.back().instructions.push_back(trim);
    }
  }
  return all;
}

std::vector<std::string> find_ptx_faults(const PtxFunction &function, InexactOps inexact_ops) {
  std::vector<std::string> faults;
  for (const std::string &instruction : function.instructions) {
    if (breaks_a_rule(parts_of(instruction), inexact_ops)) {
      faults.push_back(function.name + ": " + instruction);
    }
  }
  // A kernel that uses a whole block may have arrays on the stack.
  if (function.is_entry && function.parameter_bytes > 0 && !function.name.ends_with("_block") &&
      function.local_bytes >= function.parameter_bytes) {
    faults.push_back(function.name + ": a copy of its block on the stack, " +
                     std::to_string(function.local_bytes) + " bytes");
  }
  return faults;
}

}  // namespace gufunc::images

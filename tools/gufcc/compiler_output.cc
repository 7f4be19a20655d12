// SPDX-License-Identifier: Apache-2.0
#include "compiler_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>

#include "entry_text.h"
#include "generate.h"
#include "refused_names.h"

namespace gufunc::gufcc {
namespace {

constexpr char kWidens[] = "implicit conversion increases floating-point precision:";
constexpr char kNarrows[] = "implicit conversion loses floating-point precision:";

// A clang message that starts with `start` is replaced by `replacement`, in which {0} and {1} are
// the names that the clang message quotes.
struct Rewriting {
  const char *start;
  const char *replacement;
};
constexpr Rewriting kRewritings[] = {
    {kWidens,
     "double arithmetic in a loop of float: '{0}' becomes '{1}', which costs up to 64 times as "
     "much "
     "on a GPU; write a constant as T(0.5) or 0.5f, and double(x) where double is meant"},
    {"variable length array",
     "a kernel cannot have an array of variable length, which devices lack; give it a constant "
     "size, or use g.shared<T>(n) of a cooperative function"},
    {"cannot use 'throw'",
     "a kernel cannot use exceptions; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"cannot use 'try'",
     "a kernel cannot use exceptions; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"use of typeid requires",
     "a kernel cannot use typeid, which devices lack; choose by template argument, with if "
     "constexpr"},
    {"use of dynamic_cast requires",
     "a kernel cannot use dynamic_cast, which devices lack; choose by template argument, with if "
     "constexpr"},
    {"use of GNU address-of-label extension",
     "a kernel cannot jump to an address, which devices lack; use switch"},
    {"no type named 'block' in namespace 'guf'",
     "guf::block belongs to raw kernels: #include <gufunc/raw_kernel.hpp>"},
    {"thread-local storage is not supported",
     "a kernel cannot have thread_local variables; memory of a group is g.shared<T>(n)"},
    {"unknown type name 'GUF_DEVICE'",
     "GUF_DEVICE is not known here: #include <gufunc/kernel.hpp> first"},
    {"unknown type name 'GUF_TABLE'",
     "GUF_TABLE is not known here: #include <gufunc/kernel.hpp> first"},
    {"use of undeclared identifier 'guf'",
     "guf:: is not known here: #include <gufunc/kernel.hpp> first"},
    {"use of undeclared identifier 'std'",
     "a kernel cannot use std::, which devices lack; docs/kernel-reference.md lists the "
     "names in guf::"},
    {"unknown type name 'int64_t'", "int64_t is not known here: write guf::i64"},
    {"unknown type name 'uint64_t'", "uint64_t is not known here: write guf::u64"},
    {"unknown type name 'int32_t'", "int32_t is not known here: write guf::i32"},
    {"unknown type name 'uint32_t'", "uint32_t is not known here: write guf::u32"},
    {"unknown type name 'int16_t'", "int16_t is not known here: write guf::i16"},
    {"unknown type name 'uint16_t'", "uint16_t is not known here: write guf::u16"},
    {"unknown type name 'int8_t'", "int8_t is not known here: write guf::i8"},
    {"unknown type name 'uint8_t'", "uint8_t is not known here: write guf::u8"},
    {"unknown type name 'size_t'", "size_t is not known here: write guf::i64 or guf::u64"},
    {"expected ';' after 'static_assert'", "expected ';' after the registration"},
    {"all paths through this function will call itself",
     "the function calls itself endlessly; write a loop"},
    {"implicit conversion turns floating-point number into integer:",
     "'{0}' becomes '{1}' by an implicit conversion, which differs between devices where the value "
     "does not fit; write guf::cast<{1}>(x)"},
};

// The text `what` is appended to a clang message that contains `part`.
struct Advice {
  const char *part;
  const char *what;
};
constexpr Advice kAdvice[] = {
    {"in namespace 'guf'", "docs/kernel-reference.md lists the names in guf::"},
    {"in 'guf::limits<", "docs/kernel-reference.md lists the members of guf::limits"},
    {"in 'guf::complex<", "a complex number has the members re and im"},
    {"[-Wshadow]", "rename one of them"},
    {"[-Wuninitialized]", "give it a value: without one it differs between devices"},
    {"[-Wsometimes-uninitialized]", "give it a value: without one it differs between devices"},
    {"cannot be narrowed", "write guf::cast<T>(x) with the intended type"},
    {"[-Wbitfield-constant-conversion]", "make the field wider, or write a value that it holds"},
    {"expression is not assignable",
     "an element of an input is a value: write to an output, or give the input the role inout"},
    {"[-Wreturn-type]", "the result is undefined there; return a value on every path"},
    {"file not found",
     "-I adds a folder; a kernel can include only freestanding headers of the system"},
};

// Whether a note refers to the dialect's headers or to code that gufcc generated.
bool is_ours(const CompilerMessage &message) {
  return message.place.find("include/gufunc/kernel") != std::string::npos ||
         message.text == "host variable declared here" ||
         message.text.starts_with("called by 'call<") ||
         message.text.find(kProbeName) != std::string::npos ||
         message.text.find(kCalleeName) != std::string::npos;
}

// Returns the first two names in single quotes.
std::array<std::string, 2> quoted_names(const std::string &text) {
  std::array<std::string, 2> names;
  size_t at = 0;
  for (std::string &name : names) {
    const size_t open = text.find('\'', at);
    const size_t close = open == std::string::npos ? open : text.find('\'', open + 1);
    if (close == std::string::npos) break;
    name = text.substr(open + 1, close - open - 1);
    at = close + 1;
    // For 'guf::f64' (aka 'double'), use the second spelling.
    if (text.compare(at, 7, " (aka '") != 0) continue;
    const size_t end = text.find('\'', at + 7);
    name = text.substr(at + 7, end - at - 7);
    at = end + 1;
  }
  return names;
}

std::string without_column(const std::string &place) {
  return place.substr(0, place.rfind(':'));
}

// Replaces the error for a call of a function that lacks GUF_DEVICE by an explanation.
void explain_host_function(CompilerMessage *message) {
  const std::string name = quoted_names(message->text)[0];
  const std::string plain = name.substr(0, name.find('<'));
  const std::string base = plain.substr(plain.rfind(':') + 1);
  message->text =
      is_library_function(base)
          ? fmt::format("a kernel cannot use '{}', which only the host has; {}", name,
                        advice_for_function(base))
      : base.starts_with("operator new") || base.starts_with("operator delete")
          ? "a kernel cannot use new: a kernel has no private heap; g.shared<T>(n) is memory of "
            "its group"
          : fmt::format("'{}' is a function of the host; declare it GUF_DEVICE", name);
}

void explain_host_variable(CompilerMessage *message) {
  message->text = fmt::format(
      "a kernel cannot have the variable '{}'; constants are GUF_TABLE at namespace scope, memory "
      "of a group is g.shared<T>(n), a value that outlives a call is an operand",
      quoted_names(message->text)[0]);
}

// Explains a name that clang does not know, if it is a name of a library. Returns false for other
// names.
bool explain_library_name(std::string *text) {
  constexpr const char *kUnknown[] = {"use of undeclared identifier '", "unknown type name '",
                                      "no template named '", "no member named '",
                                      "no type named '"};
  const bool is_unknown = std::any_of(std::begin(kUnknown), std::end(kUnknown),
                                      [&](const char *start) { return text->starts_with(start); });
  if (!is_unknown) return false;
  const std::string name = quoted_names(*text)[0];
  const bool is_of_std = text->find("in namespace 'std'") != std::string::npos;
  if (!is_of_std && text->find("' in ") != std::string::npos) return false;
  const std::string advice = advice_for_name(name);
  if (advice.empty() && !is_of_std) return false;
  if (advice.starts_with("#include")) {
    *text = fmt::format("{}{} is not known here: {}", is_of_std ? "std::" : "", name, advice);
  } else if (advice.empty()) {
    *text = fmt::format(
        "a kernel cannot use std::{}, which devices lack; docs/kernel-reference.md lists what "
        "guf:: "
        "has",
        name);
  } else {
    *text = is_of_std ? fmt::format("a kernel cannot use std::{}; {}", name, advice)
                      : fmt::format("'{}' is not known here; {}", name, advice);
  }
  return true;
}

bool explain_by_table(std::string *text) {
  for (const Rewriting &row : kRewritings) {
    if (!text->starts_with(row.start)) continue;
    const std::array<std::string, 2> names = quoted_names(*text);
    *text = fmt::format(fmt::runtime(row.replacement), names[0], names[1]);
    return true;
  }
  return false;
}

std::string without_const(const std::string &type) {
  return type.starts_with("const ") ? type.substr(6) : type;
}

void explain_precision_in_double(std::string *text) {
  const std::array<std::string, 2> names = quoted_names(*text);
  const std::string from = without_const(names[0]), to = without_const(names[1]);
  if (text->starts_with(kWidens)) {
    *text = fmt::format(
        "a loop of double loses precision through a float: '{0}' becomes '{1}' with the "
        "precision of '{0}'; compute it in '{1}', write a constant as T(0.5), and {1}(x) where "
        "this is meant",
        from, to);
  } else if (text->starts_with(kNarrows)) {
    *text = fmt::format(
        "a double is narrowed in a loop of double: '{0}' becomes '{1}', which loses precision; "
        "declare it {0}, and write {1}(x) where this is meant",
        from, to);
  }
}

// Removes clang's suggestion of a different name, which clang prints below the source line and its
// marks.
void keep_source_line(std::string *source_lines) {
  const size_t marks = source_lines->find('\n');
  const size_t end = marks == std::string::npos ? marks : source_lines->find('\n', marks + 1);
  if (end != std::string::npos) source_lines->erase(end + 1);
}

// Rewrites a message in terms of kernels. Returns true if the message concerns a name of a library.
bool explain(CompilerMessage *message, LoopKind kind) {
  std::string &text = message->text;
  if (kind == LoopKind::kDouble) explain_precision_in_double(&text);
  if (explain_by_table(&text)) return false;
  if (explain_library_name(&text)) return true;
  if (text.starts_with("no member named ") && text.ends_with("in the global namespace")) {
    text = fmt::format("'{}' is not declared before its registration", quoted_names(text)[0]);
  } else if (text.starts_with("reference to __host__ function")) {
    explain_host_function(message);
  } else if (text.starts_with("reference to __host__ variable")) {
    explain_host_variable(message);
  } else {
    for (const Advice &row : kAdvice) {
      if (text.find(row.part) == std::string::npos) continue;
      text += fmt::format("; {}", row.what);
      break;
    }
  }
  return false;
}

}  // namespace

std::vector<CompilerMessage> read_messages(const std::string &output) {
  std::vector<CompilerMessage> messages;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t bar = line.find(" | ");
    const bool shows_source = !messages.empty() && bar != std::string::npos &&
                              line.find_first_not_of(" 0123456789") == bar + 1;
    if (shows_source || (line.starts_with("      |") && !messages.empty())) {
      messages.back().source_lines += line + "\n";
      continue;
    }
    CompilerMessage message;
    for (const char *kind : {"fatal error", "error", "warning", "note"}) {
      const std::string mark = fmt::format(": {}: ", kind);
      const size_t at = line.find(mark);
      if (at == std::string::npos || at == 0 ||
          std::isdigit(static_cast<unsigned char>(line[at - 1])) == 0) {
        continue;
      }
      message = {line.substr(0, at), kind, line.substr(at + mark.size()), {}};
      break;
    }
    if (message.kind.empty()) message.text = line;
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string write_messages(const std::vector<CompilerMessage> &messages) {
  std::string text;
  for (const CompilerMessage &message : messages) {
    text += message.kind.empty()
                ? message.text + "\n"
                : fmt::format("{}: {}: {}\n", message.place, message.kind, message.text);
    text += message.source_lines;
  }
  return text;
}

bool is_about_precision(const CompilerMessage &message) {
  return message.text.starts_with(kWidens) || message.text.starts_with(kNarrows);
}

std::vector<CompilerMessage> in_terms_of_kernels(std::vector<CompilerMessage> messages,
                                                 LoopKind kind) {
  std::vector<CompilerMessage> kept;
  std::set<std::string> seen;
  std::set<std::string> explained;  // lines whose further errors follow from an unknown name
  std::string last_error;           // line of the last error
  bool dropped = false;             // the notes of a dropped message are dropped too
  for (size_t i = 0; i < messages.size(); ++i) {
    CompilerMessage &message = messages[i];
    if (message.kind.empty()) {
      // Lines such as "In file included from ..." and "2 errors generated ..." are dropped.
      if (message.text.find(" generated") == std::string::npos &&
          !message.text.starts_with("In file included from")) {
        kept.push_back(message);
      }
      continue;
    }
    if (message.source_lines.find(kProbeName) != std::string::npos ||
        message.source_lines.find(kCalleeName) != std::string::npos) {
      message.place = without_column(message.place);  // the column refers to the generated text
      message.source_lines.clear();
    }
    const bool is_note = message.kind == "note";
    if (is_note && (dropped || is_ours(message))) continue;
    const std::string line = without_column(message.place);
    const bool is_known_name = explain(&message, kind);
    if (is_known_name) keep_source_line(&message.source_lines);
    if (is_note && explained.contains(last_error)) continue;
    if (message.is_error()) last_error = line;
    if (!is_note) {
      dropped = (!is_known_name && message.is_error() && explained.contains(line)) ||
                !seen.insert(line + message.text).second;
      if (is_known_name) explained.insert(line);
    }
    if (!dropped) kept.push_back(message);
  }
  // Errors in generated code are consequences of errors in the user's code.
  const auto is_in_entries = [](const CompilerMessage &message) {
    return message.place.find(kEntriesFile) != std::string::npos;
  };
  const bool has_others =
      std::any_of(kept.begin(), kept.end(), [&](const CompilerMessage &message) {
        return message.is_error() && !is_in_entries(message);
      });
  if (has_others) std::erase_if(kept, is_in_entries);
  return kept;
}

}  // namespace gufunc::gufcc

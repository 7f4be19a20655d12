// SPDX-License-Identifier: Apache-2.0
// Reads LLVM IR in its textual form. Debug information describes the variables:
//   !25 = !DILocalVariable(name: "a", scope: !19, file: !9, line: 4, type: !26)
//   !26 = !DICompositeType(tag: DW_TAG_array_type, baseType: !12, size: 9600000, elements: !27)
// The conversion sanitizers describe each conversion and its types:
//   @0 = private ... constant { i16, i16, [7 x i8] } { i16 0, i16 13, [7 x i8] c"'long'\00" }
//   @2 = private ... global {...} { { ptr, i32, i32 } { ptr @.src, i32 3, i32 33 }, ptr @0, ptr @1,
//        i8 2, i32 0 }
#include "llvm_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "entry_text.h"

namespace gufunc::gufcc {
namespace {

std::string_view next_line(std::string_view *code) {
  const std::string_view line = code->substr(0, code->find('\n'));
  code->remove_prefix(std::min(line.size() + 1, code->size()));
  return line;
}

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns the value of a field of a metadata node: quoted text without the quotes, or other text up
// to the comma. Returns "" if the node has no such field. Quoted text may contain any characters
// but quotes.
std::string_view field(std::string_view node, std::string_view name) {
  bool in_quotes = false, at_start = true;
  for (size_t i = node.find('(') + 1; i < node.size(); ++i) {
    if (node[i] == '"') in_quotes = !in_quotes;
    if (!in_quotes && at_start && node.compare(i, name.size(), name) == 0 &&
        node.compare(i + name.size(), 2, ": ") == 0) {
      const std::string_view value = node.substr(i + name.size() + 2);
      return value.starts_with('"') ? value.substr(1, value.find('"', 1) - 1)
                                    : value.substr(0, value.find_first_of(",)"));
    }
    at_start = !in_quotes && (node[i] == ' ' || node[i] == '(');
  }
  return {};
}

class Metadata {
 public:
  explicit Metadata(std::string_view code) {
    while (!code.empty()) {
      const std::string_view line = next_line(&code);
      const size_t equals = line.find(" = ");
      if (!line.starts_with('!') || equals == std::string_view::npos) continue;
      std::string_view node = line.substr(equals + 3);
      if (node.starts_with("distinct ")) node.remove_prefix(9);
      nodes_[line.substr(0, equals)] = node;
      if (node.starts_with("!DILocalVariable(")) variables_.push_back(node);
    }
  }

  const std::vector<std::string_view> &variables() const { return variables_; }

  std::string_view node(std::string_view reference) const {
    const auto found = nodes_.find(reference);
    return found == nodes_.end() ? std::string_view() : found->second;
  }

  // Returns the reference (such as "!19") to the node of the function that declares a variable.
  std::string_view function_of(std::string_view variable) const {
    std::string_view scope = field(variable, "scope");
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const std::string_view found = node(scope);
      if (!found.starts_with("!DILexicalBlock")) break;
      scope = field(found, "scope");
    }
    return scope;
  }

  // Returns the size of a variable. Nodes for type aliases and qualifiers have no size field, so
  // the search continues at their base type.
  uint64_t bytes_of(std::string_view variable) const {
    std::string_view type = field(variable, "type");
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const std::string_view found = node(type);
      const std::string_view size = field(found, "size");
      if (!size.empty()) return number_in(size) / 8;
      type = field(found, "baseType");
      if (type.empty()) break;
    }
    return 0;
  }

  std::string path_of(std::string_view file) const {
    const std::string name(field(node(file), "filename"));
    const std::string folder(field(node(file), "directory"));
    return name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
  }

 private:
  std::map<std::string_view, std::string_view> nodes_;
  std::vector<std::string_view> variables_;
};

// Integer types and files, indexed by the names of the symbols that describe them.
struct Symbols {
  struct Integer {
    uint64_t bits;
    std::string name;
  };
  std::map<std::string_view, Integer> integers;
  std::map<std::string_view, std::string> files;
};

// Returns the text inside c"...\00".
std::string text_in(std::string_view line) {
  const size_t open = line.rfind(" c\"");
  const size_t close = line.find("\\00\"", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(line.substr(open + 3, close - open - 3));
}

Symbols symbols_of(std::string_view code) {
  constexpr std::string_view kType = " constant { i16, i16, [";
  Symbols symbols;
  while (!code.empty()) {
    const std::string_view line = next_line(&code);
    const size_t equals = line.find(" = ");
    if (!line.starts_with('@') || equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const size_t values = line.find("{ i16 0, i16 ");
    if (line.find(kType) != std::string_view::npos && values != std::string_view::npos) {
      // The number after "i16" is twice the binary logarithm of the type's width in bits, plus one
      // for signed types.
      const uint64_t kind = number_in(line.substr(values + 13)) / 2;
      if (kind < 32) symbols.integers[name] = {uint64_t{1} << kind, text_in(line)};
    } else if (name.starts_with("@.src")) {
      symbols.files[name] = text_in(line);
    }
  }
  return symbols;
}

// Returns the names that start with @ in a text.
std::vector<std::string_view> symbol_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    names.push_back(text.substr(at, text.find_first_of(" ,)", at) - at));
  }
  return names;
}

// Returns the type as the source spells it, without const: "guf::i32" for "'const guf::i32' (aka
// 'int')".
std::string type_name(const std::string &name) {
  const size_t open = name.starts_with("'const ") ? 7 : 1;
  const size_t close = name.find('\'', 1);
  return close == std::string::npos || close < open ? name : name.substr(open, close - open);
}

// Returns the name in "@name(" or "@"name"(" after `from`; "" if there is none.
std::string called_name(std::string_view line, size_t from) {
  const size_t at = line.find('@', from);
  const size_t end = at == std::string_view::npos ? at : line.find('(', at);
  if (end == std::string_view::npos) return {};
  std::string name(line.substr(at + 1, end - at - 1));
  if (name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
  return name;
}

using Calls = std::map<std::string, std::set<std::string>>;

Calls calls_of(std::string_view code) {
  Calls calls;
  std::set<std::string> *called = nullptr;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (line.starts_with("define ")) {
      called = &calls[called_name(line, 0)];
    } else if (const size_t call = line.find("call "); called != nullptr && call != line.npos) {
      called->insert(called_name(line, call));
    }
  }
  return calls;
}

}  // namespace

Command unoptimized_code_flags(const std::string &file) {
  return {"-S", "-emit-llvm",         "-O0", "-Xclang", "-disable-llvm-passes",
          "-g", "-fstandalone-debug", "-o",  file};
}

Command mark_conversions_flags() {
  // The driver refuses these sanitizers for devices, but the compiler that it runs does not.
  return {"-Xclang", "-fsanitize=implicit-signed-integer-truncation", "-Xclang",
          "-fsanitize=implicit-unsigned-integer-truncation"};
}

std::vector<CodeFinding> find_large_stacks(std::string_view code) {
  struct Stack {
    uint64_t bytes = 0, largest_bytes = 0;
    std::string_view largest;
  };
  const Metadata metadata(code);
  std::map<std::string_view, Stack> stacks;
  for (const std::string_view variable : metadata.variables()) {
    Stack &stack = stacks[metadata.function_of(variable)];
    const uint64_t bytes = metadata.bytes_of(variable);
    stack.bytes += bytes;
    if (bytes <= stack.largest_bytes) continue;
    stack.largest_bytes = bytes;
    stack.largest = variable;
  }
  std::vector<CodeFinding> found;
  for (const auto &[function, stack] : stacks) {
    if (stack.bytes <= kMaxStack) continue;
    found.push_back(
        {fmt::format("{}:{}", metadata.path_of(field(stack.largest, "file")),
                     field(stack.largest, "line")),
         fmt::format("the variables of '{}' take {} bytes of stack, {} of them '{}': expected at "
                     "most {} bytes, which every device has; make the array smaller, pass it as an "
                     "operand, or use g.shared<T>(n) of a cooperative function",
                     field(metadata.node(function), "name"), stack.bytes, stack.largest_bytes,
                     field(stack.largest, "name"), kMaxStack)});
  }
  return found;
}

std::vector<CodeFinding> find_narrowed_integers(std::string_view code) {
  constexpr std::string_view kConversion = " global { { ptr, i32, i32 }, ptr";
  const Symbols symbols = symbols_of(code);
  std::vector<CodeFinding> found;
  while (!code.empty()) {
    const std::string_view line = next_line(&code);
    if (!line.starts_with('@') || line.find(kConversion) == std::string_view::npos) continue;
    // The names are the symbol that the line defines, the file, and the two types.
    const std::vector<std::string_view> names = symbol_names(line);
    if (names.size() != 4) continue;
    const auto file = symbols.files.find(names[1]);
    const auto from = symbols.integers.find(names[2]), to = symbols.integers.find(names[3]);
    const size_t line_at = line.find("i32 ", line.find(names[1], names[0].size()));
    const size_t column_at =
        line_at == std::string_view::npos ? line_at : line.find("i32 ", line_at + 4);
    if (file == symbols.files.end() || from == symbols.integers.end() ||
        to == symbols.integers.end() || column_at == std::string_view::npos ||
        from->second.bits != 64 || to->second.bits >= 64) {
      continue;
    }
    const std::string narrow = type_name(to->second.name);
    found.push_back(
        {fmt::format("{}:{}:{}", file->second, number_in(line.substr(line_at + 4)),
                     number_in(line.substr(column_at + 4))),
         fmt::format(
             "an integer of 64 bits is narrowed: it becomes '{0}' by an implicit conversion, "
             "which drops its upper bits; declare it guf::i64, and write {0}(x) where this "
             "is meant",
             narrow)});
  }
  return found;
}

Command show_code_flags(const std::string &folder) {
  // clang prints the IR before recompute-globalsaa, because this is the last pass over the whole
  // module before the loop passes.
  return {"-mllvm", "-print-before=recompute-globalsaa", "-mllvm", "-ir-dump-directory=" + folder};
}

bool lacks_code_flags(const std::string &output) {
  return output.find("Unknown command line argument '-ir-dump-directory") != std::string::npos;
}

// Each generated loop is a separate function, from "define ... {" to "}". Reports a function that
// contains both an alloca that the optimizer left and an access marked as independent.
std::set<int> find_stack_loops(std::string_view code) {
  std::set<int> callees;
  std::string_view definition;
  bool on_stack = false, promised = false;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (line.starts_with("define ")) {
      definition = line;
      on_stack = promised = false;
    } else if (line == "}") {
      const size_t name = definition.find(kCalleeName);
      int number = 0;
      if (on_stack && promised && name != std::string_view::npos) {
        const char *const digits = definition.data() + name + std::string_view(kCalleeName).size();
        std::from_chars(digits, definition.data() + definition.size(), number);
        callees.insert(number);
      }
      definition = {};
    } else {
      on_stack = on_stack || line.find(" = alloca ") != std::string_view::npos;
      promised = promised || line.find("!llvm.access.group") != std::string_view::npos;
    }
  }
  return callees;
}

std::set<std::string> find_recursion(std::string_view code) {
  const Calls calls = calls_of(code);
  std::set<std::string> found;
  for (const auto &[name, called] : calls) {
    std::set<std::string> reached;
    std::vector<std::string> open(called.begin(), called.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      const auto more = calls.find(next);
      if (more == calls.end() || !reached.insert(next).second) continue;
      open.insert(open.end(), more->second.begin(), more->second.end());
    }
    if (reached.contains(name)) found.insert(name);
  }
  return found;
}

}  // namespace gufunc::gufcc

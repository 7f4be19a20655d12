// SPDX-License-Identifier: Apache-2.0
// The messages of clang, in the words of who writes kernels: what a message means for a kernel and
// what to write instead.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H

#include <string>
#include <vector>

namespace gufunc::gufcc {

// "k.guf.cpp:4:15: error: text", and the lines below it that show the source.
struct CompilerMessage {
  std::string place;  // "k.guf.cpp:4:15"; empty: of no place
  std::string kind;   // "error", "warning", "note", "fatal error"; empty: a line of another form
  std::string text;
  std::string source_lines;  // with their line breaks

  bool is_error() const { return kind == "error" || kind == "fatal error"; }
};

std::vector<CompilerMessage> read_messages(const std::string &output);
std::string write_messages(const std::vector<CompilerMessage> &messages);

// Rewrites what is about kernels, drops notes about code that gufcc generated, what is said twice,
// and the count at the end.
std::vector<CompilerMessage> in_terms_of_kernels(std::vector<CompilerMessage> messages);

bool is_printing(const std::string &function);

// What to use instead of a function that only a host has.
std::string advice_for_function(const std::string &name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H

// SPDX-License-Identifier: Apache-2.0
// Translates messages of clang for authors of kernels. A translated message states what is wrong
// with the kernel and what to write instead.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H

#include <string>
#include <vector>

namespace gufunc::gufcc {

// A message "k.guf.cpp:4:15: error: text" and the source excerpt below it.
struct CompilerMessage {
  std::string place;  // "k.guf.cpp:4:15"; empty: no location
  std::string kind;   // "error", "warning", "note", "fatal error"; empty: other line
  std::string text;
  std::string source_lines;  // includes line breaks

  bool is_error() const { return kind == "error" || kind == "fatal error"; }
};

std::vector<CompilerMessage> read_messages(const std::string &output);
std::string write_messages(const std::vector<CompilerMessage> &messages);

// The floating-point type of all loops in one compilation. Messages warn about the other type:
// about double in loops of float, and about float in loops of double. kAny: the loops or kernels
// have different types.
enum class LoopKind { kAny, kFloat, kDouble };

// Whether a message, in clang's own words, concerns a conversion between float and double.
bool is_about_precision(const CompilerMessage &message);

// Rewrites messages in terms of kernels. Drops notes about generated code, duplicates, errors that
// follow from an unknown name in the same line, and the error count at the end.
std::vector<CompilerMessage> in_terms_of_kernels(std::vector<CompilerMessage> messages,
                                                 LoopKind kind = LoopKind::kAny);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_OUTPUT_H

// SPDX-License-Identifier: Apache-2.0
// Checks the LLVM IR that clang prints. Unoptimized IR contains the variables of each function and
// the implicit conversions, which an object file does not contain. IR before vectorization shows
// the loops whose variables are on the stack.
#ifndef GUFUNC_TOOLS_GUFCC_LLVM_CODE_H
#define GUFUNC_TOOLS_GUFCC_LLVM_CODE_H

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "process.h"

namespace gufunc::gufcc {

// Limit for the local variables of a function, in bytes. NVIDIA's devices have 512 KiB of stack per
// thread, AMD's 128 KiB, and the cpu gives a thread of a raw kernel 64 KiB. The limit is lower,
// because functions that call each other share the stack, and because a device reserves a stack for
// each thread that it can run at the same time: 4.3 GB on an H100 at this limit.
inline constexpr uint64_t kMaxStack = 16 * 1024;

// Flags that make clang write its unoptimized IR, as text, to `file`.
Command unoptimized_code_flags(const std::string &file);

// Flags that make clang mark implicit conversions of integers in its unoptimized IR.
Command mark_conversions_flags();

struct CodeFinding {
  std::string place;  // "/home/me/k.guf.cpp:3:9" or without the column
  std::string message;
};

// Returns the functions with more than kMaxStack bytes of local variables, at the line of the
// largest variable. If this line is in generated code, the file name in `place` is kEntriesFile.
std::vector<CodeFinding> find_large_stacks(std::string_view code);

// Returns the marked conversions from integers of 64 bits to narrower integers.
std::vector<CodeFinding> find_narrowed_integers(std::string_view code);

// If the optimizer leaves a variable on the stack (for example an array with an index that is known
// only at run time), all iterations of a loop share the variable. Host loops declare that their
// iterations are independent. If iterations share a variable, this declaration is false, and the
// vectorizer would produce wrong results. The functions below find such loops.

// Flags that make clang write the IR before vectorization into files in `folder`.
Command show_code_flags(const std::string &folder);

// Whether the compiler reported a flag of show_code_flags as unknown.
bool lacks_code_flags(const std::string &output);

// Reads a file that show_code_flags produced. Returns the numbers of the callees
// (generate_host_entries) whose loops use the stack although they promise independent iterations.
std::set<int> find_stack_loops(std::string_view code);

// Reads a file that show_code_flags produced. Returns the functions that call themselves, directly
// or indirectly, except recursive functions that the optimizer has already turned into loops.
std::set<std::string> find_recursion(std::string_view code);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_LLVM_CODE_H

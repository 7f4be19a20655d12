// SPDX-License-Identifier: Apache-2.0
// Finds loops whose variables are on the stack. If the optimizer leaves a variable on the stack
// (for example an array with an index that is known only at run time), all iterations share it.
// Host loops declare that their iterations are independent. For loops with shared variables this is
// false, and the vectorizer would produce wrong results.
#ifndef GUFUNC_TOOLS_GUFCC_STACK_LOOPS_H
#define GUFUNC_TOOLS_GUFCC_STACK_LOOPS_H

#include <set>
#include <string>
#include <string_view>

#include "process.h"

namespace gufunc::gufcc {

// Flags that make clang write the code before vectorization into files in `folder`.
Command show_code_flags(const std::string &folder);

// Whether the compiler reported these flags as unknown.
bool lacks_code_flags(const std::string &output);

// Reads a file that show_code_flags produced. Returns the numbers of the callees
// (generate_host_entries) whose loops use the stack although they promise independent iterations.
std::set<int> find_stack_loops(std::string_view code);

// Reads a file that show_code_flags produced. Returns the functions that call themselves, directly
// or indirectly. The optimizer has already turned some recursive functions into loops; they are not
// returned.
std::set<std::string> find_recursion(std::string_view code);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_STACK_LOOPS_H

// SPDX-License-Identifier: Apache-2.0
// Variables that the optimizer leaves on the stack, such as an array with an index that is known
// only when the kernel runs, have one place for all iterations of a loop. Host loops promise the
// vectoriser that iterations share nothing: of such functions they must not, or results are wrong.
#ifndef GUFUNC_TOOLS_GUFCC_STACK_PLACES_H
#define GUFUNC_TOOLS_GUFCC_STACK_PLACES_H

#include <set>
#include <string>
#include <string_view>

#include "process.h"

namespace gufunc::gufcc {

// What makes clang write the code that its vectoriser is about to see into files in `folder`.
Command show_code_flags(const std::string &folder);

// Whether the compiler said that it has no such flags.
bool lacks_code_flags(const std::string &output);

// The callees (generate_host_entries) whose promised loops use a place on the stack, found in such
// a file.
std::set<int> find_stack_places(std::string_view code);

// The functions that still call themselves, directly or through others, in such a file: a loop is
// what the optimizer made of the others.
std::set<std::string> find_recursion(std::string_view code);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_STACK_PLACES_H

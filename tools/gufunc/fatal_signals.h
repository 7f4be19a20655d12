// SPDX-License-Identifier: Apache-2.0
// What the program does when a signal ends it: a line on standard error that says what happened,
// and no temporary file left.
#ifndef GUFUNC_TOOLS_GUFUNC_FATAL_SIGNALS_H
#define GUFUNC_TOOLS_GUFUNC_FATAL_SIGNALS_H

#include <csignal>
#include <cstddef>

namespace gufunc::cli {

// Installs the handlers, and an alternate stack for the calling thread. Signals that are ignored,
// as nohup does, stay ignored. A file over the limit of size becomes an error of write(2).
void handle_fatal_signals();

// A temporary file that a handler removes, until it is forgotten. Call with signals blocked.
void remove_on_signals(const char *path);
void forget_on_signals(const char *path);
// Removes those that are recorded. Async-signal-safe.
void remove_temporaries();

// The file behind mapped memory, which a SIGBUS there names: another program made it shorter.
void name_mapping(const void *begin, size_t size, const char *name);
void forget_mapping(const void *begin);

// Blocks, for this thread, the signals that end a program from outside.
class SignalsBlocked {
 public:
  SignalsBlocked();
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_FATAL_SIGNALS_H

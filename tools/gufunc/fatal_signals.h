// SPDX-License-Identifier: Apache-2.0
// Handlers of fatal signals: they print the cause on standard error and remove temporary files.
#ifndef GUFUNC_TOOLS_GUFUNC_FATAL_SIGNALS_H
#define GUFUNC_TOOLS_GUFUNC_FATAL_SIGNALS_H

#include <csignal>
#include <cstddef>

namespace gufunc::cli {

// Installs the handlers, and an alternate stack for the calling thread. Signals that are already
// ignored (as under nohup) stay ignored. Exceeding the file size limit becomes an error of
// write(2).
void handle_fatal_signals();

// Registers a temporary file that the handlers remove, until forget_on_signals(). Call both with
// signals blocked.
void remove_on_signals(const char *path);
void forget_on_signals(const char *path);
// Removes all registered files. Async-signal-safe.
void remove_temporaries();

// Associates mapped memory with a file name. A SIGBUS in that memory means that another program
// truncated the file; the handler then prints the name.
void name_mapping(const void *begin, size_t size, const char *name);
void forget_mapping(const void *begin);

// Blocks, for the calling thread, the signals that end a program from outside.
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

// SPDX-License-Identifier: Apache-2.0
// How the command line reports a failure: one sentence and an exit code.
#ifndef GUFUNC_TOOLS_GUFUNC_OUTCOME_H
#define GUFUNC_TOOLS_GUFUNC_OUTCOME_H

#include <gufunc/status.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gufunc::cli {

// Exit codes, documented in docs/command-line.md and `gufunc --help`.
enum class Exit : int {
  kOk = 0,
  kUsage = 2,        // invalid command line
  kFile = 3,         // a missing, malformed or unwritable file
  kRefused = 4,      // refused by the library: names, types, shapes, values
  kUnavailable = 5,  // no such backend, device, kernel or image
  kRunTime = 6,      // memory, descriptors, launch or device failures
};

// Thrown anywhere in the program, and caught once in main.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string &message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

// Returns the text, or a pair of quotes for an empty text, which a message would not show.
inline std::string visible(const std::string &text) {
  return text.empty() ? "''" : text;
}

// Returns the exit code of the program after a system call on a file has failed with the errno
// value `code`. A lack of memory or of descriptors is not a fault of the file: the same command
// succeeds later, or with a higher limit.
inline Exit exit_of_errno(int code) {
  return code == ENOMEM || code == EMFILE || code == ENFILE ? Exit::kRunTime : Exit::kFile;
}

// Throws a Failure for a system call that failed on the file `name` with the errno value `code`.
// Example of a message: "a.npy: cannot open: Permission denied".
[[noreturn]] inline void fail_file(const std::string &name, const std::string &verb,
                                   int code = errno) {
  throw Failure(exit_of_errno(code),
                visible(name) + ": cannot " + verb + ": " + std::strerror(code));
}

// Returns the exit code for a status. `native_code` is the errno value of an input or output error,
// or 0.
inline Exit exit_of(guf_status status, int native_code) {
  const int category = status / 100;
  if (category == 11) return exit_of_errno(native_code);
  if (category == 8 || category == 9) return Exit::kUnavailable;
  if (category >= 10) return Exit::kRunTime;
  return Exit::kRefused;
}

// An error struct for a library call, and a check that throws it as a Failure.
class Call {
 public:
  Call() {
    error_.struct_size = sizeof error_;
    error_.message[0] = '\0';
  }
  guf_error *error() { return &error_; }
  // Throws unless `status` is GUF_OK. `about` precedes the library's message and `hint` follows it.
  void check(guf_status status, const std::string &about = "", const std::string &hint = "") const {
    if (status == GUF_OK) return;
    const std::string text = error_.message[0] != '\0' ? error_.message : guf_status_text(status);
    throw Failure(exit_of(status, error_.native_code),
                  about + text + hint + " [" + guf_status_name(status) + "]");
  }

 private:
  guf_error error_ = {};
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_OUTCOME_H

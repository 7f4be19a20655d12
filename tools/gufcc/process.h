// SPDX-License-Identifier: Apache-2.0
// Runs other programs.
#ifndef GUFUNC_TOOLS_GUFCC_PROCESS_H
#define GUFUNC_TOOLS_GUFCC_PROCESS_H

#include <functional>
#include <string>
#include <vector>

namespace gufunc::gufcc {

using Command = std::vector<std::string>;

struct ProcessResult {
  int status = -1;     // exit status; 128 + signal; -1: could not start
  std::string output;  // stdout and stderr as they came
};

ProcessResult run_process(const Command &command);

// The command as a line for a shell, for -v.
std::string command_line(const Command &command);

// Runs `job(i)` for 0 <= i < count on up to `workers` threads; stops handing out jobs after a
// false.
bool run_parallel(int workers, int count, const std::function<bool(int)> &job);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_PROCESS_H

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
  // The exit status; 128 + the signal that ended it; -1: it could not be started, or its output
  // not be read, as `output` reports.
  int status = -1;
  std::string output;  // stdout and stderr as they came
  int error = 0;       // errno of what failed here
};

ProcessResult run_process(const Command &command);

// The command as a line for a shell, for -v.
std::string command_line(const Command &command);

// Runs `job(i)` for 0 <= i < count on up to `workers` threads, fewer where no more can be started.
// Starts no job after one that returned false or threw; what the first threw is thrown on.
bool run_parallel(int workers, int count, const std::function<bool(int)> &job);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_PROCESS_H

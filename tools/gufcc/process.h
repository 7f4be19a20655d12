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
  // The exit status, or 128 + the signal that ended the program, or -1 if the program could not be
  // started or its output could not be read. If `status` is -1, `output` contains the reason.
  int status = -1;
  std::string output;  // stdout and stderr, interleaved
  int error = 0;       // errno of a failure in this process
};

ProcessResult run_process(const Command &command);

// The command as a shell command line, for -v.
std::string command_line(const Command &command);

// Runs `job(i)` for 0 <= i < count on up to `workers` threads, or fewer if no more can be started.
// Starts no further job after one returned false or threw. Rethrows the first exception.
bool run_parallel(int workers, int count, const std::function<bool(int)> &job);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_PROCESS_H

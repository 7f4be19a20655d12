// SPDX-License-Identifier: Apache-2.0
// Starts a Python process that measures NumPy on request.
#include "numpy_child.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace gufunc::bench {
namespace {

constexpr char kProgram[] =
    "import sys, time\n"
    "import numpy as np\n"
    "a, b, out = (np.ones(1, np.float32) for _ in range(3))\n"
    "add, clock = np.add, time.perf_counter\n"
    "for line in sys.stdin:\n"
    "    start = clock()\n"
    "    for _ in range(int(line)):\n"
    "        add(a, b, out)\n"
    "    print(clock() - start, flush=True)\n";

}  // namespace

NumpyChild::NumpyChild() {
  const char *python = std::getenv("GUFUNC_BENCH_PYTHON");
  int down[2];
  int up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return;
  // A write to a child that failed to start must not end this process. time() reports the failure.
  std::signal(SIGPIPE, SIG_IGN);
  if (fork() == 0) {
    dup2(down[0], 0);
    dup2(up[1], 1);
    close(down[1]);
    close(up[0]);
    if (python == nullptr) python = GUFUNC_BENCH_DEFAULT_PYTHON;
    execlp(python, python, "-c", kProgram, nullptr);  // argv[0] selects the virtual environment
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
}

double NumpyChild::time(int calls) {
  double seconds = -1;
  if (to_ == nullptr || from_ == nullptr) return seconds;
  std::fprintf(to_, "%d\n", calls);
  std::fflush(to_);
  return std::fscanf(from_, "%lf", &seconds) == 1 ? seconds : -1;
}

}  // namespace gufunc::bench

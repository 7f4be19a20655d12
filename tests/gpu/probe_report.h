// SPDX-License-Identifier: Apache-2.0
// What the program probe_child writes to the descriptor it is given, for the test that started it.
#ifndef GUFUNC_TESTS_GPU_PROBE_REPORT_H
#define GUFUNC_TESTS_GPU_PROBE_REPORT_H

#include <stdint.h>

namespace gufunc::gpu_test {

struct ProbeReport {
  int32_t done;  // 1: the child came to its end
  int32_t status, native_code, ndevices;
  int64_t microseconds;   // of the processor that the probe took
  int32_t library;        // the driver's library is in the process: before the probe, 2: after
  uint64_t calls_before;  // of the simulated driver's functions, before the probe
  uint64_t calls_after;   // and after it
  int32_t forked_wrong;   // slots that did not answer GUF_E_FORKED in a forked child, or hung
  int32_t parent_wrong;   // slots that did not work in the parent afterwards
  char driver[128];
  char message[480];
};

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_PROBE_REPORT_H

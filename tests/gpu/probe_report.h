// SPDX-License-Identifier: Apache-2.0
// The report that probe_child writes to its descriptor for the test that started the process.
#ifndef GUFUNC_TESTS_GPU_PROBE_REPORT_H
#define GUFUNC_TESTS_GPU_PROBE_REPORT_H

#include <stdint.h>

namespace gufunc::gpu_test {

struct ProbeReport {
  int32_t done;  // 1 if the child completed
  int32_t status, native_code, ndevices;
  int64_t microseconds;   // processor time of the probe
  int32_t library;        // 1 if the driver's library was loaded before the probe, 2 if after it
  uint64_t calls_before;  // number of calls of simulated driver functions before the probe
  uint64_t calls_after;   // number of calls of simulated driver functions after the probe
  int32_t forked_wrong;   // number of slots that hung or returned a status other than GUF_E_FORKED
  int32_t parent_wrong;   // number of slots that failed in the parent after the fork
  char driver[128];
  char message[480];
};

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_PROBE_REPORT_H

// SPDX-License-Identifier: Apache-2.0
// How a test drives the null plugin: the extension "null.control" of its table.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H
#define GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

#include <gufunc/backend.h>

// A script is words separated by ';':
//   devices=N        devices that probe reports from now on (1)
//   host_memory=0|1  of devices opened from now on (1); 0: addresses fault on the host
//   async=0|1        queued work waits for `complete` or a synchronize (0)
//   stuck=0|1        synchronize never completes anything and times out (0)
//   SLOT@N=STATUS    the N-th call of SLOT from now on (1: the next) fails with this status
//   SLOT@N=1         it throws an exception instead
//   SLOT=STATUS      every call of SLOT fails with this status; 0: none does
// The environment variable GUFUNC_NULL holds the script that is in force when the plugin is opened.
typedef struct null_control {
  guf_status (*script)(const char *text);  // GUF_E_ARG <= malformed
  void (*reset)(void);                     // no failures, defaults everywhere, counters 0
  uint64_t (*calls)(const char *slot);     // since reset; UINT64_MAX: no such slot
  uint32_t (*complete)(uint32_t most);     // runs queued work of all streams; returns how much
  uint64_t (*live)(const char *what);      // "memory", "stream", "event", "module": not closed
} null_control;

#endif  // GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

// SPDX-License-Identifier: Apache-2.0
// The interface through which tests control the null plugin: the extension "null.control" of its
// table.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H
#define GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

#include <gufunc/backend.h>

// A script is a list of words separated by ';':
//   devices=N        number of devices that probe reports from now on (1)
//   host_memory=0|1  for devices that are opened from now on (1); 0: addresses fault on the host
//   async=0|1        queued work waits for `complete` or a synchronize (0)
//   stuck=0|1        synchronize completes nothing and times out (0)
//   SLOT@N=STATUS    the N-th call of SLOT from now on (1: the next) fails with this status
//   SLOT@N=1         the call throws an exception instead
//   SLOT=STATUS      every call of SLOT fails with this status; 0: none fails
// The environment variable GUFUNC_NULL holds the script that applies when the plugin is opened.
typedef struct null_control {
  guf_status (*script)(const char *text);  // returns GUF_E_ARG for a malformed script
  void (*reset)(void);                     // clears failures and counters, restores defaults
  uint64_t (*calls)(const char *slot);     // number of calls since reset; UINT64_MAX: no such slot
  // Runs queued work of all streams; returns the number of items.
  uint32_t (*complete)(uint32_t most);
  uint64_t (*live)(const char *what);  // open objects: "memory", "stream", "event", "module"
} null_control;

#endif  // GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

// SPDX-License-Identifier: Apache-2.0
// The interface that tests use to control the null plugin: the extension "null.control" of its
// table.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H
#define GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

#include <gufunc/backend.h>

// A script is a list of words separated by ';'. Defaults are in parentheses.
//   devices=N        the number of devices that probe reports (1)
//   host_memory=0|1  whether the host can access the memory of devices that are opened later (1)
//   async=0|1        whether queued work waits for `complete` or a synchronize (0)
//   stuck=0|1        whether a synchronize completes no work and times out (0)
//   SLOT@N=STATUS    the N-th call of SLOT from now on fails with this status (N=1: the next call)
//   SLOT@N=1         the N-th call of SLOT from now on throws an exception
//   SLOT=STATUS      every call of SLOT fails with this status; with 0, no call fails
// The environment variable GUFUNC_NULL contains the script that runs when the plugin is opened.
typedef struct null_control {
  guf_status (*script)(const char *text);  // returns GUF_E_ARG for a malformed script
  void (*reset)(void);                     // clears failures and counters, restores the defaults
  uint64_t (*calls)(const char *slot);     // calls since reset, or UINT64_MAX for an unknown slot
  // Runs at most `most` queued work items of all streams and returns their number.
  uint32_t (*complete)(uint32_t most);
  // Returns the number of open objects of a kind: "memory", "stream", "event" or "module".
  uint64_t (*live)(const char *what);
} null_control;

#endif  // GUFUNC_TESTS_PLUGINS_NULL_CONTROL_H

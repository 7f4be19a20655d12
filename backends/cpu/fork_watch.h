// SPDX-License-Identifier: Apache-2.0
// Distinguishes a forked child from its parent without a system call and without an atfork handler.
#ifndef GUFUNC_BACKENDS_CPU_FORK_WATCH_H
#define GUFUNC_BACKENDS_CPU_FORK_WATCH_H

#include <cstdint>

namespace gufunc::cpu {

// Maps the page that fork wipes. Called when the plugin is opened; later calls do nothing.
void start_fork_watch();

// A number that differs between a process and the child that it forks; never 0. One load, about 1
// ns. Objects that own threads store the number when they are created; in a child the stored number
// differs from the current one.
uint32_t process_generation();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_FORK_WATCH_H

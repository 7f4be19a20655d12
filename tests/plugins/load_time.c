/* SPDX-License-Identifier: Apache-2.0
 * Measures the start-up cost of a program: the time to open the library and its C++ runtime, to
 * list the backends, and to open the cpu backend. The program is written in C, so that no C++
 * runtime is loaded before the library. Each trial is a separate process, because a process opens
 * a library only once. Usage: load_time LIBRARY LIMIT_MS (0 means no limit) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gufunc/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIBRARY, LIST, CPU, ALL, STEPS, TRIALS = 20 };

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Stores a result of dlsym as a function's address, because ISO C forbids the cast. */
static void find(void *library, const char *name, void *out_function) {
  void *const symbol = dlsym(library, name);
  memcpy(out_function, &symbol, sizeof symbol);
}

/* Measures the steps in a child process. Returns 0 if every step succeeded. */
static int measure(const char *path, double *times) {
  guf_status (*count)(uint32_t *, guf_error *) = NULL;
  guf_status (*get)(guf_context, const char *, guf_device *, guf_error *) = NULL;
  const double start = now_ms();
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 1;
  find(library, "guf_backend_count", &count);
  find(library, "guf_device_get", &get);
  if (count == NULL || get == NULL) return 1;
  const double opened = now_ms();
  uint32_t nbackends = 0;
  if (count(&nbackends, NULL) != GUF_OK || nbackends == 0) return 1;
  const double listed = now_ms();
  guf_device device = NULL;
  if (get(NULL, "cpu", &device, NULL) != GUF_OK) return 1;
  const double ready = now_ms();
  times[LIBRARY] = opened - start;
  times[LIST] = listed - opened;
  times[CPU] = ready - listed;
  times[ALL] = ready - start;
  return 0;
}

static int measure_in_child(const char *path, double *times) {
  int ends[2], status = -1;
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    const size_t size = STEPS * sizeof *times;
    const int failed = measure(path, times);
    _exit(failed != 0 || write(ends[1], times, size) != (ssize_t)size);
  }
  close(ends[1]);
  const ssize_t got = read(ends[0], times, STEPS * sizeof *times);
  close(ends[0]);
  waitpid(child, &status, 0);
  return status != 0 || got != (ssize_t)(STEPS * sizeof *times);
}

int main(int argc, char **argv) {
  double best[STEPS] = {1e9, 1e9, 1e9, 1e9};
  if (argc < 3) return 2;
  for (int trial = 0; trial < TRIALS; ++trial) {
    double times[STEPS];
    if (measure_in_child(argv[1], times) != 0) {
      fprintf(stderr, "%s or its cpu backend does not open\n", argv[1]);
      return 1;
    }
    for (int i = 0; i < STEPS; ++i) best[i] = times[i] < best[i] ? times[i] : best[i];
  }
  const double limit = strtod(argv[2], NULL);
  printf("library %.2f ms, list %.2f ms, cpu backend %.2f ms; all %.2f ms (best of %d)\n",
         best[LIBRARY], best[LIST], best[CPU], best[ALL], TRIALS);
  return limit > 0 && best[ALL] > limit;
}

// SPDX-License-Identifier: Apache-2.0
// A host loop that can be called: its function, its user pointer, and whether it may fail.
#ifndef GUFUNC_BACKENDS_CPU_HOST_LOOP_H
#define GUFUNC_BACKENDS_CPU_HOST_LOOP_H

#include <gufunc/backend.h>

namespace gufunc::cpu {

struct HostLoop {
  void *entry = nullptr;
  void *user = nullptr;
  bool has_status = false;

  guf_status operator()(char **args, const int64_t *dims, const int64_t *steps) const {
    if (__builtin_expect(has_status, 0)) {
      return reinterpret_cast<guf_loop_status>(entry)(args, dims, steps, user);
    }
    reinterpret_cast<guf_loop_numpy>(entry)(args, dims, steps, user);
    return GUF_OK;
  }
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_HOST_LOOP_H

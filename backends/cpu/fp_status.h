// SPDX-License-Identifier: Apache-2.0
// Floating-point flags of a launch, computed from the values of its operands and results. The flags
// of the processor are never read.
#ifndef GUFUNC_BACKENDS_CPU_FP_STATUS_H
#define GUFUNC_BACKENDS_CPU_FP_STATUS_H

#include <gufunc/backend.h>

#include <atomic>

namespace gufunc::cpu {

struct HostLoop;

// Lives on the stack of a launch; its threads share it. The predicates are docs/fp-events.md's.
class FpStatus {
 public:
  FpStatus(const guf_launch_block &block, const guf_launch_watch &watch)
      : block_(block), watch_(watch) {}

  // Runs the loop in blocks of items, each between a look at its operands and one at its results.
  guf_status run(const HostLoop &loop, char **args, const int64_t *dims, const int64_t *steps);

  // Results that were kept in a wider type until now: rounding them is a step of its own.
  void check_rounding(guf_dtype wide, const char *from, int64_t from_step, guf_dtype narrow,
                      const char *to, int64_t to_step, int64_t count);

  // Reports what was found. Errors  GUF_E_FLOATING_POINT <= an event that the watch fails for
  guf_status finish(guf_error *error);

 private:
  static constexpr int64_t kBlockItems = 256;

  void check_inputs(char *const *args, const int64_t *dims, const int64_t *steps, uint8_t *seen);
  uint32_t check_results(char *const *args, const int64_t *dims, const int64_t *steps,
                         const uint8_t *seen) const;
  // Those that the function has.
  uint32_t known(uint32_t events) const;
  uint32_t integer_events(char *const *args, const int64_t *steps, int64_t count) const;

  const guf_launch_block &block_;
  const guf_launch_watch &watch_;
  std::atomic<uint32_t> found_{0};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_FP_STATUS_H

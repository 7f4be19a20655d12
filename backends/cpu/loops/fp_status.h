// SPDX-License-Identifier: Apache-2.0
// Floating-point flags of a launch, computed from the values of its operands and results. The flags
// of the processor are not read.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_FP_STATUS_H
#define GUFUNC_BACKENDS_CPU_LOOPS_FP_STATUS_H

#include <gufunc/backend.h>
#include <gufunc/dtype.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace gufunc::cpu {

// The classes of the elements of an array: NaN, infinite, zero or tiny.
enum ValueClass : uint8_t {
  kIsNaN = 1u << 0,
  kIsInfinite = 1u << 1,
  kIsZero = 1u << 2,
  kIsTiny = 1u << 3  // below the smallest normal number, including zero; set only for real types
};

// ORs the class of each of `count` elements into `classes`.
// A complex number is NaN or infinite if one of its parts is, and zero if both parts are zero.
// NaT counts as NaN. Integers and bools have no class.
void classify(guf_dtype dtype, const char *elements, int64_t step, int64_t count, uint8_t *classes);

struct HostLoop;

// The object is on the stack of the launch, and all threads of the launch share it.
// docs/fp-flags.md defines when a flag is raised.
class FpStatus {
 public:
  FpStatus(const guf_launch_block &block, const guf_fp_status &fp_status)
      : block_(block), status_(fp_status) {}

  // Runs the loop in blocks of items. The operands of a block are examined before the call of the
  // loop, and the results after the call.
  guf_status run(const HostLoop &loop, char **args, const int64_t *dims, const int64_t *steps);

  // Examines results that are rounded from a wider type.
  // The rounding is a separate step with its own flags.
  void check_rounding(guf_dtype wide, const char *from, int64_t from_step, guf_dtype narrow,
                      const char *to, int64_t to_step, int64_t count);

  // Reports the flags.
  // Errors  GUF_E_FLOATING_POINT <= a flag is raised that the request treats as an error
  guf_status finish(guf_error *error);

 private:
  static constexpr int64_t kBlockItems = 256;

  void check_inputs(char *const *args, const int64_t *dims, const int64_t *steps, uint8_t *seen);
  uint32_t check_results(char *const *args, const int64_t *dims, const int64_t *steps,
                         const uint8_t *seen) const;
  // Returns the flags in `fp_flags` that the function can raise.
  uint32_t known(uint32_t fp_flags) const;
  uint32_t integer_fp_flags(char *const *args, const int64_t *steps, int64_t count) const;

  const guf_launch_block &block_;
  const guf_fp_status &status_;
  std::atomic<uint32_t> found_{0};
};

// A copy of the request for floating-point flags. Queued work needs the copy, because the caller's
// request is valid only during the caller's call.
class OwnedFpStatus {
 public:
  // Copies `fp_status` and returns the copy, or NULL for NULL. A long name is truncated.
  const guf_fp_status *copy(const guf_fp_status *fp_status) {
    if (fp_status == nullptr) return nullptr;
    fp_status_ = *fp_status;
    std::memcpy(name_, fp_status_.name, strnlen(fp_status_.name, sizeof name_ - 1));
    fp_status_.name = name_;
    return &fp_status_;
  }

 private:
  guf_fp_status fp_status_;
  char name_[64] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_FP_STATUS_H

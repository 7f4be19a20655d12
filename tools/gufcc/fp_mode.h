// SPDX-License-Identifier: Apache-2.0
// How the code of a function computes with floating-point numbers: the option fp= of registrations,
// and --fp of the command line.
#ifndef GUFUNC_TOOLS_GUFCC_FP_MODE_H
#define GUFUNC_TOOLS_GUFCC_FP_MODE_H

#include <array>
#include <string>

#include "diagnostic.h"

namespace gufunc::gufcc {

enum class FpMode {
  kStrict,  // rounds every operation and calls the dialect's own mathematical functions
  kFast,    // allows contraction of a * b + c; otherwise like kVendor
  kVendor,  // like kStrict, but devices call the mathematical functions of their vendor
};

// Whether devices call the mathematical functions of their vendor. kFast includes this, because the
// dialect's own functions require code without contraction (gufunc/kernel/math_bits.hpp).
inline bool calls_vendor(FpMode mode) {
  return mode != FpMode::kStrict;
}

constexpr std::array<const char *, 3> kFpModes = {"strict", "fast", "vendor"};

inline const char *name_of(FpMode mode) {
  return kFpModes[static_cast<size_t>(mode)];
}

inline bool read_fp_mode(const Place &place, const std::string &value, FpMode *mode,
                         Diagnostics *diagnostics) {
  for (size_t i = 0; i < kFpModes.size(); ++i) {
    if (value != kFpModes[i]) continue;
    *mode = static_cast<FpMode>(i);
    return true;
  }
  return diagnostics->error(place, "fp: expected fast, strict or vendor, got '{}'", value);
}

inline const char *contraction_flag(FpMode mode) {
  return mode == FpMode::kFast ? "-ffp-contract=fast" : "-ffp-contract=off";
}

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_FP_MODE_H

// SPDX-License-Identifier: Apache-2.0
// Maps every error code of a driver to the status that a plugin must report. The table follows the
// vendors' documentation and is independent of the plugins' tables.
#ifndef GUFUNC_TESTS_GPU_FAULT_CODES_H
#define GUFUNC_TESTS_GPU_FAULT_CODES_H

#include <gufunc/status.h>

#include <vector>

namespace gufunc::gpu_test {

struct FaultCode {
  int code;
  guf_status status;  // status of the call, unless an argument of the program caused the code
  bool lost;          // the device is unusable for the rest of the process
};

// Returns all codes of this vendor's driver except success, and two codes that no driver defines.
const std::vector<FaultCode> &fault_codes();

// Codes that need special handling and are the same for both vendors.
inline constexpr int kOutOfMemory = 2;
inline constexpr int kMapFailed = 205;
inline constexpr int kNoBinary = 209;
inline constexpr int kNotFound = 500;
inline constexpr int kNotReady = 600;
inline constexpr int kWrongValue = 1;
inline constexpr int kPeerEnabled = 704;
inline constexpr int kContextDestroyed = 709;
inline constexpr int kUpdateFailed = 910;
inline constexpr int kRuntimeMemory = 1052;  // HIP only

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_CODES_H

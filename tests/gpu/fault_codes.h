// SPDX-License-Identifier: Apache-2.0
// What a plugin has to say for every code of its driver: written from the vendors' documentation,
// not from the plugins' tables.
#ifndef GUFUNC_TESTS_GPU_FAULT_CODES_H
#define GUFUNC_TESTS_GPU_FAULT_CODES_H

#include <gufunc/status.h>

#include <vector>

namespace gufunc::gpu_test {

struct FaultCode {
  int code;
  guf_status status;  // of a call that it fails, unless it is about what the program brought
  bool lost;          // the device is gone for this process
};

// All codes of this vendor's driver but success, two that no driver has among them.
const std::vector<FaultCode> &fault_codes();

// Codes with a meaning of their own, the same of both vendors.
inline constexpr int kOutOfMemory = 2;
inline constexpr int kMapFailed = 205;
inline constexpr int kNoBinary = 209;
inline constexpr int kNotFound = 500;
inline constexpr int kNotReady = 600;
inline constexpr int kWrongValue = 1;
inline constexpr int kPeerEnabled = 704;
inline constexpr int kContextDestroyed = 709;
inline constexpr int kUpdateFailed = 910;
inline constexpr int kRuntimeMemory = 1052;  // HIP's

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_CODES_H

// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/fault_codes.h"

#include <initializer_list>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {
namespace {

struct StatusCodes {
  guf_status status;
  std::initializer_list<int> codes;
};

// According to cuda.h, each code of GUF_E_DEVICE_LOST means that the process must end, the context
// is unusable or destroyed, the driver is shut down, or the device is lost.
const StatusCodes kCuda[] = {
    {GUF_E_DEVICE_LOST,
     {4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911}},
    {GUF_E_ARG, {1, 202, 207, 208, 210, 211, 212, 213, 216, 713, 914, 915}},
    {GUF_E_DEVICE_MEMORY, {2, 205}},
    {GUF_E_NO_DRIVER, {3, 34, 302, 303}},
    {GUF_E_DRIVER_OLD, {36, 803, 804}},
    {GUF_E_NO_DEVICE, {46, 100, 101, 102, 802, 805, 806, 807, 808, 809}},
    {GUF_E_NO_IMAGE, {200, 209, 218, 221, 222, 223, 300}},
    {GUF_E_HANDLE, {201, 400}},
    {GUF_E_IO, {301, 304}},
    {GUF_E_NOT_FOUND, {500}},
    {GUF_E_EXISTS, {704, 708, 712}},
    {GUF_E_DEVICE_MISMATCH, {705}},
    {GUF_E_UNSUPPORTED, {5, 6, 7, 8, 215, 217, 219, 224, 225, 402, 711, 800, 801, 811, 812, 910}},
    {GUF_E_CAPTURE, {900, 901, 902, 903, 904, 905, 906, 907, 908}},
    // Only queries may return "not ready".
    {GUF_E_LAUNCH, {206, 401, 600, 701, 703, 720, 909, 912, 913, 916, 999, 77, 5000}},
};

const StatusCodes kHip[] = {
    {GUF_E_DEVICE_LOST, {4, 53, 214, 700, 702, 709, 710, 719}},
    {GUF_E_ARG,
     {1, 12, 13, 17, 21, 202, 207, 208, 210, 211, 212, 213, 216, 713, 911, 912, 914, 915}},
    {GUF_E_DEVICE_MEMORY, {2, 205, 1052}},
    {GUF_E_NO_DRIVER, {3, 302, 303}},
    {GUF_E_DRIVER_OLD, {35}},
    {GUF_E_NO_DEVICE, {100, 101}},
    {GUF_E_NO_IMAGE, {98, 200, 209, 218, 300}},
    {GUF_E_HANDLE, {201, 400}},
    {GUF_E_IO, {301, 304}},
    {GUF_E_NOT_FOUND, {500}},
    {GUF_E_EXISTS, {704, 708, 712}},
    {GUF_E_DEVICE_MISMATCH, {705}},
    {GUF_E_UNSUPPORTED, {5, 6, 7, 8, 215, 217, 219, 801, 910}},
    {GUF_E_CAPTURE, {900, 901, 902, 903, 904, 905, 906, 907, 908}},
    {GUF_E_LAUNCH, {9, 52, 206, 401, 600, 701, 720, 916, 999, 1053, 1054, 77, 5000}},
};

template <size_t kRows>
std::vector<FaultCode> all_of(const StatusCodes (&rows)[kRows]) {
  std::vector<FaultCode> all;
  for (const StatusCodes &row : rows) {
    for (const int code : row.codes) {
      all.push_back({code, row.status, row.status == GUF_E_DEVICE_LOST});
    }
  }
  return all;
}

}  // namespace

const std::vector<FaultCode> &fault_codes() {
  static const std::vector<FaultCode> codes = is_cuda() ? all_of(kCuda) : all_of(kHip);
  return codes;
}

}  // namespace gufunc::gpu_test

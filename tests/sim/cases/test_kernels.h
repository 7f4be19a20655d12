// SPDX-License-Identifier: Apache-2.0
// Kernels that the simulator's tests launch, and images that contain the names of the kernels. The
// images contain no device code: the emulation file lists the digests of the images and provides
// the code.
#ifndef GUFUNC_TESTS_SIM_CASES_TEST_KERNELS_H
#define GUFUNC_TESTS_SIM_CASES_TEST_KERNELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim_test {

// The argument that every test kernel receives by value.
struct TestBlock {
  uint64_t a, b, out;
  uint32_t n, unused;
};

struct TestKernel {
  const char *name;
  uint32_t argument_bytes;
  uint32_t max_threads;
  uint32_t shared_bytes;
};

// sim_add     out[i] = a[i] + b[i], f32
// sim_sum     out[block] = sum of a in the block, f32; needs 4 bytes of shared memory per thread
// sim_missed  the first item returns before the barrier
// sim_order   every item writes its number to out[0]
// sim_other   the emulation file and the image declare different argument sizes
// sim_absent  a kernel that the emulation file does not contain
const std::vector<TestKernel> &test_kernels();

std::string ptx_image(const std::string &version, const std::string &target);
std::string cubin_image(int arch);
// `flags` is the value of e_flags: 0x54C is gfx942 with any xnack and any sramecc.
std::string amd_image(uint32_t flags);

// Returns every image that the emulation file lists.
std::vector<std::string> listed_images();

}  // namespace sim_test

#endif  // GUFUNC_TESTS_SIM_CASES_TEST_KERNELS_H

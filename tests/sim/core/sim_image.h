// SPDX-License-Identifier: Apache-2.0
// Reads the properties of images. As in real drivers, the caller does not pass the length of an
// image. The headers of the image define the length.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H
#define GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sim {

struct Parameter {
  uint32_t offset, bytes;
};

struct ImageKernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t argument_bytes = 0;  // offset of the end of the last parameter
  uint32_t max_threads = 1024;
  uint32_t registers = 32;
  uint32_t shared_bytes = 0;  // statically allocated shared memory
  uint32_t local_bytes = 0;   // local memory per thread
};

struct Image {
  uint64_t size = 0;    // size of the image in bytes
  int arch = 0;         // architecture, such as 90 for sm_90
  int ptx_version = 0;  // PTX version, such as 63 for 6.3, or 0 for compiled code
  std::vector<ImageKernel> kernels;
  std::shared_ptr<const std::string> text;  // the PTX text, if launches interpret it
};

// Properties of a device that images depend on.
struct CudaTarget {
  int arch;            // such as 90 for sm_90
  int driver_version;  // such as 12080 for CUDA 12.8
};

// Like ptxas, read_ptx rejects a text that calls a function that the text does not declare.
// Errors  kInvalidImage, kNoBinaryForGpu, kInvalidPtx, kUnsupportedPtxVersion
int read_cubin(const void *data, const CudaTarget &target, Image *out);
int read_ptx(const void *data, const CudaTarget &target, Image *out);
// Reads any image that cuModuleLoadData accepts: a cubin or PTX.
int read_cuda_image(const void *data, const CudaTarget &target, Image *out);
// `arch` has the format of gcnArchName: "gfx942:sramecc+:xnack-".
// Errors  kInvalidImage, kNoBinaryForGpu
int read_amd_image(const void *data, const std::string &arch, Image *out);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H

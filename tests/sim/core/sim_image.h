// SPDX-License-Identifier: Apache-2.0
// Reads the properties of images. Parsers read memory of unknown length, as drivers do; the headers
// define the length.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H
#define GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct Parameter {
  uint32_t offset, bytes;
};

struct ImageKernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t argument_bytes = 0;  // up to the end of the last parameter
  uint32_t max_threads = 1024;
  uint32_t registers = 32;
  uint32_t shared_bytes = 0;  // static
  uint32_t local_bytes = 0;   // per thread
};

struct Image {
  uint64_t size = 0;    // size of the image in bytes
  int arch = 0;         // sm: 90
  int ptx_version = 0;  // 63; 0 for compiled code
  std::vector<ImageKernel> kernels;
};

// Properties of a device that images depend on.
struct CudaTarget {
  int arch;            // 90
  int driver_version;  // 12080
};

// read_ptx requires that the text defines every function that it calls, as assemblers do.
// Errors  kInvalidImage, kNoBinaryForGpu, kInvalidPtx, kUnsupportedPtxVersion
int read_cubin(const void *data, const CudaTarget &target, Image *out);
int read_ptx(const void *data, const CudaTarget &target, Image *out);
// Reads an image as cuModuleLoadData accepts it: a cubin or PTX.
int read_cuda_image(const void *data, const CudaTarget &target, Image *out);
// `arch` in the format of gcnArchName: "gfx942:sramecc+:xnack-".
// Errors  kInvalidImage, kNoBinaryForGpu
int read_amd_image(const void *data, const std::string &arch, Image *out);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_IMAGE_H

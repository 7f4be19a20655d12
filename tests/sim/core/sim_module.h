// SPDX-License-Identifier: Apache-2.0
// The images that a simulated driver has loaded, their kernels, and the emulation files whose
// functions run in place of device code. Callers hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_MODULE_H
#define GUFUNC_TESTS_SIM_CORE_SIM_MODULE_H

#include <gufunc/kernel/work_item.hpp>

#include "tests/ptx/ptx_program.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_image.h"

namespace sim {

struct Kernel {
  void *handle = nullptr;
  Context *context = nullptr;
  void *module = nullptr;
  ImageKernel message;  // properties that the image declares
  // Function that runs the kernel, or null, and the PTX text that has the kernel, or null. If both
  // are null, why_not contains the reason.
  const guf::device::emulated_kernel *items = nullptr;
  std::shared_ptr<ptx::Program> program;
  std::string why_not;
  uint32_t max_dynamic_shared = 0;  // limit that the program has set
  bool shared_set = false;
};

struct Module {
  void *handle = nullptr;
  Context *context = nullptr;
  Image image;
  std::string digest;                     // SHA-256 of the image's bytes, in hexadecimal
  std::shared_ptr<ptx::Program> program;  // parsed when the first kernel is requested
  std::map<std::string, std::shared_ptr<Kernel>> kernels;
};

// A CUDA library. It becomes a module in each context that uses it.
struct Library {
  std::string digest;
  Image image;
  std::map<void *, void *> modules;       // indexed by context
  std::map<std::string, void *> kernels;  // indexed by name
};

// A kernel of a library. It becomes a function in each context that uses it.
struct LibraryKernel {
  void *library = nullptr;
  std::string name;
};

// Returns the SHA-256 of an image's bytes.
std::string image_digest(const void *data, const Image &image);

// Creates a module from an image.
std::shared_ptr<Module> add_module(Driver &driver, Context &context, const std::string &digest,
                                   Image image);
// Finds a kernel by name and creates its handle at the first request. Returns null if no such
// kernel exists.
std::shared_ptr<Kernel> kernel_of(Driver &driver, Module &module, const std::string &name);
int remove_module(Driver &driver, Lock &lock, void *handle);

// Finds the emulation file that lists an image, and returns its function for the kernel. If there
// is no such file or function, returns null and stores the reason in *why_not.
const guf::device::emulated_kernel *find_emulation(const Config &config, const std::string &digest,
                                                   uint64_t size, const std::string &kernel,
                                                   std::string *why_not);

// Finds the function for a kernel of a PTX text that no emulation file lists. The text may be an
// excerpt of a listed PTX image, so the search uses emulation files that contain the kernel and
// list a longer PTX image. Returns null if no such file exists, or if two such files were compiled
// from different sources.
const guf::device::emulated_kernel *find_excerpt_emulation(const Config &config, uint64_t size,
                                                           const std::string &kernel,
                                                           std::string *why_not);

struct LaunchShape {
  uint32_t blocks[3];
  uint32_t threads[3];
  uint32_t shared_bytes;
};

// Queues a kernel. The arguments are copied before launch returns. The caller must have checked the
// limits of the vendor. launch checks the limits of the image.
// Errors  kInvalidValue (no arguments, or a size that differs from the image's)
int launch(Driver &driver, const std::shared_ptr<Stream> &stream,
           const std::shared_ptr<Kernel> &kernel, const LaunchShape &shape, void **parameters,
           void **extra, const void *extra_end);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_MODULE_H

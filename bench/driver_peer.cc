// SPDX-License-Identifier: Apache-2.0
#include "driver_peer.h"

#include <dlfcn.h>
#include <gufunc/module_table.h>

#include <cstdlib>

namespace gufunc::bench {

template <class Function>
void DriverPeer::find(const char *name, Function *out) {
  *out = reinterpret_cast<Function>(dlsym(library_, name));
  if (*out == nullptr) throw Failure{std::string("the driver has no ") + name};
}

void DriverPeer::check(const char *function, Code code) {
  if (code != 0) throw Failure{std::string(function) + " returns " + std::to_string(code)};
}

DriverPeer &DriverPeer::of(const std::string &spec) {
  // A benchmark process uses one device, so there is one object. It is never destroyed, because its
  // driver is never closed.
  static DriverPeer *const only = new DriverPeer(spec);
  return *only;
}

DriverPeer::DriverPeer(const std::string &spec) : cuda_(spec.starts_with("cuda")) {
  if (!cuda_ && !spec.starts_with("roc")) throw Failure{"no driver behind device " + spec};
  const size_t colon = spec.find(':');
  const int index = colon == std::string::npos ? 0 : std::atoi(spec.c_str() + colon + 1);
  // The plugins try these names in the same order, so that a plugin and this class use the same
  // library.
  const char *const names[] = {"libcuda.so.1", "libamdhip64.so.7", "libamdhip64.so.6",
                               "libamdhip64.so.5"};
  std::string why;
  for (const char *const name : names) {
    if (library_ != nullptr || (name == names[0]) != cuda_) continue;
    library_ = dlopen(name, RTLD_NOW);
    if (library_ == nullptr && why.empty()) why = dlerror();
  }
  if (library_ == nullptr) throw Failure{why};
  cuda_ ? open_cuda(index) : open_hip(index);
}

void DriverPeer::open_cuda(int index) {
  Code (*init)(unsigned) = nullptr;
  Code (*retain)(void **, int) = nullptr;
  Code (*make_current)(void *) = nullptr;
  Code (*create)(void **, unsigned, int) = nullptr;
  find("cuInit", &init);
  find("cuDevicePrimaryCtxRetain", &retain);
  find("cuCtxSetCurrent", &make_current);
  find("cuStreamCreateWithPriority", &create);
  find("cuMemcpyDtoDAsync_v2", &copy_);
  find("cuLaunchKernel", &launch_);
  find("cuStreamSynchronize", &wait_);
  void *context = nullptr;
  check("cuInit", init(0));
  check("cuDevicePrimaryCtxRetain", retain(&context, index));
  check("cuCtxSetCurrent", make_current(context));
  check("cuStreamCreateWithPriority", create(&stream_, 1, 0));
}

void DriverPeer::open_hip(int index) {
  Code (*init)(unsigned) = nullptr;
  Code (*set_device)(int) = nullptr;
  Code (*create)(void **, unsigned, int) = nullptr;
  find("hipInit", &init);
  find("hipSetDevice", &set_device);
  find("hipStreamCreateWithPriority", &create);
  find("hipMemcpyDtoDAsync", &copy_);
  find("hipModuleLaunchKernel", &launch_);
  find("hipStreamSynchronize", &wait_);
  check("hipInit", init(0));
  check("hipSetDevice", set_device(index));
  check("hipStreamCreateWithPriority", create(&stream_, 1, 0));
}

void DriverPeer::load_empty(const std::string &path) {
  if (kernel_ == nullptr) load_image(path);
}

// Loads the first image that the driver accepts.
void DriverPeer::load_image(const std::string &path) {
  void *const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw Failure{dlerror()};
  const auto *const table = static_cast<const guf_module_v1 *>(dlsym(module, "gufunc_module_v1"));
  if (table == nullptr || table->nraw_kernels == 0) throw Failure{path + " has no raw kernel"};
  const guf_module_kernel &kernel = table->raw_kernels[0];
  Code (*load)(void **, const void *) = nullptr;
  Code (*function)(void **, void *, const char *) = nullptr;
  find(cuda_ ? "cuModuleLoadData" : "hipModuleLoadData", &load);
  find(cuda_ ? "cuModuleGetFunction" : "hipModuleGetFunction", &function);
  argument_bytes_ = kernel.parameters->block_bytes;
  if (argument_bytes_ > sizeof argument_) throw Failure{path + ": its kernel has arguments"};
  int refused = 0;
  for (uint32_t i = 0; i < table->nimages; ++i) {
    const guf_module_image &image = table->images[i];
    const bool amd = image.format == GUF_IMAGE_HSACO;
    if (image.data == nullptr || image.codec != 0 || amd == cuda_) continue;
    void *loaded = nullptr;
    refused = load(&loaded, static_cast<const char *>(image.data) + image.offset);
    if (refused != 0) continue;
    check("finding the empty kernel", function(&kernel_, loaded, kernel.symbol));
    return;
  }
  throw Failure{path + " has no image for this device, the driver's last error is " +
                std::to_string(refused)};
}

void DriverPeer::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  check("the driver's copy", copy_(to, from, bytes, stream_));
}

void DriverPeer::launch_empty() {
  size_t bytes = argument_bytes_;
  void *const end = reinterpret_cast<void *>(uintptr_t{cuda_ ? 0U : 3U});
  void *extra[] = {reinterpret_cast<void *>(uintptr_t{1}), argument_,
                   reinterpret_cast<void *>(uintptr_t{2}), &bytes, end};
  check("the driver's launch", launch_(kernel_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, extra));
}

void DriverPeer::wait() {
  check("the driver's wait", wait_(stream_));
}

}  // namespace gufunc::bench

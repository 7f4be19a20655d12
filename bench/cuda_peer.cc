// SPDX-License-Identifier: Apache-2.0
#include "cuda_peer.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace gufunc::bench {
namespace {

constexpr char kEmpty[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry empty()\n{\n  ret;\n}\n";

template <class Function>
Function symbol(void *library, const char *name) {
  void *const found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(found);
}

template <class... Parameters, class... Arguments>
void call(void *library, const char *name, Arguments... arguments) {
  const int status = symbol<int (*)(Parameters...)>(library, name)(arguments...);
  if (status == 0) return;
  std::fprintf(stderr, "%s: %d\n", name, status);
  std::exit(1);
}

}  // namespace

CudaPeer::CudaPeer() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
  if (library_ == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  void *context = nullptr, *module = nullptr;
  call<unsigned>(library_, "cuInit", 0U);
  call<void **, int>(library_, "cuDevicePrimaryCtxRetain", &context, 0);
  call<void *>(library_, "cuCtxSetCurrent", context);
  call<void **, unsigned, int>(library_, "cuStreamCreateWithPriority", &stream_, 1U, 0);
  call<void **, const void *>(library_, "cuModuleLoadData", &module,
                              static_cast<const void *>(kEmpty));
  call<void **, void *, const char *>(library_, "cuModuleGetFunction", &kernel_, module,
                                      static_cast<const char *>("empty"));
}

void CudaPeer::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  static const auto run =
      symbol<int (*)(uint64_t, uint64_t, size_t, void *)>(library_, "cuMemcpyDtoDAsync_v2");
  if (run(to, from, bytes, stream_) != 0) std::exit(1);
}

void CudaPeer::launch_empty() {
  static const auto run =
      symbol<int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **)>(library_, "cuLaunchKernel");
  if (run(kernel_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, nullptr) != 0) std::exit(1);
}

void CudaPeer::wait() {
  call<void *>(library_, "cuStreamSynchronize", stream_);
}

}  // namespace gufunc::bench

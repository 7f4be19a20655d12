// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_module.h"

#include <sha256.h>

#include <cstring>
#include <deque>

namespace sim {

namespace {

struct KnownImage {
  std::string bytes, digest;
};

}  // namespace

// Computes the digest of an image. The digests of the last few images are cached, because programs
// load the same images repeatedly.
std::string image_digest(const void *data, const Image &image) {
  static auto *known = new std::deque<KnownImage>;
  for (const KnownImage &one : *known) {
    const bool same =
        one.bytes.size() == image.size && std::memcmp(one.bytes.data(), data, image.size) == 0;
    if (same) return one.digest;
  }
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, static_cast<const uint8_t *>(data), image.size);
  char text[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&state, text);
  constexpr size_t kMax = 16;
  known->push_front({std::string(static_cast<const char *>(data), image.size), text});
  if (known->size() > kMax) known->pop_back();
  return text;
}

std::shared_ptr<Module> add_module(Driver &driver, Context &context, const std::string &digest,
                                   Image image) {
  auto module = std::make_shared<Module>();
  module->handle = driver.new_handle();
  module->context = &context;
  module->digest = digest;
  module->image = std::move(image);
  driver.modules.add(module->handle, module);
  return module;
}

std::shared_ptr<Kernel> kernel_of(Driver &driver, Module &module, const std::string &name) {
  std::shared_ptr<Kernel> &kernel = module.kernels[name];
  if (kernel != nullptr) return kernel;
  for (const ImageKernel &message : module.image.kernels) {
    if (message.name != name) continue;
    kernel = std::make_shared<Kernel>();
    kernel->handle = driver.new_handle();
    kernel->context = module.context;
    kernel->module = module.handle;
    kernel->message = message;
    kernel->items =
        find_emulation(driver.config, module.digest, module.image.size, name, &kernel->why_not);
    if (kernel->items == nullptr && module.image.ptx_version != 0) {
      kernel->items =
          find_excerpt_emulation(driver.config, module.image.size, name, &kernel->why_not);
    }
    driver.kernels.add(kernel->handle, kernel);
    return kernel;
  }
  module.kernels.erase(name);
  return nullptr;
}

int remove_module(Driver &driver, Lock &lock, void *handle) {
  const std::shared_ptr<Module> module = driver.modules.find(handle);
  if (module == nullptr) return kInvalidHandle;
  driver.engine.wait_all(lock, module->context);
  for (const auto &[name, kernel] : module->kernels) driver.kernels.remove(kernel->handle);
  driver.modules.remove(handle);
  return kSuccess;
}

}  // namespace sim

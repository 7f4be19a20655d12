// SPDX-License-Identifier: Apache-2.0
// All entries are looked up and loaded when a kernel is asked for, so that no launch, which may be
// under capture, makes the driver load code.
#include "backends/gpu/gpu_kernel.h"

#include <cstdio>
#include <cstring>

#include "backends/gpu/gpu_device.h"

namespace gufunc::gpu {
namespace {

constexpr size_t kLongestName = 512;
constexpr char kRawPrefix[] = "guf_rk_";  // raw kernels have one entry, the symbol itself

const char *target_of(const guf_module_image &image) {
  return image.target == nullptr ? "" : image.target;
}

bool is_generalized(Entry entry) {
  return entry >= Entry::kThread && entry <= Entry::kBlock;
}

}  // namespace

int32_t score_image(Device &device, const guf_module_image &image) {
  const char *const target = target_of(image);
  if (image.format == GUF_IMAGE_HOST || image.data == nullptr || image.size == 0) return 0;
  return device.vendor().score(device.facts().target, image.format, target);
}

guf_status Module::load(Device &device, const guf_module_image &image, Module **out,
                        guf_error *error) {
  const char *const target = target_of(image);
  if (image.codec != GUF_CODEC_NONE) {
    return fail(error, GUF_E_UNSUPPORTED, "image %.40s: found codec %d, wanted plain bytes", target,
                image.codec);
  }
  if (score_image(device, image) == 0) {
    return fail(error, GUF_E_NO_IMAGE, "image: found format %d for '%.40s', wanted one for %s",
                image.format, target, device.facts().target);
  }
  const RelaxedCapture relaxed(device.driver());
  Native native = nullptr;
  const Code code = device.driver().module_load(image.data, &native);
  if (code != kDone) {
    const Meaning &meaning = device.driver().meaning(code);
    if (meaning.sense == Sense::kNoImage) {
      return fail_native(error, GUF_E_NO_IMAGE, code, "%s (%d)", meaning.name, code);
    }
    char what[160];
    std::snprintf(what, sizeof(what), "loading the image '%.40s' for device %d, %s,", target,
                  device.context().index, device.facts().target);
    return device.check(code, what, error);
  }
  auto *module = create<Module>(device, native);
  if (module == nullptr) {
    device.note(device.driver().module_unload(native));
    return fail_memory(error, "a module");
  }
  *out = module;
  return GUF_OK;
}

void Module::unload() {
  {
    const RelaxedCapture relaxed(device_.driver());
    device_.note(device_.driver().module_unload(native_));
  }
  while (first_ != nullptr) {
    Kernel *const kernel = first_;
    first_ = kernel->next;
    host_free(kernel);
  }
  destroy(this);
}

guf_status Module::function(const char *name, Native *out, guf_error *error) {
  *out = nullptr;
  Driver &driver = device_.driver();
  Code code = driver.function_find(native_, name, out);
  if (driver.meaning(code).sense == Sense::kNotFound) {
    *out = nullptr;
    return GUF_OK;
  }
  char what[128];
  if (code == kDone) code = driver.function_prepare(*out, device_.facts().max_shared_bytes);
  if (code == kDone) return GUF_OK;
  std::snprintf(what, sizeof(what), "loading the kernel '%.80s'", name);
  return device_.check(code, what, error);
}

guf_status Module::resolve(const char *stem, Kernel *kernel, guf_error *error) {
  if (std::strncmp(stem, kRawPrefix, sizeof(kRawPrefix) - 1) == 0) {
    GUF_GPU_TRY(function(stem, &kernel->raw, error));
    if (kernel->raw != nullptr) return GUF_OK;
    return fail(error, GUF_E_NO_IMAGE, "the image has no code for the kernel '%.80s'", stem);
  }
  bool any = false;
  for (int entry = 0; entry < kLoopEntries; ++entry) {
    char name[kLongestName];
    std::snprintf(name, sizeof(name), "%s%s", stem, entry_name(static_cast<Entry>(entry)));
    GUF_GPU_TRY(function(name, &kernel->functions[entry], error));
    any |= kernel->functions[entry] != nullptr;
    const bool limited = device_.traits().unit_local_bytes != 0;
    if (kernel->functions[entry] == nullptr || !limited) continue;
    if (!is_generalized(static_cast<Entry>(entry))) continue;
    FunctionFacts facts = {};
    const Code code = device_.driver().function_facts(kernel->functions[entry], &facts);
    GUF_GPU_TRY(device_.check(code, "asking for a kernel's memory", error));
    kernel->local_bytes[entry] = facts.local_bytes;
  }
  if (any) return GUF_OK;
  return fail(error, GUF_E_NO_IMAGE, "the image has no code for the kernel '%.80s'", stem);
}

guf_status Module::kernel(const char *stem, Kernel **out, guf_error *error) {
  const size_t length = strnlen(stem, kLongestName);
  if (length > kLongestName - 16) {
    return fail(error, GUF_E_UNSUPPORTED, "kernel name: found more than %zu bytes",
                kLongestName - 16);
  }
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard lock(mutex_);
  for (Kernel *known = first_; known != nullptr; known = known->next) {
    if (std::strcmp(known->name, stem) == 0) {
      *out = known;
      return GUF_OK;
    }
  }
  void *memory = host_alloc(sizeof(Kernel) + length + 1, alignof(Kernel));
  if (memory == nullptr) return fail_memory(error, "a kernel");
  auto *kernel = new (memory) Kernel();
  const guf_status status = resolve(stem, kernel, error);
  if (status != GUF_OK) {
    host_free(kernel);
    return status;
  }
  kernel->name = static_cast<char *>(memory) + sizeof(Kernel);
  std::memcpy(kernel->name, stem, length + 1);
  kernel->next = first_;
  first_ = kernel;
  *out = kernel;
  return GUF_OK;
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// All entries are looked up and loaded when a kernel is requested, so that no launch makes
// the driver load code, which may be impossible during a capture. Only the text of the requested
// entries is loaded from a PTX image, because the driver compiles all text that it receives.
#include "backends/gpu/runtime/gpu_kernel.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "backends/gpu/geometry/ptx_text.h"
#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {
namespace {

constexpr size_t kLongestName = 512;
// The prefix of raw kernels. A raw kernel has one entry, whose symbol is the stem itself.
constexpr char kRawPrefix[] = "guf_rk_";

const char *target_of(const guf_module_image &image) {
  return image.target == nullptr ? "" : image.target;
}

bool is_generalized(Entry entry) {
  return entry >= Entry::kThread && entry <= Entry::kBlock;
}

bool is_raw(const char *stem) {
  return std::strncmp(stem, kRawPrefix, sizeof(kRawPrefix) - 1) == 0;
}

// Writes the names of a kernel's entries and returns their number.
// The entries of a loop are in the order of enum Entry.
int names_of(const char *stem, char (&names)[kLoopEntries][kLongestName]) {
  const int count = is_raw(stem) ? 1 : kLoopEntries;
  for (int i = 0; i < count; ++i) {
    std::snprintf(names[i], kLongestName, "%s%s", stem,
                  is_raw(stem) ? "" : entry_name(static_cast<Entry>(i)));
  }
  return count;
}

guf_status no_code(const char *stem, guf_error *error) {
  return fail(error, GUF_E_NO_IMAGE, "the image has no code for the kernel '%.80s'", stem);
}

}  // namespace

int32_t score_image(Device &device, const guf_module_image &image) {
  const char *const target = target_of(image);
  if (image.format == GUF_IMAGE_HOST || image.data == nullptr || image.size == 0) return 0;
  return device.vendor().score(device.properties().target, image.format, target);
}

guf_status Module::load(Device &device, const guf_module_image &image, LoadMode mode, Module **out,
                        guf_error *error) {
  const char *const target = target_of(image);
  if (image.codec != GUF_CODEC_NONE) {
    return fail(error, GUF_E_UNSUPPORTED, "image %.40s: expected plain bytes, got codec %d", target,
                image.codec);
  }
  if (score_image(device, image) == 0) {
    return fail(error, GUF_E_NO_IMAGE, "image: expected one for %s, got format %d for '%.40s'",
                device.properties().target, image.format, target);
  }
  auto *module = create<Module>(device);
  if (module == nullptr) return fail_memory(error, "a module");
  const RelaxedCapture relaxed(device.driver());
  const guf_status status = module->open(image, mode, error);
  if (status != GUF_OK) {
    module->unload();
    return status;
  }
  *out = module;
  return GUF_OK;
}

guf_status Module::open(const guf_module_image &image, LoadMode mode, guf_error *error) {
  std::snprintf(target_, sizeof(target_), "%s", target_of(image));
  bool whole = true;
  if (image.format == GUF_IMAGE_PTX && mode == LoadMode::kByKernel) {
    GUF_BACKEND_TRY(open_text(image, &whole, error));
  }
  return whole ? load_native(image.data, &native_, error) : GUF_OK;
}

// Loads a probe, which is a kernel that does nothing. A driver that refuses the image because of
// its version or target, or because the driver has no compiler, also refuses the probe, at a time
// when another image can still be used instead. The probe is not unloaded before the module,
// because unloading waits for all work of the context, which may itself wait for this thread.
guf_status Module::open_text(const guf_module_image &image, bool *out_whole, guf_error *error) {
  text_ = create<PtxText>();
  if (text_ == nullptr) return fail_memory(error, "an image's text");
  HostArray<char> probe;
  PtxText::Result result = text_->open(image.data, image.size);
  if (result == PtxText::Result::kText) result = text_->probe(&probe);
  if (result == PtxText::Result::kNoMemory) return fail_memory(error, "an image's text");
  *out_whole = result == PtxText::Result::kWhole;
  if (*out_whole) {
    destroy(text_);
    text_ = nullptr;
    return GUF_OK;
  }
  return load_native(probe.data(), &probe_, error);
}

guf_status Module::load_native(const void *image, Native *out, guf_error *error) {
  const Code code = device_.driver().module_load(image, out);
  if (code == kDone) return GUF_OK;
  *out = nullptr;
  const ErrorInfo &info = device_.driver().error_info(code);
  if (info.kind == ErrorKind::kNoImage) {
    return fail_native(error, GUF_E_NO_IMAGE, code, "%s (%d)", info.name, code);
  }
  char what[160];
  std::snprintf(what, sizeof(what), "loading the image '%.40s' for device %d, %s,", target_,
                device_.context().index, device_.properties().target);
  return device_.check(code, what, error);
}

guf_status Module::load_whole(guf_error *error) {
  if (native_ != nullptr) return GUF_OK;
  const guf_status status = load_native(text_->whole(), &native_, error);
  whole_refused_ = status == GUF_E_NO_IMAGE;
  return status;
}

void Module::unload() {
  const RelaxedCapture relaxed(device_.driver());
  while (first_ != nullptr) {
    Kernel *const kernel = first_;
    first_ = kernel->next;
    if (kernel->module != nullptr)
      device_.check_for_loss(device_.driver().module_unload(kernel->module));
    host_free(kernel);
  }
  for (const Native loaded : {probe_, native_}) {
    if (loaded != nullptr) device_.check_for_loss(device_.driver().module_unload(loaded));
  }
  if (text_ != nullptr) destroy(text_);
  destroy(this);
}

guf_status Module::function(const char *name, Native *out, guf_error *error) {
  return find_function(native_, name, out, error);
}

guf_status Module::find_function(Native native, const char *name, Native *out, guf_error *error) {
  *out = nullptr;
  Driver &driver = device_.driver();
  Code code = driver.function_find(native, name, out);
  if (driver.error_info(code).kind == ErrorKind::kNotFound) {
    *out = nullptr;
    return GUF_OK;
  }
  char what[128];
  if (code == kDone) code = driver.function_prepare(*out, device_.properties().max_shared_bytes);
  if (code == kDone) return GUF_OK;
  std::snprintf(what, sizeof(what), "loading the kernel '%.80s'", name);
  return device_.check(code, what, error);
}

// Loads the text that the kernel's entries need.
// If the entries need the whole image, loads the whole image and leaves *out NULL.
// If the driver refuses an excerpt, the whole image is tried once.
guf_status Module::load_excerpt(const char *stem, Native *out, guf_error *error) {
  char names[kLoopEntries][kLongestName];
  std::string_view entries[kLoopEntries];
  const int count = names_of(stem, names);
  int present = 0;
  for (int i = 0; i < count; ++i) {
    if (text_->has_entry(names[i])) entries[present++] = names[i];
  }
  if (present == 0) return no_code(stem, error);
  HostArray<char> excerpt;
  const PtxText::Result result = text_->excerpt(entries, static_cast<size_t>(present), &excerpt);
  if (result == PtxText::Result::kNoMemory) return fail_memory(error, "a kernel's text");
  if (result == PtxText::Result::kWhole) return load_whole(error);
  // A successful call must not write to the caller's error.
  guf_error refusal = {};
  refusal.struct_size = sizeof(refusal);
  const guf_status status = load_native(excerpt.data(), out, &refusal);
  if (status == GUF_OK) return GUF_OK;
  if (status == GUF_E_NO_IMAGE && !whole_refused_) return load_whole(error);
  return fail_native(error, status, refusal.native_code, "%s", refusal.message);
}

guf_status Module::resolve(const char *stem, Kernel *kernel, guf_error *error) {
  if (text_ != nullptr) GUF_BACKEND_TRY(load_excerpt(stem, &kernel->module, error));
  const guf_status status =
      resolve_in(kernel->module == nullptr ? native_ : kernel->module, stem, kernel, error);
  if (status != GUF_OK && kernel->module != nullptr) {
    device_.check_for_loss(device_.driver().module_unload(kernel->module));
  }
  return status;
}

guf_status Module::resolve_in(Native native, const char *stem, Kernel *kernel, guf_error *error) {
  if (is_raw(stem)) {
    GUF_BACKEND_TRY(find_function(native, stem, &kernel->raw, error));
    return kernel->raw != nullptr ? GUF_OK : no_code(stem, error);
  }
  bool any = false;
  char names[kLoopEntries][kLongestName];
  names_of(stem, names);
  for (int entry = 0; entry < kLoopEntries; ++entry) {
    GUF_BACKEND_TRY(find_function(native, names[entry], &kernel->functions[entry], error));
    any |= kernel->functions[entry] != nullptr;
    const bool limited = device_.traits().multiprocessor_local_bytes != 0;
    if (kernel->functions[entry] == nullptr || !limited) continue;
    if (!is_generalized(static_cast<Entry>(entry))) continue;
    FunctionAttributes attributes = {};
    const Code code = device_.driver().function_attributes(kernel->functions[entry], &attributes);
    GUF_BACKEND_TRY(device_.check(code, "querying a kernel's memory", error));
    kernel->local_bytes[entry] = attributes.local_bytes;
  }
  return any ? GUF_OK : no_code(stem, error);
}

guf_status Module::kernel(const char *stem, Kernel **out, guf_error *error) {
  const size_t length = strnlen(stem, kLongestName);
  if (length > kLongestName - 16) {
    return fail(error, GUF_E_UNSUPPORTED, "kernel name: expected at most %zu bytes",
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

// SPDX-License-Identifier: Apache-2.0
// Loads the code that runs a loop on a device. The plugin scores the images, the best image is
// loaded, and the kernel is cached in the loop.
#include <algorithm>
#include <cstring>

#include "core/backend/image_cache.h"
#include "core/backend/image_choice.h"
#include "core/backend/kernel_table.h"
#include "core/base/caller_state.h"
#include "core/dtype/dtype.h"
#include "core/trace/trace.h"

namespace gufunc::backend {
namespace {

// Returns the name and dtypes of a loop, such as "'exp' (float32->float32)".
base::Text describe(const op::Ufunc &ufunc, const op::Loop &loop, const char *quote = "'") {
  base::Text text;
  text.add("%s%s%s (", quote, ufunc.full_name.c_str(), quote);
  for (int32_t i = 0; i < ufunc.noperands(); ++i) {
    if (i == ufunc.nin()) text.add("->");
    const char *const name = dtype::name(loop.types[static_cast<size_t>(i)]);
    text.add("%s%s", i == 0 || i == ufunc.nin() ? "" : ",", name == nullptr ? "?" : name);
  }
  text.add(")");
  return text;
}

// The location of a loop's code.
struct LoopCode {
  const guf_module_v1 *table = nullptr;
  const guf_module_loop *loop = nullptr;  // nullptr if no table contains the loop
  const char *failure = nullptr;
};

LoopCode find_loop_code(const op::Ufunc &ufunc, const op::Loop &loop, const Device &device) {
  LoopCode code;
  const guf_module_function *function = loop.function;
  if (loop.table != nullptr) {
    code.table = loop.table;
  } else {
    code.table = device.backend->api.builtins();
    function = code.table == nullptr ? nullptr : find_function(*code.table, ufunc.name.c_str());
  }
  // The numbers of operands must be equal, because find_loop compares as many dtypes as the
  // function has operands.
  if (function != nullptr && function->nin + function->nout == ufunc.noperands()) {
    code.loop = find_loop(*function, loop.types.data());
    code.failure = function->failure;
  }
  return code;
}

// Returns whether an earlier image, of another kernel family, has the same target as image `i`.
bool is_listed(const guf_module_v1 &table, uint32_t i) {
  return std::any_of(table.images, table.images + i, [&](const guf_module_image &image) {
    return std::strcmp(target_of(image), target_of(table.images[i])) == 0;
  });
}

// Lists the images that contain the loop, or all images if no image contains the loop.
base::Text image_list(const LoopCode &code, const Device &device) {
  if (code.loop != nullptr) return list_images(device, *code.table, code.loop->family);
  base::Text list;
  const uint32_t count = code.table == nullptr ? 0 : code.table->nimages;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_listed(*code.table, i)) list_image(device, code.table->images[i], &list);
  }
  if (count == 0) list.add("none");
  return list;
}

guf_status no_image(const op::Ufunc &ufunc, const op::Loop &loop, const Device &device,
                    const LoopCode &code, guf_error *error) {
  const int32_t native_code =
      code.loop == nullptr ? 0 : refusal_code(device, *code.table, code.loop->family);
  return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone, native_code,
                           "no kernel of %s for device %s (%s); available images: %s",
                           describe(ufunc, loop).c_str(), device.spec.c_str(), device.info.target,
                           image_list(code, device).c_str());
}

const guf_module_image *best_of(const Device &device, const LoopCode &code) {
  return code.loop == nullptr ? nullptr : best_image(device, *code.table, code.loop->family);
}

// Gets the kernel with the given index, which is either the loop's kernel or the loop's fold entry.
guf_status load_kernel_at(const op::Ufunc &ufunc, const op::Loop &loop, Device &device,
                          const LoopCode &code, uint32_t index, void **out, guf_error *error) {
  bool refused = false;
  const guf_status status = load_kernel_from_best_image(
      device, *code.table, {code.loop->family, index, code.loop->name}, out, &refused, error);
  return refused && status == GUF_E_NO_IMAGE ? no_image(ufunc, loop, device, code, error) : status;
}

guf_status load_kernel_uncached(const op::Ufunc &ufunc, const op::Loop &loop, Device &device,
                                void **out, guf_error *error) {
  if (loop.host != nullptr) {
    return wrap_host_loop(device, loop.host, ufunc.full_name.c_str(), out, error);
  }
  const LoopCode code = find_loop_code(ufunc, loop, device);
  if (code.loop == nullptr) return no_image(ufunc, loop, device, code, error);
  GUF_TRY(load_kernel_at(ufunc, loop, device, code, code.loop->kernel, out, error));
  loop.kind.store(code.loop->kind, std::memory_order_relaxed);
  loop.failure.store(code.failure, std::memory_order_relaxed);
  return GUF_OK;
}

// This function is out of line to keep the formatting code out of the path of calls whose kernel is
// already cached.
[[gnu::cold, gnu::noinline]] void name_for_traces(const op::Ufunc &ufunc, const op::Loop &loop,
                                                  const void *kernel) {
  trace::name_kernel(kernel, describe(ufunc, loop, "").c_str());
}

guf_status load_fold_uncached(const op::Ufunc &ufunc, const op::Loop &loop, Device &device,
                              void **out, guf_error *error) {
  *out = nullptr;
  if (loop.host != nullptr) return GUF_OK;
  // A fold entry is compiled for the strides of fixed dtypes, but the size of a
  // structured dtype is known only at run time.
  if (std::any_of(loop.types.begin(), loop.types.end(), dtype::is_structured)) return GUF_OK;
  const LoopCode code = find_loop_code(ufunc, loop, device);
  if (code.loop == nullptr || code.loop->fold == 0) return GUF_OK;
  return load_kernel_at(ufunc, loop, device, code, code.loop->fold - 1, out, error);
}

}  // namespace

guf_status load_fold(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                     guf_error *error) {
  if (loop.general != nullptr) return load_fold(ufunc, *loop.general, device, out, error);
  std::atomic<const void *> &known = loop.folds[static_cast<size_t>(device.number)];
  const void *found = known.load(std::memory_order_acquire);
  if (__builtin_expect(found == nullptr, 0)) {
    GUF_TRY(load_fold_uncached(ufunc, loop, device, out, error));
    found = *out == nullptr ? &loop : *out;
    known.store(found, std::memory_order_release);
  }
  *out = found == &loop ? nullptr : const_cast<void *>(found);
  return GUF_OK;
}

guf_status load_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                       guf_error *error) {
  std::atomic<void *> &known = loop.kernels[static_cast<size_t>(device.number)];
  *out = known.load(std::memory_order_acquire);
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  const base::CallerState kept;
  if (loop.general != nullptr) {
    GUF_TRY(load_kernel(ufunc, *loop.general, device, out, error));
    loop.kind.store(loop.general->kind.load(std::memory_order_relaxed), std::memory_order_relaxed);
    loop.failure.store(loop.general->failure.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  } else {
    GUF_TRY(load_kernel_uncached(ufunc, loop, device, out, error));
    if (trace::on()) name_for_traces(ufunc, loop, *out);
  }
  known.store(*out, std::memory_order_release);
  return GUF_OK;
}

std::string describe_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device) {
  if (loop.general != nullptr) return describe_kernel(ufunc, *loop.general, device);
  const LoopCode code = loop.host != nullptr ? LoopCode() : find_loop_code(ufunc, loop, device);
  const guf_module_image *const image = best_of(device, code);
  if (image == nullptr) return "";
  return std::string("kernel image ") + target_of(*image) + ", of " +
         image_list(code, device).c_str() + "\n";
}

namespace {

// Calls describe(text, size, error), a backend's slot. Returns the text, or "" if the slot fails.
template <class Describe>
std::string backend_description(Describe describe) {
  char text[1024] = "";
  ErrorRecord record(nullptr);
  const guf_status status = describe(text, sizeof text, record.get());
  text[sizeof text - 1] = '\0';
  return status == GUF_OK ? text : "";
}

}  // namespace

std::string describe_launch(Device &device, void *kernel, const op::Loop &loop, uint32_t threads,
                            const guf_launch_block &block) {
  const guf_backend_launch request = make_request(nullptr, kernel, loop, threads, block, nullptr);
  return backend_description([&](char *text, size_t size, guf_error *error) {
    return device.backend->api.describe_launch(device.native, &request, text, size, error);
  });
}

std::string describe_method(Device &device, const MethodParts &parts, const op::Loop &loop,
                            uint32_t threads, const guf_method_block &block,
                            const guf_fp_status *fp_status) {
  const guf_backend_method request = make_method(nullptr, parts, loop, threads, block, fp_status);
  return backend_description([&](char *text, size_t size, guf_error *error) {
    return device.backend->api.describe_method(device.native, &request, text, size, error);
  });
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
// Loads the code that runs a loop or a raw kernel on a device. The plugin scores the images, the
// best image is loaded, and the kernel of a loop is cached in the loop.
#include "core/backend/load_kernel.h"

#include <algorithm>
#include <cstring>

#include "core/backend/image_cache.h"
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

guf_status no_image(const guf_module_v1 &table, const guf_module_kernel &kernel,
                    const Device &device, guf_error *error) {
  return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone,
                           refusal_code(device, table, kernel.family),
                           "no code of the kernel '%s:%s' for device %s (%s); available images: %s",
                           table.name, kernel.name, device.spec.c_str(), device.info.target,
                           list_images(device, table, kernel.family).c_str());
}

// Calls describe(text, size, error), a backend's slot. Returns the text, or "" if the slot fails.
template <class Describe>
std::string backend_description(Describe describe) {
  char text[1024] = "";
  ErrorRecord record(nullptr);
  const guf_status status = describe(text, sizeof text, record.get());
  text[sizeof text - 1] = '\0';
  return status == GUF_OK ? text : "";
}

// Copies the error into the caller's error, whose struct_size may differ.
guf_status copy_error(guf_error *error, guf_status status, const guf_error &answer) {
  return base::fail_native(error, status, answer.argument, answer.axis, answer.native_code, "%s",
                           answer.message);
}

guf_status load_kernel_from_image(Device &device, const guf_module_image &image,
                                  const KernelName &kernel, void **out, bool *out_loaded,
                                  guf_error *error) {
  void *module = nullptr;
  *out_loaded = false;
  GUF_TRY(load_image(device, image, &module, error));
  *out_loaded = true;
  ErrorRecord record(error);
  return device.backend->api.kernel_get(module, kernel.index, kernel.name, out, record.get());
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

void list_image(const Device &device, const guf_module_image &image, base::Text *list) {
  list->add("%s%s", list->c_str()[0] == '\0' ? "" : ", ", target_of(image));
  Refusal refusal;
  if (!find_refusal(device, image, &refusal)) return;
  list->add(refusal.reason[0] == '\0' ? " (refused)" : " (refused: %s)", refusal.reason);
}

base::Text list_images(const Device &device, const guf_module_v1 &table, uint32_t family) {
  base::Text list;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (has_family(table.images[i], family)) list_image(device, table.images[i], &list);
  }
  if (list.c_str()[0] == '\0') list.add("none");
  return list;
}

int32_t refusal_code(const Device &device, const guf_module_v1 &table, uint32_t family) {
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (has_family(table.images[i], family) && find_refusal(device, table.images[i], &refusal))
      break;
  }
  return refusal.native_code;
}

const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family, const guf_module_image *after) {
  const guf_backend_api &api = device.backend->api;
  const int32_t most = after == nullptr ? INT32_MAX : api.image_score(device.native, after);
  const guf_module_image *best = nullptr;
  int32_t best_score = 0;
  Refusal refusal;
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    if (!has_family(image, family)) continue;
    const int32_t score = api.image_score(device.native, &image);
    if (score <= best_score || score > most) continue;
    if (after != nullptr && score == most && &image <= after) continue;
    if (find_refusal(device, image, &refusal)) continue;
    best_score = score;
    best = &image;
  }
  return best;
}

guf_status load_kernel_from_best_image(Device &device, const guf_module_v1 &table,
                                       const KernelName &kernel, void **out, bool *out_refused,
                                       guf_error *error) {
  *out_refused = true;
  guf_error answer = {};
  const guf_module_image *image = nullptr;
  while ((image = best_image(device, table, kernel.family, image)) != nullptr) {
    guf_error latest = {};
    latest.struct_size = sizeof latest;
    latest.argument = latest.axis = base::kNone;
    bool loaded = false;
    const guf_status status = load_kernel_from_image(device, *image, kernel, out, &loaded, &latest);
    if (status == GUF_OK) return GUF_OK;
    if (status != GUF_E_NO_IMAGE) return copy_error(error, status, latest);
    if (loaded && *out_refused) answer = latest;
    if (loaded) *out_refused = false;
  }
  return *out_refused ? GUF_E_NO_IMAGE : copy_error(error, GUF_E_NO_IMAGE, answer);
}

guf_status load_raw_kernel(const guf_module_v1 &table, const guf_module_kernel &kernel,
                           Device &device, void **out, guf_error *error) {
  bool refused = false;
  const guf_status status = load_kernel_from_best_image(
      device, table, {kernel.family, kernel.kernel, kernel.symbol}, out, &refused, error);
  return refused && status == GUF_E_NO_IMAGE ? no_image(table, kernel, device, error) : status;
}

}  // namespace gufunc::backend

// SPDX-License-Identifier: Apache-2.0
// Finds the code that runs a loop on a device. The plugin scores the images, the best image is
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
struct Place {
  const guf_module_v1 *table = nullptr;
  const guf_module_loop *loop = nullptr;  // nullptr if no table contains the loop
  const char *failure = nullptr;
};

Place find_place(const op::Ufunc &ufunc, const op::Loop &loop, const Device &device) {
  Place place;
  const guf_module_function *function = loop.function;
  if (loop.table != nullptr) {
    place.table = loop.table;
  } else {
    place.table = device.backend->api.builtins();
    function = place.table == nullptr ? nullptr : find_function(*place.table, ufunc.name.c_str());
  }
  // The numbers of operands must be equal, because find_loop compares as many dtypes as the
  // function has operands.
  if (function != nullptr && function->nin + function->nout == ufunc.noperands()) {
    place.loop = find_loop(*function, loop.types.data());
    place.failure = function->failure;
  }
  return place;
}

// Returns whether an earlier image, of another kernel family, has the same target as image `i`.
bool is_listed(const guf_module_v1 &table, uint32_t i) {
  return std::any_of(table.images, table.images + i, [&](const guf_module_image &image) {
    return std::strcmp(target_of(image), target_of(table.images[i])) == 0;
  });
}

// Lists the images that contain the loop, or all images if no image contains the loop.
base::Text image_list(const Place &place, const Device &device) {
  if (place.loop != nullptr) return list_images(device, *place.table, place.loop->family);
  base::Text list;
  const uint32_t count = place.table == nullptr ? 0 : place.table->nimages;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_listed(*place.table, i)) list_image(device, place.table->images[i], &list);
  }
  if (count == 0) list.add("none");
  return list;
}

guf_status no_image(const op::Ufunc &ufunc, const op::Loop &loop, const Device &device,
                    const Place &place, guf_error *error) {
  const int32_t code =
      place.loop == nullptr ? 0 : refusal_code(device, *place.table, place.loop->family);
  return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone, code,
                           "no kernel of %s for device %s (%s); available images: %s",
                           describe(ufunc, loop).c_str(), device.spec.c_str(), device.info.target,
                           image_list(place, device).c_str());
}

const guf_module_image *best_of(const Device &device, const Place &place) {
  return place.loop == nullptr ? nullptr : best_image(device, *place.table, place.loop->family);
}

// Gets the kernel with the given index, which is either the loop's kernel or the loop's fold entry.
guf_status kernel_of_place(const op::Ufunc &ufunc, const op::Loop &loop, Device &device,
                           const Place &place, uint32_t index, void **out, guf_error *error) {
  bool refused = false;
  const guf_status status = kernel_of_best(
      device, *place.table, {place.loop->family, index, place.loop->name}, out, &refused, error);
  return refused && status == GUF_E_NO_IMAGE ? no_image(ufunc, loop, device, place, error) : status;
}

guf_status find_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                       guf_error *error) {
  if (loop.host != nullptr) {
    return wrap_host_loop(device, loop.host, ufunc.full_name.c_str(), out, error);
  }
  const Place place = find_place(ufunc, loop, device);
  if (place.loop == nullptr) return no_image(ufunc, loop, device, place, error);
  GUF_TRY(kernel_of_place(ufunc, loop, device, place, place.loop->kernel, out, error));
  loop.kind.store(place.loop->kind, std::memory_order_relaxed);
  loop.failure.store(place.failure, std::memory_order_relaxed);
  return GUF_OK;
}

// This function is out of line to keep the formatting code out of the path of calls whose kernel is
// already cached.
[[gnu::cold, gnu::noinline]] void name_for_traces(const op::Ufunc &ufunc, const op::Loop &loop,
                                                  const void *kernel) {
  trace::name_kernel(kernel, describe(ufunc, loop, "").c_str());
}

guf_status find_fold(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                     guf_error *error) {
  *out = nullptr;
  if (loop.host != nullptr) return GUF_OK;
  // A fold entry is compiled for the strides of fixed dtypes, but the size of a
  // structured dtype is known only at run time.
  if (std::any_of(loop.types.begin(), loop.types.end(), dtype::is_structured)) return GUF_OK;
  const Place place = find_place(ufunc, loop, device);
  if (place.loop == nullptr || place.loop->fold == 0) return GUF_OK;
  return kernel_of_place(ufunc, loop, device, place, place.loop->fold - 1, out, error);
}

}  // namespace

guf_status fold_of(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                   guf_error *error) {
  if (loop.general != nullptr) return fold_of(ufunc, *loop.general, device, out, error);
  std::atomic<const void *> &known = loop.folds[static_cast<size_t>(device.number)];
  const void *found = known.load(std::memory_order_acquire);
  if (__builtin_expect(found == nullptr, 0)) {
    GUF_TRY(find_fold(ufunc, loop, device, out, error));
    found = *out == nullptr ? &loop : *out;
    known.store(found, std::memory_order_release);
  }
  *out = found == &loop ? nullptr : const_cast<void *>(found);
  return GUF_OK;
}

guf_status kernel_of(const op::Ufunc &ufunc, const op::Loop &loop, Device &device, void **out,
                     guf_error *error) {
  std::atomic<void *> &known = loop.kernels[static_cast<size_t>(device.number)];
  *out = known.load(std::memory_order_acquire);
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  const base::CallerState kept;
  if (loop.general != nullptr) {
    GUF_TRY(kernel_of(ufunc, *loop.general, device, out, error));
    loop.kind.store(loop.general->kind.load(std::memory_order_relaxed), std::memory_order_relaxed);
    loop.failure.store(loop.general->failure.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
  } else {
    GUF_TRY(find_kernel(ufunc, loop, device, out, error));
    if (trace::on()) name_for_traces(ufunc, loop, *out);
  }
  known.store(*out, std::memory_order_release);
  return GUF_OK;
}

std::string describe_kernel(const op::Ufunc &ufunc, const op::Loop &loop, Device &device) {
  if (loop.general != nullptr) return describe_kernel(ufunc, *loop.general, device);
  const Place place = loop.host != nullptr ? Place() : find_place(ufunc, loop, device);
  const guf_module_image *const image = best_of(device, place);
  if (image == nullptr) return "";
  return std::string("kernel image ") + target_of(*image) + ", of " +
         image_list(place, device).c_str() + "\n";
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

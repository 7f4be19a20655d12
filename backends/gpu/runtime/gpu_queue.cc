// SPDX-License-Identifier: Apache-2.0
// The slots for images and kernels, and the slots that run kernels.
#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/launch_queue.h"
#include "backends/gpu/geometry/method_queue.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_kernel.h"
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/gpu/runtime/request.h"

namespace gufunc::gpu {
namespace {

// Allocates status words in advance, so that launches that can fail do not allocate. If device
// memory is exhausted, this is not an error yet, because not every function needs a word.
guf_status reserve_words(Device &device, guf_error *error) {
  guf_error report = {};
  report.struct_size = sizeof report;
  const guf_status status = device.status_ring().reserve(&report);
  if (status == GUF_OK || status == GUF_E_DEVICE_MEMORY || status == GUF_E_NO_MEMORY) return GUF_OK;
  return fail_native(error, status, report.native_code, "%s", report.message);
}

}  // namespace

int32_t image_score(void *device, const guf_module_image *image) {
  return score_image(*static_cast<Device *>(device), *image);
}

guf_status module_load(void *device, const guf_module_image *image, void **out_module,
                       guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Module *module = nullptr;
  GUF_BACKEND_TRY(Module::load(owner, *image, LoadMode::kByKernel, &module, error));
  *out_module = module;
  return GUF_OK;
}

void module_unload(void *module) {
  if (module == nullptr) return;
  auto *unloaded = static_cast<Module *>(module);
  ScopedContext scope(unloaded->device());
  if (scope.begin_closing()) unloaded->unload();
}

guf_status kernel_get(void *module, uint32_t, const char *name, void **out_kernel,
                      guf_error *error) {
  auto &owner = *static_cast<Module *>(module);
  if (name == nullptr) return fail(error, GUF_E_ARG, "kernel name: expected a text, got NULL");
  ScopedContext scope(owner.device());
  GUF_BACKEND_TRY(scope.begin(error));
  Kernel *kernel = nullptr;
  GUF_BACKEND_TRY(owner.kernel(name, &kernel, error));
  if (kernel->raw == nullptr) GUF_BACKEND_TRY(reserve_words(owner.device(), error));
  *out_kernel = kernel;
  return GUF_OK;
}

guf_status launch(void *device, const guf_backend_launch *launch, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Stream &stream = owner.stream_of(launch->stream);
  Request request(stream, static_cast<const Kernel *>(launch->kernel),
                  {launch->fp_status, launch->failure, stream.next_launch()});
  GUF_BACKEND_TRY(queue_launch(*launch, request, error));
  return request.finish(error);
}

guf_status convert(void *device, void *stream, const guf_launch_block *block, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Request request(owner.stream_of(stream), nullptr, StatusRequest());
  GUF_BACKEND_TRY(queue_convert(*block, request, error));
  return request.finish(error);
}

guf_status method(void *device, const guf_backend_method *method, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Stream &stream = owner.stream_of(method->stream);
  Request request(stream, static_cast<const Kernel *>(method->kernel),
                  {method->fp_status, method->failure, stream.next_launch()});
  GUF_BACKEND_TRY(queue_method(*method, request, error));
  return request.finish(error);
}

// describe_launch and describe_method queue nothing and call no driver function.
guf_status describe_launch(void *device, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (forked()) return fail_forked(error);
  const Request nothing(owner.stream_of(launch->stream),
                        static_cast<const Kernel *>(launch->kernel), StatusRequest());
  return describe_launch_commands(*launch, nothing, out_text, text_size, error);
}

guf_status describe_method(void *device, const guf_backend_method *method, char *out_text,
                           size_t text_size, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (forked()) return fail_forked(error);
  const Request nothing(owner.stream_of(method->stream),
                        static_cast<const Kernel *>(method->kernel), StatusRequest());
  return describe_method_commands(*method, nothing, out_text, text_size, error);
}

}  // namespace gufunc::gpu

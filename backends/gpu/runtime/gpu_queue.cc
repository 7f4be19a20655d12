// SPDX-License-Identifier: Apache-2.0
// The slots for images and kernels, and the slots that run kernels. A launch of a raw kernel (the
// extension "gufunc.kernels") is one launch of the driver.
#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/launch_queue.h"
#include "backends/gpu/geometry/method_queue.h"
#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_kernel.h"
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/gpu/runtime/request.h"
#include "backends/gpu/runtime/tracer.h"

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

guf_status kernel_limits(void *device, void *kernel, guf_backend_kernel_limits *out_limits,
                         guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  FunctionAttributes attributes = {};
  const RelaxedCapture relaxed(owner.driver());
  GUF_BACKEND_TRY(owner.check(
      owner.driver().function_attributes(static_cast<const Kernel *>(kernel)->raw, &attributes),
      "querying a kernel's resources", error));
  out_limits->max_threads = attributes.max_threads;
  out_limits->registers = attributes.registers;
  out_limits->local_bytes = attributes.local_bytes;
  out_limits->max_shared_bytes = owner.properties().max_shared_bytes;
  out_limits->subgroup_size = owner.properties().warp_size;
  return GUF_OK;
}

guf_status kernel_launch(void *device, const guf_backend_kernel_launch *launch, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  const uint32_t unknown = launch->flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONIZES};
  if (__builtin_expect(unknown != 0, 0)) {
    return fail(error, GUF_E_UNSUPPORTED, "kernel flags: 0x%x is not known to this plugin",
                unknown);
  }
  const uint32_t most = owner.properties().max_shared_bytes;
  if (__builtin_expect(launch->shared_bytes > most, 0)) {
    return fail(error, GUF_E_UNSUPPORTED,
                "kernel '%.63s': shared memory of a block: expected at most %u bytes, got %u",
                launch->name, most, launch->shared_bytes);
  }
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Stream &stream = owner.stream_of(launch->stream);
  stream.next_launch();
  const LaunchGrid shape{launch->grid[0], launch->block[0], launch->shared_bytes, launch->grid[1],
                         launch->grid[2], launch->block[1], launch->block[2]};
  const Native function = static_cast<const Kernel *>(launch->kernel)->raw;
  TraceSpan span(stream, GUF_TRACE_LAUNCH);
  span.set_launch(function, shape, launch->name, "");
  const Code code = owner.driver().launch(function, shape, launch->arguments,
                                          launch->argument_bytes, stream.native());
  return owner.check(code, "launching a raw kernel", error);
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

const guf_kernels_api kKernelsExtension = {sizeof(guf_kernels_api), GUF_KERNELS_EXTENSION_VERSION,
                                           kernel_limits, kernel_launch};

}  // namespace gufunc::gpu

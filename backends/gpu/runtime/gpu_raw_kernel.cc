// SPDX-License-Identifier: Apache-2.0
// The extension "gufunc.kernels". A launch of a raw kernel is one launch of the driver.
#include "backends/gpu/runtime/gpu_plugin.h"

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_kernel.h"
#include "backends/gpu/runtime/tracer.h"

namespace gufunc::gpu {
namespace {

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
  const uint32_t unknown = launch->flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONISES};
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

const guf_kernels_api kKernelsExtension = {sizeof(guf_kernels_api), GUF_KERNELS_EXTENSION_VERSION,
                                           kernel_limits, kernel_launch};

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// C API layer of raw kernels.
#include <gufunc/kernels.h>

#include <cstdio>
#include <cstring>

#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "abi/src/unpack_call.h"
#include "core/base/struct_size.h"
#include "core/kernel/kernel.h"
#include "core/plugin/find_device.h"

using namespace gufunc;
using kernel::RawKernel;

guf_status guf_module_kernel_at(guf_module module, uint32_t index, char *name, uint64_t capacity,
                                guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    module::Module *found = nullptr;
    GUF_TRY(base::find_object(module, "module", &found, error));
    const std::span<const guf_module_kernel> kernels = backend::raw_kernels_of(found->table());
    if (index >= kernels.size()) {
      return base::fail(error, GUF_E_INDEX, 1, base::kNone,
                        "kernel index: expected less than %zu, got %u", kernels.size(), index);
    }
    return capi::hand_out(kernels[index].name, name, capacity, error);
  });
}

guf_status guf_kernel_find(guf_module module, const char *name, guf_kernel *out_kernel,
                           guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    GUF_TRY(capi::need(out_kernel, "out_kernel", error));
    module::Module *found = nullptr;
    GUF_TRY(base::find_object(module, "module", &found, error));
    base::collect();
    base::Ref<RawKernel> kernel;
    GUF_TRY(RawKernel::find(base::Ref<module::Module>::share(found), name, &kernel, error));
    *out_kernel = capi::publish<guf_kernel>(kernel);
    return GUF_OK;
  });
}

guf_status guf_kernel_retain(guf_kernel kernel, guf_error *error) {
  return capi::retain(kernel, base::Kind::kKernel, "kernel", error);
}

guf_status guf_kernel_release(guf_kernel kernel, guf_error *error) {
  return capi::release(kernel, base::Kind::kKernel, "kernel", error);
}

guf_status guf_kernel_get_info(guf_kernel kernel, guf_kernel_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    RawKernel *found = nullptr;
    GUF_TRY(base::find_object(kernel, "kernel", &found, error));
    const guf_module_kernel &row = found->row();
    guf_kernel_info info = {};
    info.struct_size = sizeof info;
    info.nparameters = row.parameters->count;
    info.max_threads = row.max_threads;
    info.shared_bytes = row.shared_bytes;
    info.flags = row.flags;
    std::snprintf(info.name, sizeof info.name, "%s:%s", found->module_name(), row.name);
    capi::copy_text(std::string_view(row.doc == nullptr ? "" : row.doc), info.doc);
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_kernel_get_parameter(guf_kernel kernel, uint32_t index,
                                    guf_module_parameter *out_parameter, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_parameter, "out_parameter", error));
    RawKernel *found = nullptr;
    GUF_TRY(base::find_object(kernel, "kernel", &found, error));
    const std::span<const guf_module_parameter> parameters = found->parameters();
    if (index >= parameters.size()) {
      return base::fail(error, GUF_E_INDEX, 1, base::kNone,
                        "parameter index: expected less than %zu, got %u", parameters.size(),
                        index);
    }
    *out_parameter = parameters[index];
    return GUF_OK;
  });
}

guf_status guf_kernel_get_device_info(guf_kernel kernel, guf_device device,
                                      guf_kernel_device_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    RawKernel *found = nullptr;
    GUF_TRY(base::find_object(kernel, "kernel", &found, error));
    backend::Device *where = nullptr;
    if (device != nullptr) {
      GUF_TRY(capi::need_device(device, "device", &where, error));
    } else {
      GUF_TRY(plugin::cpu_device(&where, error));
    }
    void *native = nullptr;
    const guf_kernels_api *api = nullptr;
    GUF_TRY(found->on(*where, &native, &api, error));
    guf_backend_kernel_limits limits = {};
    limits.struct_size = sizeof limits;
    backend::ErrorRecord record(error);
    GUF_TRY(api->kernel_limits(where->native, native, &limits, record.get()));
    guf_kernel_device_info info = {};
    info.struct_size = sizeof info;
    const uint32_t most = found->row().max_threads;
    info.max_threads =
        limits.max_threads == 0 || limits.max_threads > most ? most : limits.max_threads;
    info.max_shared_bytes = limits.max_shared_bytes;
    info.registers = limits.registers;
    info.local_bytes = limits.local_bytes;
    info.subgroup_size = limits.subgroup_size;
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_kernel_launch(guf_kernel kernel, guf_stream stream, const uint32_t *grid,
                             const uint32_t *block, uint32_t shared_bytes, int32_t nargs,
                             const guf_operand *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    RawKernel *found = nullptr;
    GUF_TRY(base::find_object(kernel, "kernel", &found, error));
    GUF_TRY(capi::need(grid, "grid", error));
    GUF_TRY(capi::need(block, "block", error));
    const size_t expected = found->parameters().size();
    if (nargs < 0 || static_cast<size_t>(nargs) != expected) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "kernel '%s:%s', nargs: expected %zu, got %d", found->module_name(),
                        found->row().name, expected, nargs);
    }
    if (nargs > 0) GUF_TRY(capi::need(args, "args", error));
    GUF_TRY(capi::check_running(error));
    backend::Stream *queue = nullptr;
    GUF_TRY(capi::find_stream(stream, &queue, error));
    op::OperandView views[GUF_MAX_KERNEL_PARAMETERS];
    int64_t stride_buffer[GUF_MAX_KERNEL_PARAMETERS][GUF_MAX_NDIM];
    for (int32_t i = 0; i < nargs; ++i) {
      GUF_TRY(capi::unpack_operand(args[i], i, true, stride_buffer[i], &views[i], error));
    }
    const kernel::KernelCall call = {
        queue, grid, block, shared_bytes, {views, static_cast<size_t>(nargs)}};
    return kernel::launch_kernel(*found, call, error);
  });
}

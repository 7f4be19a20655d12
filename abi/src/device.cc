// SPDX-License-Identifier: Apache-2.0
// C API layer of devices.
#include <gufunc/device.h>

#include <cstring>

#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "core/base/struct_size.h"
#include "core/memory/memory.h"
#include "core/op/ufunc_registry.h"
#include "core/plugin/registry.h"

using namespace gufunc;

namespace {

// Returns the automatic device of a context. The device is chosen once per context, so that the
// arrays of a program stay on one device even if the usable devices of the machine change later.
guf_status find_automatic(op::Context &context, backend::Device **out, guf_error *error) {
  *out = context.auto_device.load(std::memory_order_acquire);
  if (*out != nullptr) return GUF_OK;
  backend::Device *chosen = nullptr;
  GUF_TRY(plugin::choose_device(&chosen, error));
  if (context.auto_device.compare_exchange_strong(*out, chosen, std::memory_order_acq_rel)) {
    *out = chosen;
  }
  return GUF_OK;
}

// Devices are not reference-counted, so retain and release only check the handle.
guf_status check_counted(guf_device device, guf_error *error) {
  backend::Device *found = nullptr;
  return device == nullptr ? GUF_OK : capi::need_device(device, "device", &found, error);
}

}  // namespace

guf_status guf_device_get(guf_context context, const char *spec, guf_device *out_device,
                          guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(spec, "spec", error));
    GUF_TRY(capi::need(out_device, "out_device", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    backend::Device *device = nullptr;
    uint64_t handle = 0;
    if (std::strcmp(spec, "auto") == 0) {
      GUF_TRY(find_automatic(*where, &device, error));
      handle = base::publish(&device->automatic, true);
    } else {
      GUF_TRY(plugin::find_device(spec, &device, error));
      handle = device->handle;
    }
    *out_device = reinterpret_cast<guf_device>(handle);
    return GUF_OK;
  });
}

guf_status guf_device_adopt(const char *spec, uint64_t native, guf_device *out_device,
                            guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(spec, "spec", error));
    GUF_TRY(capi::need(out_device, "out_device", error));
    if (native == 0) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "native: expected a context of the program, got 0");
    }
    backend::Device *device = nullptr;
    GUF_TRY(plugin::adopt_device(spec, native, &device, error));
    *out_device = reinterpret_cast<guf_device>(device->handle);
    return GUF_OK;
  });
}

guf_status guf_device_get_info(guf_device device, guf_device_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    backend::Device *found = nullptr;
    GUF_TRY(capi::need_device(device, "device", &found, error));
    guf_device_info info = {};
    info.struct_size = sizeof info;
    info.index = found->index;
    info.units = found->info.units;
    info.host_memory = found->host_memory ? 1 : 0;
    info.memory_bytes = found->info.memory_bytes;
    capi::copy_text(found->backend->name, info.backend);
    capi::copy_text(found->info.name, info.name);
    capi::copy_text(found->info.target, info.target);
    capi::copy_text(found->spec, info.spec);
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_device_synchronize(guf_device device, uint64_t timeout_ns, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    backend::Device *found = nullptr;
    GUF_TRY(capi::need_device(device, "device", &found, error));
    const guf_status status = backend::synchronize_default(*found, timeout_ns, error);
    if (status != GUF_TIMEOUT) memory::run_callbacks(0);
    return status;
  });
}

guf_status guf_device_retain(guf_device device, guf_error *error) {
  return check_counted(device, error);
}

guf_status guf_device_release(guf_device device, guf_error *error) {
  return check_counted(device, error);
}

// SPDX-License-Identifier: Apache-2.0
// C API layer of backends: lists the plugins and loads plugins by path.
#include <gufunc/device.h>

#include "abi/src/capi.h"
#include "abi/src/text_out.h"
#include "core/base/struct_size.h"
#include "core/plugin/registry.h"

using namespace gufunc;

namespace {

guf_backend_info describe(const plugin::Record &record) {
  const plugin::Outcome &state = record.state();
  guf_backend_info info = {};
  info.struct_size = sizeof info;
  info.state = state.status;
  info.native_code = state.native_code;
  info.ndevices = record.probe_once.done() ? record.ndevices : state.status == GUF_OK ? -1 : 0;
  info.priority = record.priority;
  capi::copy_text(record.name, info.name);
  capi::copy_text(record.path, info.path);
  capi::copy_text(state.reason, info.reason);
  if (record.open_once.done() && record.opened.status == GUF_OK) {
    info.abi_minor = record.api.abi_minor;
    capi::copy_text(record.api.version, info.version);
  }
  if (record.probe_once.done()) capi::copy_text(record.driver, info.driver);
  return info;
}

// Probes a backend. If the backend is unusable, the probe stores the reason, and this function
// returns GUF_OK, because the caller then describes the unusable backend. This function fails only
// if the probe stored no outcome, for example because memory or file descriptors are exhausted.
guf_status probe_unless_unusable(plugin::Record &record, guf_error *error) {
  guf_error details = {};
  details.struct_size = sizeof details;
  const guf_status status = plugin::probe_backend(record, &details);
  if (status == GUF_OK || record.state().status != GUF_OK) return GUF_OK;
  return base::copy_error(status, details, error);
}

}  // namespace

guf_status guf_backend_count(uint32_t *out_count, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_count, "out_count", error));
    std::span<plugin::Record *const> all;
    GUF_TRY(plugin::backends(&all, error));
    *out_count = static_cast<uint32_t>(all.size());
    return GUF_OK;
  });
}

guf_status guf_backend_get_info(uint32_t index, int32_t probe, guf_backend_info *out_info,
                                guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    std::span<plugin::Record *const> all;
    GUF_TRY(plugin::backends(&all, error));
    if (index >= all.size()) {
      return base::fail(error, GUF_E_INDEX, 0, base::kNone,
                        "backend index: expected less than %zu, got %u", all.size(), index);
    }
    if (probe != 0) GUF_TRY(probe_unless_unusable(*all[index], error));
    return base::write_struct(out_info, "out_info", describe(*all[index]), error);
  });
}

guf_status guf_backend_load(const char *path, guf_error *error) {
  return capi::guard(error, [&] { return plugin::load_backend(path, error); });
}

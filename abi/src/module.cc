// SPDX-License-Identifier: Apache-2.0
// C API layer of modules.
#include <gufunc/modules.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "core/backend/kernel_table.h"
#include "core/base/struct_size.h"
#include "core/module/module.h"

using namespace gufunc;

template <>
inline constexpr uint32_t base::kFirstSize<guf_module_info> = offsetof(guf_module_info, nkernels);

namespace {

using ModuleRef = base::Ref<module::Module>;

guf_status register_and_publish(op::Context &context, const ModuleRef &made, guf_module *out_module,
                                guf_error *error) {
  ModuleRef kept;
  GUF_TRY(module::register_module(context, made, &kept, error));
  *out_module = capi::publish<guf_module>(kept);
  return GUF_OK;
}

}  // namespace

guf_status guf_module_load(guf_context context, const char *path, uint32_t flags,
                           guf_module *out_module, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(path, "path", error));
    GUF_TRY(capi::need(out_module, "out_module", error));
    if ((flags & ~uint32_t{GUF_MODULE_DATA_ONLY}) != 0) {
      return base::fail(error, GUF_E_ARG, 2, base::kNone,
                        "unknown flags; expected guf_module_flag, got 0x%x", flags);
    }
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    base::collect();  // Frees unused modules, whose names the new module may use.
    ModuleRef made;
    GUF_TRY(module::open_module(path, flags, &made, error));
    return register_and_publish(*where, made, out_module, error);
  });
}

guf_status guf_module_register(guf_context context, const guf_module_v1 *table,
                               guf_module *out_module, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(table, "table", error));
    GUF_TRY(capi::need(out_module, "out_module", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    base::collect();
    ModuleRef made;
    GUF_TRY(module::wrap_table(table, &made, error));
    return register_and_publish(*where, made, out_module, error);
  });
}

guf_status guf_module_retain(guf_module module, guf_error *error) {
  return capi::retain(module, base::Kind::kModule, "module", error);
}

guf_status guf_module_release(guf_module module, guf_error *error) {
  return capi::release(module, base::Kind::kModule, "module", error);
}

guf_status guf_module_get_info(guf_module module, guf_module_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    module::Module *found = nullptr;
    GUF_TRY(base::find_object(module, "module", &found, error));
    guf_module_info info = {};
    info.struct_size = sizeof info;
    info.nfunctions = found->table().nfunctions;
    info.nimages = found->table().nimages;
    info.flags = found->flags();
    info.nkernels = static_cast<uint32_t>(backend::raw_kernels_of(found->table()).size());
    capi::copy_text(found->table().name, info.name);
    capi::copy_text(found->path(), info.path);
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_module_function_at(guf_module module, uint32_t index, char *name, uint64_t capacity,
                                  guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    module::Module *found = nullptr;
    GUF_TRY(base::find_object(module, "module", &found, error));
    const guf_module_v1 &table = found->table();
    if (index >= table.nfunctions) {
      return base::fail(error, GUF_E_INDEX, 1, base::kNone,
                        "function index: expected less than %u, got %u", table.nfunctions, index);
    }
    const char *const function = table.functions[index].name;
    const uint64_t needed = std::strlen(table.name) + 1 + std::strlen(function) + 1;
    if (capacity < needed) {
      return base::fail(error, GUF_E_BUFFER_TOO_SMALL, 2, base::kNone,
                        "name is too small; expected %llu bytes, got %llu",
                        static_cast<unsigned long long>(needed),
                        static_cast<unsigned long long>(capacity));
    }
    std::snprintf(name, needed, "%s:%s", table.name, function);
    return GUF_OK;
  });
}

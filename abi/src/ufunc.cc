// SPDX-License-Identifier: Apache-2.0
// C API layer of ufuncs: lookup, enumeration, description.
#include <gufunc/ufunc.h>

#include <algorithm>
#include <cstddef>

#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "core/base/struct_size.h"
#include "core/op/ufunc_registry.h"

using namespace gufunc;

// The first version of guf_ufunc_info ended before `roles`. Later versions added `roles` and all
// fields after it.
template <>
inline constexpr uint32_t base::kFirstSize<guf_ufunc_info> = offsetof(guf_ufunc_info, roles);

namespace {

guf_status fail_index(uint32_t index, const char *what, size_t count, guf_error *error) {
  return base::fail(error, GUF_E_INDEX, base::kNone, base::kNone,
                    "index %u is out of bounds: there are %zu %s", index, count, what);
}

// Copies the core dimensions. parse_signature has checked that every list fits into its array in
// `info`.
void describe_core(const op::Signature &signature, guf_ufunc_info *info) {
  info->ncore = static_cast<int32_t>(signature.dims.size());
  std::copy(signature.core_ndim.begin(), signature.core_ndim.end(), info->core_ndim);
  std::copy(signature.operand_dims.begin(), signature.operand_dims.end(), info->core_dims);
  for (size_t k = 0; k < signature.dims.size(); ++k) {
    const op::CoreDim &dim = signature.dims[k];
    info->core_flags[k] = (dim.optional ? uint32_t{GUF_CORE_DIM_OPTIONAL} : 0U) |
                          (dim.broadcastable ? uint32_t{GUF_CORE_DIM_BROADCASTABLE} : 0U);
    info->core_sizes[k] = dim.frozen;
  }
}

}  // namespace

guf_status guf_ufunc_find(guf_context context, const char *name, guf_ufunc *out_ufunc,
                          guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    GUF_TRY(capi::need(out_ufunc, "out_ufunc", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    base::collect();
    base::Ref<op::Ufunc> found;
    GUF_TRY(where->find(name, &found, error));
    *out_ufunc = capi::publish<guf_ufunc>(found);
    return GUF_OK;
  });
}

guf_status guf_ufunc_retain(guf_ufunc ufunc, guf_error *error) {
  return capi::retain(ufunc, base::Kind::kUfunc, "ufunc", error);
}

guf_status guf_ufunc_release(guf_ufunc ufunc, guf_error *error) {
  return capi::release(ufunc, base::Kind::kUfunc, "ufunc", error);
}

guf_status guf_ufunc_count(guf_context context, uint32_t *out_count, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_count, "out_count", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    *out_count = static_cast<uint32_t>(where->names().size());
    return GUF_OK;
  });
}

guf_status guf_ufunc_name_at(guf_context context, uint32_t index, char *name, uint64_t capacity,
                             guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    const std::vector<std::string> names = where->names();
    if (index >= names.size()) return fail_index(index, "ufuncs", names.size(), error);
    return capi::hand_out(names[index], name, capacity, error);
  });
}

guf_status guf_ufunc_get_info(guf_ufunc ufunc, guf_ufunc_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    op::Ufunc *found = nullptr;
    GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
    guf_ufunc_info info = {};
    info.nin = found->nin();
    info.nout = found->nout();
    info.identity = found->identity;
    info.flags = found->flags;
    info.nloops = static_cast<uint32_t>(found->loops().loops.size());
    capi::copy_text(found->full_name, info.name);
    capi::copy_text(found->signature.text, info.signature);
    capi::copy_text(found->signature.rules_text, info.rules);
    capi::copy_text(found->doc, info.doc);
    std::copy_n(found->signature.role.begin(), found->noperands(), info.roles);
    describe_core(found->signature, &info);
    if (const op::StateFold *const fold = found->state_fold(); fold != nullptr) {
      info.nresults = fold->nresults();
      capi::copy_text(fold->merge->full_name, info.merge);
      if (fold->finish) capi::copy_text(fold->finish->full_name, info.finish);
    }
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_ufunc_loop_types(guf_ufunc ufunc, uint32_t index, int32_t ntypes,
                                guf_dtype *out_types, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_types, "out_types", error));
    op::Ufunc *found = nullptr;
    GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
    const op::LoopList &list = found->loops();
    if (index >= list.loops.size()) return fail_index(index, "loops", list.loops.size(), error);
    if (ntypes < found->noperands()) {
      return base::fail(error, GUF_E_BUFFER_TOO_SMALL, base::kNone, base::kNone,
                        "ntypes is %d, but ufunc '%s' has %d operands", ntypes,
                        found->full_name.c_str(), found->noperands());
    }
    std::copy_n(list.loops[index]->types.begin(), found->noperands(), out_types);
    return GUF_OK;
  });
}

// SPDX-License-Identifier: Apache-2.0
// C API layer of ufuncs: lookup, enumeration and description, and the creation of user-defined
// ufuncs.
#include <gufunc/ufunc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "core/backend/kernel_table.h"
#include "core/base/struct_size.h"
#include "core/base/utf8.h"
#include "core/module/module.h"
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

using base::fail;
using base::kNone;

constexpr uint32_t kFunctionFlags = GUF_FUNCTION_INPLACE_SAFE | GUF_FUNCTION_COMMUTATIVE |
                                    GUF_FUNCTION_ASSOCIATIVE | GUF_FUNCTION_FAST |
                                    GUF_FUNCTION_UNDERFLOWS | GUF_FUNCTION_DIVIDES |
                                    GUF_FUNCTION_ACCEPTS_EMPTY | GUF_FUNCTION_KEEPS_PRECISION;

guf_status check_desc(const guf_ufunc_desc &desc, guf_error *error) {
  GUF_TRY(capi::need(desc.name, "desc->name", error));
  if (!op::is_plain_name(desc.name)) {
    return fail(error, GUF_E_ARG, kNone, kNone,
                "'%.*s' is not a name: expected [A-Za-z_][A-Za-z0-9_]* of at most %d characters",
                base::utf8_prefix(desc.name, 70), desc.name, static_cast<int>(GUF_MAX_NAME));
  }
  if (desc.identity < GUF_IDENTITY_NONE || desc.identity > GUF_IDENTITY_MINUS_INF) {
    return fail(error, GUF_E_ARG, kNone, kNone, "identity is %d, which is not a guf_identity",
                desc.identity);
  }
  if ((desc.flags & ~kFunctionFlags) != 0) {
    return fail(error, GUF_E_ARG, kNone, kNone,
                "flags is 0x%x, which has bits that are not in guf_function_flag", desc.flags);
  }
  return GUF_OK;
}

guf_status check_hook(const guf_ufunc_desc &desc, guf_error *error) {
  if (desc.core_dims != nullptr && desc.signature == nullptr) {
    return fail(error, GUF_E_ARG, kNone, kNone, "core_dims requires a signature");
  }
  if (desc.core_dims != nullptr || (desc.user == nullptr && desc.destroy == nullptr)) return GUF_OK;
  return fail(error, GUF_E_ARG, kNone, kNone, "user and destroy require core_dims, which is NULL");
}

guf_status read_signature(const guf_ufunc_desc &desc, op::Signature *out, guf_error *error) {
  if (desc.signature == nullptr) {
    if (desc.rules != nullptr && desc.rules[0] != '\0') {
      return fail(error, GUF_E_SIGNATURE, kNone, kNone, "rules require a signature");
    }
    return op::make_elementwise(desc.nin, desc.nout, desc.roles, desc.nroles, out, error);
  }
  GUF_TRY(op::parse_signature(desc.signature, desc.rules == nullptr ? "" : desc.rules, desc.roles,
                              desc.nroles, out, error));
  const bool left_out = desc.nin == 0 && desc.nout == 0;
  if (left_out || (desc.nin == out->nin && desc.nout == out->nout)) return GUF_OK;
  return fail(error, GUF_E_ARG, kNone, kNone,
              "nin is %d and nout is %d, but the signature has %d and %d", desc.nin, desc.nout,
              out->nin, out->nout);
}

guf_status check_types(const op::Ufunc &ufunc, int32_t ntypes, const guf_dtype *types,
                       guf_error *error) {
  if (ntypes != ufunc.noperands()) {
    return fail(error, GUF_E_ARG, kNone, kNone, "ntypes is %d, but ufunc '%s' has %d operands",
                ntypes, ufunc.full_name.c_str(), ufunc.noperands());
  }
  GUF_TRY(capi::need(types, "types", error));
  for (int32_t i = 0; i < ntypes; ++i) {
    if (dtype::valid(types[i])) continue;
    return fail(error, GUF_E_DTYPE, i, kNone, "types[%d] 0x%08x is not a data type", i, types[i]);
  }
  return GUF_OK;
}

// Returns the function pointer that the kind of a loop description selects. The other function
// pointers of the description must be NULL.
guf_status read_function(const guf_loop_desc &desc, void (**out)(void), guf_error *error) {
  void (*const own[])(void) = {reinterpret_cast<void (*)(void)>(desc.numpy),
                               reinterpret_cast<void (*)(void)>(desc.status),
                               reinterpret_cast<void (*)(void)>(desc.error)};
  if (desc.kind < GUF_LOOP_NUMPY || desc.kind > GUF_LOOP_ERROR) {
    return fail(error, GUF_E_ARG, kNone, kNone, "kind is %d, which is not a guf_loop_kind",
                desc.kind);
  }
  if ((desc.flags & ~uint32_t{GUF_LOOP_ANY_THREAD}) != 0) {
    return fail(error, GUF_E_ARG, kNone, kNone,
                "flags is 0x%x, which has bits that are not in guf_loop_flag", desc.flags);
  }
  *out = own[desc.kind - GUF_LOOP_NUMPY];
  const auto set =
      std::count_if(std::begin(own), std::end(own), [](auto f) { return f != nullptr; });
  if (*out != nullptr && set == 1) return GUF_OK;
  return fail(
      error, GUF_E_ARG, kNone, kNone,
      "expected only the function of the loop's kind, `numpy`, `status` or `error`, to be set");
}

std::unique_ptr<op::Loop> new_loop(const guf_dtype *types, int32_t ntypes, int32_t kind) {
  auto loop = std::make_unique<op::Loop>();
  std::copy_n(types, ntypes, loop->types.begin());
  loop->kind = kind;
  return loop;
}

// Owns a new handle. The destructor releases the handle unless hand_over was called.
class NewHandle {
 public:
  explicit NewHandle(guf_ufunc handle) : handle_(handle) {}
  NewHandle(const NewHandle &) = delete;
  NewHandle &operator=(const NewHandle &) = delete;
  ~NewHandle() {
    if (handle_ == nullptr) return;
    base::release(reinterpret_cast<uint64_t>(handle_), base::Kind::kUfunc);
  }
  guf_ufunc hand_over() { return std::exchange(handle_, nullptr); }

 private:
  guf_ufunc handle_;
};

// Checks that a module's function has the same signature as the ufunc that receives its loop.
guf_status check_form(const op::Ufunc &ufunc, const guf_module_function &function,
                      guf_error *error) {
  op::Signature parsed;
  const int32_t nroles = function.roles == nullptr ? 0 : function.nin + function.nout;
  if (function.signature == nullptr) {
    GUF_TRY(
        op::make_elementwise(function.nin, function.nout, function.roles, nroles, &parsed, error));
  } else {
    GUF_TRY(op::parse_signature(function.signature, "", function.roles, nroles, &parsed, error));
  }
  if (op::same_form(ufunc.signature, parsed)) return GUF_OK;
  return fail(error, GUF_E_SIGNATURE, kNone, kNone,
              "function '%s' has the signature \"%s\" with %d inputs and %d outputs, ufunc '%s' "
              "\"%s\" with %d and %d",
              function.name, parsed.text.c_str(), parsed.nin, parsed.nout, ufunc.full_name.c_str(),
              ufunc.signature.text.c_str(), ufunc.nin(), ufunc.nout());
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
    if (const op::StateReduction *const reduction = found->state_reduction();
        reduction != nullptr) {
      info.nresults = reduction->nresults();
      capi::copy_text(reduction->merge->full_name, info.merge);
      if (reduction->finish) capi::copy_text(reduction->finish->full_name, info.finish);
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

guf_status guf_ufunc_create(guf_context context, const guf_ufunc_desc *desc, guf_ufunc *out_ufunc,
                            guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(desc, "desc", error));
    GUF_TRY(capi::need(out_ufunc, "out_ufunc", error));
    guf_ufunc_desc buffer;
    GUF_TRY(base::read_struct(desc, "desc", &buffer, &desc, error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    GUF_TRY(check_desc(*desc, error));
    GUF_TRY(check_hook(*desc, error));
    base::collect();
    const auto ufunc = base::Ref<op::Ufunc>::adopt(new op::Ufunc);
    GUF_TRY(read_signature(*desc, &ufunc->signature, error));
    ufunc->name = desc->name;
    ufunc->full_name = desc->name;
    ufunc->doc = desc->doc == nullptr ? "" : desc->doc;
    ufunc->identity = desc->identity;
    ufunc->flags = desc->flags;
    ufunc->core_dims = desc->core_dims;
    ufunc->core_dims_user = desc->user;
    // The handle is created before the ufunc is added to the context, because nothing may fail
    // after the addition.
    NewHandle handle(capi::publish<guf_ufunc>(ufunc));
    base::DeferredCallback pending_destroy = op::defer_destroy(desc->destroy, desc->user);
    GUF_TRY(where->add(ufunc, error));
    ufunc->core_dims_release = std::move(pending_destroy);
    *out_ufunc = handle.hand_over();
    return GUF_OK;
  });
}

guf_status guf_ufunc_add_loop(guf_ufunc ufunc, const guf_loop_desc *desc, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(desc, "desc", error));
    guf_loop_desc buffer;
    GUF_TRY(base::read_struct(desc, "desc", &buffer, &desc, error));
    op::Ufunc *found = nullptr;
    GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
    void (*host)(void) = nullptr;
    GUF_TRY(read_function(*desc, &host, error));
    GUF_TRY(check_types(*found, desc->ntypes, desc->types, error));
    std::unique_ptr<op::Loop> loop = new_loop(desc->types, desc->ntypes, desc->kind);
    loop->flags = desc->flags;
    loop->host = host;
    loop->user = desc->user;
    loop->destroy = desc->destroy;
    return found->add_loop(std::move(loop), error);
  });
}

guf_status guf_ufunc_add_module_loop(guf_ufunc ufunc, guf_module module, const char *function,
                                     int32_t ntypes, const guf_dtype *types, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(function, "function", error));
    op::Ufunc *found = nullptr;
    GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
    module::Module *from = nullptr;
    GUF_TRY(base::find_object(module, "module", &from, error));
    GUF_TRY(check_types(*found, ntypes, types, error));
    const guf_module_function *const known = backend::find_function(from->table(), function);
    if (known == nullptr) {
      return fail(error, GUF_E_NOT_FOUND, kNone, kNone, "module '%s' has no function '%.*s'",
                  from->table().name, base::utf8_prefix(function, 70), function);
    }
    GUF_TRY(check_form(*found, *known, error));
    const guf_module_loop *const kernel = backend::find_loop(*known, types);
    if (kernel == nullptr) {
      return fail(error, GUF_E_NOT_FOUND, kNone, kNone,
                  "function '%s' of module '%s' has no loop of these types", known->name,
                  from->table().name);
    }
    std::unique_ptr<op::Loop> loop = new_loop(types, ntypes, kernel->kind);
    loop->flags = GUF_LOOP_ANY_THREAD;  // Compiled kernels can run on any thread.
    loop->table = &from->table();
    loop->function = known;
    loop->kernel = kernel->kernel;
    loop->owner = base::Ref<base::Object>::share(from);
    return found->add_loop(std::move(loop), error);
  });
}

guf_status guf_ufunc_set_reduction(guf_ufunc ufunc, const guf_reduction_desc *desc,
                                   guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(desc, "desc", error));
    guf_reduction_desc buffer;
    GUF_TRY(base::read_struct(desc, "desc", &buffer, &desc, error));
    op::Ufunc *found = nullptr, *merge = nullptr, *finish = nullptr;
    GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
    if (desc->flags != 0)
      return fail(error, GUF_E_ARG, kNone, kNone, "desc->flags: expected 0, got 0x%x", desc->flags);
    GUF_TRY(capi::need(desc->merge, "desc->merge", error));
    GUF_TRY(base::find_object(desc->merge, "desc->merge", &merge, error));
    if (desc->finish != nullptr)
      GUF_TRY(base::find_object(desc->finish, "desc->finish", &finish, error));
    op::StateReduction reduction;
    reduction.merge = base::Ref<op::Ufunc>::share(merge);
    if (finish != nullptr) reduction.finish = base::Ref<op::Ufunc>::share(finish);
    return found->set_state_reduction(std::move(reduction), error);
  });
}

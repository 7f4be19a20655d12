// SPDX-License-Identifier: Apache-2.0
// Construction and destruction of modules. Also adds modules to contexts, and makes loops of other
// ufuncs from the kernels of modules.
#include "core/module/module.h"

#include <algorithm>

#include "core/backend/image_cache.h"
#include "core/backend/kernel_table.h"

namespace gufunc::module {
namespace {

// Finds the module of the same name in the context. Fails if the two modules differ in content or
// flags.
guf_status find_same(op::Context &context, const Module &module, base::Ref<Module> *out,
                     guf_error *error) {
  const base::Ref<base::Object> known = context.find_module(module.table().name);
  if (!known) return GUF_OK;
  auto *const other = static_cast<Module *>(known.get());
  if (!module.is_same_as(*other)) {
    return base::fail(
        error, GUF_E_EXISTS, base::kNone, base::kNone,
        "another module named '%s' is loaded already: %s", module.table().name,
        other->path().empty() ? "one linked into the program" : other->path().c_str());
  }
  *out = base::Ref<Module>::share(other);
  return GUF_OK;
}

// Compares core dimensions by position, because their names do not matter to a kernel.
bool have_equal_core_dims(const op::Signature &a, const op::Signature &b) {
  const auto is_equal = [](const op::CoreDim &x, const op::CoreDim &y) {
    return x.frozen == y.frozen && x.optional == y.optional && x.broadcastable == y.broadcastable;
  };
  return a.nin == b.nin && a.nout == b.nout && a.core_ndim == b.core_ndim &&
         a.operand_dims == b.operand_dims && a.role == b.role &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), is_equal);
}

guf_status parse(const guf_module_function &function, op::Signature *out, guf_error *error) {
  const int32_t nroles = function.roles == nullptr ? 0 : function.nin + function.nout;
  if (function.signature == nullptr) {
    return op::make_elementwise(function.nin, function.nout, function.roles, nroles, out, error);
  }
  return op::parse_signature(function.signature, function.rules == nullptr ? "" : function.rules,
                             function.roles, nroles, out, error);
}

}  // namespace

Module::Module(std::string path, uint32_t flags, const Digest &digest, ImageRef image)
    : Object(kKind),
      path_(std::move(path)),
      flags_(flags),
      digest_(digest),
      image_(std::move(image)),
      table_(image_->table()) {
  backend::retain_images(*table_);
}

Module::Module(const guf_module_v1 &table) : Object(kKind), table_(&table) {
  backend::retain_images(*table_);
}

Module::~Module() {
  registration_ = op::ModuleRegistration();  // first, so that no lookup finds the module
  backend::release_images(*table_);
}

bool Module::is_same_as(const Module &other) const {
  if (image_ == nullptr || other.image_ == nullptr) return table_ == other.table_;
  return digest_ == other.digest_ && flags_ == other.flags_;
}

guf_status open_module(const char *path, uint32_t flags, base::Ref<Module> *out, guf_error *error) {
  ModuleFile file;
  GUF_TRY(read_module_file(path, &file, error));
  ImageRef image;
  if ((flags & GUF_MODULE_DATA_ONLY) != 0) {
    GUF_TRY(copy_as_data(path, file, &image, error));
  } else {
    GUF_TRY(map_to_run(path, file, &image, error));
  }
  *out = base::Ref<Module>::adopt(new Module(path, flags, file.digest, std::move(image)));
  return GUF_OK;
}

guf_status wrap_table(const guf_module_v1 *table, base::Ref<Module> *out, guf_error *error) {
  GUF_TRY(backend::check_table(table, {}, error));
  *out = base::Ref<Module>::adopt(new Module(*table));
  return GUF_OK;
}

guf_status register_module(op::Context &context, const base::Ref<Module> &module,
                           base::Ref<Module> *out, guf_error *error) {
  op::ModuleRegistration registration;
  for (int attempt = 0;; ++attempt) {
    base::Ref<Module> same;
    GUF_TRY(find_same(context, *module, &same, error));
    if (same) {
      *out = std::move(same);
      return GUF_OK;
    }
    const guf_status status =
        context.add_module(module->table(), module.get(), &registration, error);
    // Another thread may have registered the same module first, so it is looked up again.
    if (status == GUF_E_EXISTS && attempt == 0) continue;
    GUF_TRY(status);
    break;
  }
  module->hold(std::move(registration));
  *out = module;
  return GUF_OK;
}

guf_status make_loop(const base::Ref<Module> &module, const op::Ufunc &ufunc, const char *function,
                     const guf_dtype *types, std::unique_ptr<op::Loop> *out, guf_error *error) {
  const guf_module_v1 &table = module->table();
  const guf_module_function *const found = backend::find_function(table, function);
  if (found == nullptr) {
    return base::fail(error, GUF_E_NOT_FOUND, base::kNone, base::kNone,
                      "module '%s' has no function '%s'", table.name, function);
  }
  op::Signature signature;
  GUF_TRY(parse(*found, &signature, error));
  if (!have_equal_core_dims(signature, ufunc.signature)) {
    return base::fail(
        error, GUF_E_SIGNATURE, base::kNone, base::kNone,
        "the signatures differ; '%s' has %s with %d input(s) and %d output(s), '%s:%s' "
        "has %s with %d and %d",
        ufunc.full_name.c_str(),
        ufunc.signature.text.empty() ? "none" : ufunc.signature.text.c_str(), ufunc.nin(),
        ufunc.nout(), table.name, function,
        signature.text.empty() ? "none" : signature.text.c_str(), signature.nin, signature.nout);
  }
  const guf_module_loop *const from = backend::find_loop(*found, types);
  if (from == nullptr) {
    return base::fail(error, GUF_E_NOT_FOUND, base::kNone, base::kNone,
                      "function '%s:%s' has no loop of these types", table.name, function);
  }
  auto loop = std::make_unique<op::Loop>();
  std::copy_n(types, ufunc.noperands(), loop->types.begin());
  loop->kind = from->kind;
  loop->flags = GUF_LOOP_ANY_THREAD;  // compiled kernels run on any thread
  loop->table = &table;
  loop->function = found;
  loop->kernel = from->kernel;
  loop->owner = base::Ref<base::Object>::share(module.get());
  *out = std::move(loop);
  return GUF_OK;
}

}  // namespace gufunc::module

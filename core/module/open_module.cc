// SPDX-License-Identifier: Apache-2.0
// Construction and destruction of modules.
#include "core/module/module.h"

#include "core/backend/image_cache.h"
#include "core/backend/kernel_table.h"

namespace gufunc::module {

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

}  // namespace gufunc::module

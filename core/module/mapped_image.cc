// SPDX-License-Identifier: Apache-2.0
// Maps modules whose code runs. The dynamic loader maps the checked, sealed copy of the file.
// Content that several modules use is mapped once, even if it was read from several files.
#include <dlfcn.h>
#include <link.h>

#include <mutex>

#include "core/base/fork.h"
#include "core/base/open_library.h"
#include "core/module/module_image.h"

namespace gufunc::module {
namespace {

class MappedImage final : public ModuleImage {
 public:
  MappedImage() = default;
  ~MappedImage() override {
    if (library_ != nullptr) base::close_library(library_);
  }

  guf_status open(const char *path, const ModuleFile &file, guf_error *error) {
    GUF_TRY(base::open_library(file.copy.descriptor(), 0, path, &library_, error));
    const auto *const table = static_cast<const guf_module_v1 *>(dlsym(library_, kTableSymbol));
    if (table == nullptr) {
      return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is not a module; it exports no %s", path, kTableSymbol);
    }
    const std::vector<backend::Region> regions = find_regions(file);
    GUF_TRY(backend::check_table(table, {regions, true}, error));
    table_ = table;
    return GUF_OK;
  }

 private:
  std::vector<backend::Region> find_regions(const ModuleFile &file) const {
    link_map *map = nullptr;
    std::vector<backend::Region> regions;
    if (dlinfo(library_, RTLD_DI_LINKMAP, &map) != 0) return regions;
    for (const Elf64_Phdr &segment : file.segments) {
      if (segment.p_type != PT_LOAD) continue;
      const uint64_t first = map->l_addr + segment.p_vaddr;
      regions.push_back({first, first + segment.p_memsz, (segment.p_flags & PF_X) != 0});
    }
    return regions;
  }

  void *library_ = nullptr;
};

struct MappedContent {
  Digest digest;
  std::weak_ptr<const ModuleImage> image;
};

struct MappedContents {
  base::ForkLock lock;
  std::vector<MappedContent> all;
};

MappedContents &mapped_contents() {
  static MappedContents *const instance = new MappedContents;  // never destroyed
  return *instance;
}

ImageRef find_mapped(const Digest &digest) {
  MappedContents &contents = mapped_contents();
  const std::lock_guard<base::ForkLock> hold(contents.lock);
  for (const MappedContent &known : contents.all) {
    if (known.digest != digest) continue;
    if (ImageRef image = known.image.lock()) return image;
  }
  return nullptr;
}

// Adds an image. Also removes images that are no longer used.
void note_mapped(const Digest &digest, const ImageRef &image) {
  MappedContents &contents = mapped_contents();
  const std::lock_guard<base::ForkLock> hold(contents.lock);
  std::erase_if(contents.all, [](const MappedContent &known) { return known.image.expired(); });
  contents.all.push_back({digest, image});
}

}  // namespace

guf_status map_to_run(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error) {
  *out = find_mapped(file.digest);
  if (*out != nullptr) return GUF_OK;
  auto image = std::make_shared<MappedImage>();
  GUF_TRY(image->open(path, file, error));
  note_mapped(file.digest, image);
  *out = std::move(image);
  return GUF_OK;
}

}  // namespace gufunc::module

// SPDX-License-Identifier: Apache-2.0
// Modules that run. The dynamic loader tells files apart by inode: a module that was overwritten in
// place while its old self is mapped would silently be the old one again. Such a file is mapped
// from a sealed copy in memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "core/backend/open_library.h"
#include "core/base/fork.h"
#include "core/module/module_image.h"

namespace gufunc::module {
namespace {

// Which content each mapped inode had when it was mapped.
struct MappedInode {
  backend::FileIdentity identity;
  Digest digest;
  uint32_t count;
};

struct MappedInodes {
  base::ForkLock lock;
  std::vector<MappedInode> all;
};

MappedInodes &mapped_inodes() {
  static MappedInodes *const instance = new MappedInodes;  // immortal
  return *instance;
}

// False: the inode is mapped with another content.
bool note_mapped(const backend::FileIdentity &identity, const Digest &digest) {
  MappedInodes &inodes = mapped_inodes();
  const std::lock_guard<base::ForkLock> hold(inodes.lock);
  for (MappedInode &known : inodes.all) {
    if (known.identity != identity) continue;
    if (known.digest != digest) return false;
    ++known.count;
    return true;
  }
  inodes.all.push_back({identity, digest, 1});
  return true;
}

void note_unmapped(const backend::FileIdentity &identity) {
  MappedInodes &inodes = mapped_inodes();
  const std::lock_guard<base::ForkLock> hold(inodes.lock);
  const auto known = std::find_if(inodes.all.begin(), inodes.all.end(),
                                  [&](const auto &inode) { return inode.identity == identity; });
  if (known != inodes.all.end() && --known->count == 0) inodes.all.erase(known);
}

guf_status copy_to_memory_file(const std::vector<std::byte> &bytes, backend::Descriptor *out,
                               guf_error *error) {
  backend::Descriptor copy(memfd_create("gufunc_module", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  size_t done = 0;
  while (copy.get() >= 0 && done < bytes.size()) {
    const ssize_t n = write(copy.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (done < bytes.size() || fcntl(copy.get(), F_ADD_SEALS, seals) != 0) {
    return base::fail_native(error, GUF_E_IO, base::kNone, base::kNone, errno,
                             "cannot copy the module into memory: %s", std::strerror(errno));
  }
  *out = std::move(copy);
  return GUF_OK;
}

class MappedImage final : public ModuleImage {
 public:
  MappedImage() = default;
  ~MappedImage() override {
    if (library_ != nullptr) dlclose(library_);
    if (noted_) note_unmapped(identity_);
  }

  guf_status open(const char *path, const ModuleFile &file, guf_error *error) {
    int descriptor = file.file.descriptor.get();
    backend::Descriptor copy;
    identity_ = file.file.identity;
    noted_ = note_mapped(identity_, file.digest);
    if (!noted_) {
      GUF_TRY(copy_to_memory_file(file.bytes, &copy, error));
      descriptor = copy.get();
    }
    GUF_TRY(backend::open_library(descriptor, 0, path, &library_, error));
    const auto *const table = static_cast<const guf_module_v1 *>(dlsym(library_, kTableSymbol));
    if (table == nullptr) {
      return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is no module; it exports no %s", path, kTableSymbol);
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
    for (const Elf64_Phdr &segment : file.segments()) {
      if (segment.p_type != PT_LOAD) continue;
      const uint64_t first = map->l_addr + segment.p_vaddr;
      regions.push_back({first, first + segment.p_memsz, (segment.p_flags & PF_X) != 0});
    }
    return regions;
  }

  void *library_ = nullptr;
  backend::FileIdentity identity_;
  bool noted_ = false;
};

}  // namespace

guf_status map_to_run(const char *path, const ModuleFile &file, std::unique_ptr<ModuleImage> *out,
                      guf_error *error) {
  auto image = std::make_unique<MappedImage>();
  GUF_TRY(image->open(path, file, error));
  *out = std::move(image);
  return GUF_OK;
}

}  // namespace gufunc::module

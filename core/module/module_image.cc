// SPDX-License-Identifier: Apache-2.0
// Loads modules as data, or maps modules whose code runs.
//
// For data, the segments are copied to memory that is not executable, and their pointers are
// relocated as by the dynamic loader, with a check of every offset. Only relocations that need no
// other library are applied. A pointer with any other relocation keeps its value from the file. If
// the library reads such a pointer, the check of the table rejects the value.
//
// For code, the dynamic loader maps the checked, sealed copy of the file. Content that several
// modules use is mapped once, even if it was read from several files.
#include "core/module/module_image.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/base/fork.h"
#include "core/base/open_library.h"

namespace gufunc::module {
namespace {

#if defined(__aarch64__)
constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kAbsolute = R_AARCH64_ABS64;
#else
constexpr uint32_t kRelative = R_X86_64_RELATIVE, kAbsolute = R_X86_64_64;
#endif

guf_status malformed(const char *what, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "malformed module; %s is outside its segments", what);
}

// Anonymous memory for the segments, which are placed at their relative virtual addresses.
class Copy {
 public:
  Copy() = default;
  Copy(const Copy &) = delete;
  Copy &operator=(const Copy &) = delete;
  ~Copy() {
    if (first_ != nullptr) munmap(first_, size_);
  }

  guf_status fill(const ModuleFile &file, guf_error *error);
  void protect() { mprotect(first_, size_, PROT_READ); }

  template <class T>
  bool read(uint64_t address, T *out) const {
    if (address > size_ || size_ - address < sizeof(T)) return false;
    std::memcpy(out, first_ + address, sizeof(T));
    return true;
  }
  bool write(uint64_t address, uint64_t value) {
    if (address > size_ || size_ - address < sizeof value) return false;
    std::memcpy(first_ + address, &value, sizeof value);
    return true;
  }
  bool equals(uint64_t address, const char *text) const {
    const size_t size = std::strlen(text) + 1;
    return address <= size_ && size_ - address >= size &&
           std::memcmp(first_ + address, text, size) == 0;
  }
  uint64_t base() const { return reinterpret_cast<uint64_t>(first_); }
  const std::vector<backend::Region> &regions() const { return regions_; }

 private:
  std::byte *first_ = nullptr;
  uint64_t size_ = 0;
  std::vector<backend::Region> regions_;
};

guf_status Copy::fill(const ModuleFile &file, guf_error *error) {
  if (file.span == 0) return malformed("everything", error);
  void *const memory =
      mmap(nullptr, file.span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return base::fail_native(error, GUF_E_NO_MEMORY, base::kNone, base::kNone, errno,
                             "no memory for a module of %llu bytes",
                             static_cast<unsigned long long>(file.span));
  }
  first_ = static_cast<std::byte *>(memory);
  size_ = file.span;
  for (const Elf64_Phdr &segment : file.segments) {
    if (segment.p_type != PT_LOAD) continue;
    // ElfFile::open has checked sizes and offsets, and check_segments has checked addresses.
    std::memcpy(first_ + segment.p_vaddr, file.elf.bytes().data() + segment.p_offset,
                segment.p_filesz);
    const uint64_t first = base() + segment.p_vaddr;
    regions_.push_back({first, first + segment.p_memsz, false});
  }
  return GUF_OK;
}

// Entries of the dynamic section. All except rela_size and has_relr are virtual addresses.
struct Dynamic {
  uint64_t rela = 0, rela_size = 0, symbols = 0, strings = 0, hash = 0;
  bool has_relr = false;
};

guf_status read_dynamic(const Copy &copy, const ModuleFile &file, Dynamic *out, guf_error *error) {
  for (const Elf64_Phdr &segment : file.segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = segment.p_vaddr;; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!copy.read(at, &entry)) return malformed("the dynamic section", error);
      switch (entry.d_tag) {
        case DT_NULL:
          return GUF_OK;
        case DT_RELA:
          out->rela = entry.d_un.d_ptr;
          break;
        case DT_RELASZ:
          out->rela_size = entry.d_un.d_val;
          break;
        case DT_SYMTAB:
          out->symbols = entry.d_un.d_ptr;
          break;
        case DT_STRTAB:
          out->strings = entry.d_un.d_ptr;
          break;
        case DT_GNU_HASH:
          out->hash = entry.d_un.d_ptr;
          break;
        case DT_RELR:
          out->has_relr = true;
          break;
        default:
          break;
      }
    }
  }
  return malformed("the dynamic section", error);
}

std::optional<Elf64_Sym> read_symbol(const Copy &copy, const Dynamic &dynamic, uint64_t index) {
  Elf64_Sym symbol;
  if (!copy.read(dynamic.symbols + index * sizeof symbol, &symbol)) return std::nullopt;
  return symbol;
}

guf_status relocate(const Dynamic &dynamic, Copy *copy, guf_error *error) {
  if (dynamic.has_relr) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "this module packs its relocations (DT_RELR); opening it as data needs them "
                      "unpacked");
  }
  for (uint64_t done = 0; done + sizeof(Elf64_Rela) <= dynamic.rela_size;
       done += sizeof(Elf64_Rela)) {
    Elf64_Rela entry;
    if (!copy->read(dynamic.rela + done, &entry)) return malformed("a relocation", error);
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
    uint64_t value = copy->base() + static_cast<uint64_t>(entry.r_addend);
    if (type == kAbsolute) {
      const auto symbol = read_symbol(*copy, dynamic, ELF64_R_SYM(entry.r_info));
      if (!symbol) return malformed("a symbol", error);
      if (symbol->st_shndx == SHN_UNDEF) continue;
      value += symbol->st_value;
    } else if (type != kRelative) {
      continue;
    }
    if (!copy->write(entry.r_offset, value)) return malformed("a relocated pointer", error);
  }
  return GUF_OK;
}

// Searches the hash chain of the table's symbol. Returns the symbol's address, or nullopt.
std::optional<uint64_t> find_table(const Copy &copy, const Dynamic &dynamic) {
  uint32_t requested = 5381;
  for (const char *c = kTableSymbol; *c != '\0'; ++c)
    requested = requested * 33 + static_cast<uint8_t>(*c);
  uint32_t header[4];  // buckets, first symbol, bloom words, bloom shift
  if (dynamic.hash == 0 || !copy.read(dynamic.hash, &header) || header[0] == 0) return std::nullopt;
  const uint64_t buckets = dynamic.hash + sizeof header + uint64_t{header[2]} * sizeof(uint64_t);
  const uint64_t chains = buckets + uint64_t{header[0]} * sizeof(uint32_t);
  uint32_t index = 0;
  if (!copy.read(buckets + requested % header[0] * sizeof index, &index) || index < header[1]) {
    return std::nullopt;
  }
  for (;; ++index) {
    uint32_t hash = 0;
    if (!copy.read(chains + uint64_t{index - header[1]} * sizeof hash, &hash)) return std::nullopt;
    const auto symbol = read_symbol(copy, dynamic, index);
    if (!symbol) return std::nullopt;
    if ((hash | 1) == (requested | 1) && symbol->st_shndx != SHN_UNDEF &&
        copy.equals(dynamic.strings + symbol->st_name, kTableSymbol)) {
      return symbol->st_value;
    }
    if ((hash & 1) != 0) return std::nullopt;
  }
}

class DataImage final : public ModuleImage {
 public:
  guf_status open(const char *path, const ModuleFile &file, guf_error *error) {
    Dynamic dynamic;
    GUF_TRY(copy_.fill(file, error));
    GUF_TRY(read_dynamic(copy_, file, &dynamic, error));
    GUF_TRY(relocate(dynamic, &copy_, error));
    copy_.protect();
    const std::optional<uint64_t> place = find_table(copy_, dynamic);
    if (!place) {
      return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s is not a module; it exports no %s", path, kTableSymbol);
    }
    const auto *const table = reinterpret_cast<const guf_module_v1 *>(copy_.base() + *place);
    GUF_TRY(backend::check_table(table, {copy_.regions(), false}, error));
    std::memcpy(&own_table_, table, table->struct_size);  // tables of older versions are shorter
    for (uint32_t i = 0; i < table->nimages; ++i) {
      if (table->images[i].format != GUF_IMAGE_HOST) device_images_.push_back(table->images[i]);
    }
    own_table_.images = device_images_.data();
    own_table_.nimages = static_cast<uint32_t>(device_images_.size());
    table_ = &own_table_;
    return GUF_OK;
  }

 private:
  Copy copy_;
  guf_module_v1 own_table_ = {};
  std::vector<guf_module_image> device_images_;
};

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

guf_status copy_as_data(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error) {
  auto image = std::make_shared<DataImage>();
  GUF_TRY(image->open(path, file, error));
  *out = std::move(image);
  return GUF_OK;
}

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

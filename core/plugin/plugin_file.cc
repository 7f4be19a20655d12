// SPDX-License-Identifier: Apache-2.0
// Checks the dynamic section of a plugin file. Virtual addresses are converted to file offsets, and
// no bytes outside the file are read.
#include "core/plugin/plugin_file.h"

#include <elf.h>
#include <gufunc/backend.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/elf_file.h"

namespace gufunc::plugin {
namespace {

// Gives access to the file by virtual address.
class FileImage {
 public:
  explicit FileImage(const base::ElfFile &file) : bytes_(file.bytes()) {
    Elf64_Ehdr header;  // ElfFile::open has checked that all headers are in the file
    std::memcpy(&header, bytes_.data(), sizeof header);
    segments_.resize(header.e_phnum);
    std::memcpy(segments_.data(), bytes_.data() + header.e_phoff,
                segments_.size() * sizeof(Elf64_Phdr));
  }

  const std::vector<Elf64_Phdr> &segments() const { return segments_; }

  // Returns the bytes from an address to the end of its segment. The result is empty if no segment
  // contains the address.
  std::span<const std::byte> from(uint64_t address) const {
    for (const Elf64_Phdr &segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
          address - segment.p_vaddr >= segment.p_filesz) {
        continue;
      }
      const uint64_t skip = address - segment.p_vaddr;
      return bytes_.subspan(segment.p_offset + skip, segment.p_filesz - skip);
    }
    return {};
  }
  template <class T>
  bool read(uint64_t address, T *out) const {
    const std::span<const std::byte> found = from(address);
    if (found.size() < sizeof(T)) return false;
    std::memcpy(out, found.data(), sizeof(T));
    return true;
  }
  // Returns the NUL-terminated string at an address, or "" if it has no end.
  std::string_view text(uint64_t address) const {
    const std::span<const std::byte> found = from(address);
    const auto *const first = reinterpret_cast<const char *>(found.data());
    const size_t length = found.empty() ? 0 : strnlen(first, found.size());
    return length == found.size() ? std::string_view() : std::string_view(first, length);
  }

 private:
  const std::span<const std::byte> bytes_;
  std::vector<Elf64_Phdr> segments_;
};

struct Dynamic {
  uint64_t symbols = 0, strings = 0, hash = 0, gnu_hash = 0;
  uint64_t flags = 0, flags_1 = 0;
  bool bind_now = false;
  std::vector<uint64_t> needed, run_paths;  // offsets into the string table
};

bool read_dynamic(const FileImage &image, Dynamic *out) {
  const auto section =
      std::find_if(image.segments().begin(), image.segments().end(),
                   [](const Elf64_Phdr &segment) { return segment.p_type == PT_DYNAMIC; });
  if (section == image.segments().end()) return false;
  for (uint64_t at = section->p_vaddr;; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!image.read(at, &entry)) return false;
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        return out->strings != 0 && out->symbols != 0;
      case DT_SYMTAB:
        out->symbols = value;
        break;
      case DT_STRTAB:
        out->strings = value;
        break;
      case DT_HASH:
        out->hash = value;
        break;
      case DT_GNU_HASH:
        out->gnu_hash = value;
        break;
      case DT_FLAGS:
        out->flags = value;
        break;
      case DT_FLAGS_1:
        out->flags_1 = value;
        break;
      case DT_BIND_NOW:
        out->bind_now = true;
        break;
      case DT_NEEDED:
        out->needed.push_back(value);
        break;
      case DT_RPATH:
      case DT_RUNPATH:
        out->run_paths.push_back(value);
        break;
      default:
        break;
    }
  }
}

// The symbols that the dynamic loader can find, as a range [first, end) of the symbol table.
struct SymbolRange {
  uint32_t first = 0, end = 0;
};

// Computes the range of symbols. Its end is the end of the last hash chain.
bool find_symbols(const FileImage &image, const Dynamic &dynamic, SymbolRange *out) {
  uint32_t header[4];  // buckets, first symbol, bloom words, bloom shift; DT_HASH has only two
  if (dynamic.gnu_hash == 0) {
    uint32_t old_header[2];
    if (!image.read(dynamic.hash, &old_header)) return false;
    *out = {1, old_header[1]};
    return true;
  }
  if (!image.read(dynamic.gnu_hash, &header)) return false;
  const uint64_t buckets =
      dynamic.gnu_hash + sizeof header + uint64_t{header[2]} * sizeof(uint64_t);
  const uint64_t chains = buckets + uint64_t{header[0]} * sizeof(uint32_t);
  uint32_t last = 0;
  for (uint64_t i = 0; i < header[0]; ++i) {
    uint32_t index = 0;
    if (!image.read(buckets + i * sizeof index, &index)) return false;
    last = std::max(last, index);
  }
  *out = {header[1], header[1]};
  if (last < header[1]) return true;
  for (uint32_t hash = 0; (hash & 1) == 0; ++last) {
    if (!image.read(chains + uint64_t{last - header[1]} * sizeof hash, &hash)) return false;
  }
  out->end = last;
  return true;
}

// Returns whether linkers export the symbol by default.
bool is_linkers_own(std::string_view name) {
  return name == "_init" || name == "_fini" || name == "_edata" || name == "_end" ||
         name == "__bss_start";
}

constexpr std::string_view kDriverLibraries[] = {GUF_BACKEND_DRIVER_LIBRARIES};

class LinkingCheck {
 public:
  LinkingCheck(const char *path, const FileImage &image, const BackendNote &note, guf_error *error)
      : path_(path), image_(image), note_(note), error_(error) {}

  guf_status check() {
    SymbolRange symbols;
    if (!read_dynamic(image_, &dynamic_) || !find_symbols(image_, dynamic_, &symbols)) {
      return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s has no dynamic section, or a malformed one", path_);
    }
    GUF_TRY(check_exports(symbols));
    GUF_TRY(check_needed());
    return check_options();
  }

 private:
  guf_status breaks(const char *what, std::string_view name, const char *expected) {
    return base::fail(error_, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s breaks the plugin contract; %s%.*s, expected %s",
                      note_.name.c_str(), what, static_cast<int>(std::min<size_t>(name.size(), 80)),
                      name.data(), expected);
  }
  std::string_view string_at(uint64_t offset) const {
    return image_.text(dynamic_.strings + offset);
  }

  guf_status check_exports(SymbolRange symbols) {
    bool has_entry = false;
    std::string_view other;
    for (uint32_t i = symbols.first; i < symbols.end; ++i) {
      Elf64_Sym symbol;
      if (!image_.read(dynamic_.symbols + uint64_t{i} * sizeof symbol, &symbol)) break;
      const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS ||
          ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
          visibility == STV_INTERNAL) {
        continue;
      }
      const std::string_view name = string_at(symbol.st_name);
      if (name == kPluginEntry) {
        has_entry = true;
      } else if (other.empty() && !is_linkers_own(name)) {
        other = name;
      }
    }
    if (!has_entry) {
      return base::fail(error_, GUF_E_ABI, base::kNone, base::kNone,
                        "%s exports no %s; it is not a plugin of ABI %d", path_, kPluginEntry,
                        GUF_BACKEND_ABI_MAJOR);
    }
    return other.empty() ? GUF_OK
                         : breaks("it exports ", other, "gufunc_backend_open_v1 and nothing else");
  }

  guf_status check_needed() {
    for (const uint64_t offset : dynamic_.needed) {
      const std::string_view name = string_at(offset);
      if (name.starts_with("libgufunc.so")) {
        return breaks("it is linked with ", name, "the host's services through guf_host_api");
      }
      for (const std::string_view driver : kDriverLibraries) {
        if (name.starts_with(driver)) {
          return breaks("it is linked with ", name, "the driver opened in probe");
        }
      }
    }
    for (const uint64_t offset : dynamic_.run_paths) {
      const std::string_view paths = string_at(offset);
      if (paths.find("$ORIGIN") != std::string_view::npos ||
          paths.find("${ORIGIN}") != std::string_view::npos) {
        return breaks("its run path is ", paths, "one without $ORIGIN");
      }
    }
    return GUF_OK;
  }

  guf_status check_options() {
    if ((dynamic_.flags_1 & DF_1_NODELETE) == 0) {
      return breaks("it may be unmapped", "", "the linker option -z nodelete");
    }
    const bool now = dynamic_.bind_now || (dynamic_.flags & DF_BIND_NOW) != 0 ||
                     (dynamic_.flags_1 & DF_1_NOW) != 0;
    return now ? GUF_OK : breaks("its symbols are bound lazily", "", "the linker option -z now");
  }

  const char *const path_;
  const FileImage &image_;
  const BackendNote &note_;
  guf_error *const error_;
  Dynamic dynamic_;
};

}  // namespace

guf_status check_plugin_file(const char *path, const base::CheckedFile &file,
                             const BackendNote &note, guf_error *error) {
  base::MappedBytes mapped;
  GUF_TRY(mapped.map(path, file, error));
  base::ElfFile elf;
  GUF_TRY(base::ElfFile::open(mapped.bytes(), &elf, error));
  const FileImage image(elf);
  return LinkingCheck(path, image, note, error).check();
}

}  // namespace gufunc::plugin

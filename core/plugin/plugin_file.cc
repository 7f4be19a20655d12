// SPDX-License-Identifier: Apache-2.0
// Parses the note of a plugin, and checks the dynamic section of its file. The text of a note is
// from an untrusted file, so its length, its characters and every key are checked. Virtual
// addresses are converted to file offsets, and no bytes outside the file are read.
#include "core/plugin/plugin_file.h"

#include <elf.h>
#include <gufunc/backend.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/elf_file.h"
#include "core/plugin/list_backends.h"

namespace gufunc::plugin {
namespace {

constexpr size_t kMaxNoteSize = 512;

guf_status bad_note(std::string_view part, const char *expected, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "malformed backend note; expected %s, got '%.*s'", expected,
                    static_cast<int>(std::min<size_t>(part.size(), 100)), part.data());
}

bool parse_number(std::string_view text, uint32_t *out) {
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, *out);
  return !text.empty() && failure == std::errc() && stop == end;
}

bool is_isa_name(std::string_view text) {
  return !text.empty() && text.size() <= 31 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

// Parses "DEVICE-PINNED-MANAGED", three device types of DLPack; 0 means that there is none.
bool parse_dlpack_types(std::string_view text, backend::DlpackTypes *out) {
  constexpr uint32_t kMaxTypes = 0xFFFF;
  for (int32_t *const type : {&out->device, &out->pinned, &out->managed}) {
    const size_t dash = type == &out->managed ? text.size() : text.find('-');
    uint32_t number = 0;
    if (dash == std::string_view::npos || !parse_number(text.substr(0, dash), &number) ||
        number > kMaxTypes) {
      return false;
    }
    *type = static_cast<int32_t>(number);
    text.remove_prefix(std::min(dash + 1, text.size()));
  }
  return true;
}

enum Key : uint32_t {
  kName = 1,
  kAbi = 2,
  kPriority = 4,
  kIsa = 8,
  kDlpack = 16,
  kRequiredKeys = kName | kAbi | kPriority | kIsa
};

// Parses one "key=value" pair. `*inout_seen` is the set of keys that have occurred so far.
guf_status take_pair(std::string_view pair, uint32_t *inout_seen, BackendNote *out,
                     guf_error *error) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad_note(pair, "key=value", error);
  const std::string_view key = pair.substr(0, equals);
  const std::string_view value = pair.substr(equals + 1);
  uint32_t bit = 0;
  if (key == "name") {
    bit = kName;
    if (!is_backend_name(value)) return bad_note(pair, "a name of [a-z][a-z0-9_]*", error);
    out->name = value;
  } else if (key == "abi") {
    bit = kAbi;
    const size_t dash = value.find('-');
    if (dash == std::string_view::npos || !parse_number(value.substr(0, dash), &out->abi_low) ||
        !parse_number(value.substr(dash + 1), &out->abi_high) || out->abi_low > out->abi_high) {
      return bad_note(pair, "abi=LOWEST-HIGHEST", error);
    }
  } else if (key == "priority") {
    bit = kPriority;
    if (!parse_number(value, &out->priority)) return bad_note(pair, "a number", error);
  } else if (key == "isa") {
    bit = kIsa;
    if (!is_isa_name(value)) return bad_note(pair, "an ISA such as x86-64-v2", error);
    out->isa = value;
  } else if (key == "dlpack") {
    bit = kDlpack;
    if (!parse_dlpack_types(value, &out->dlpack)) {
      return bad_note(pair, "dlpack=DEVICE-PINNED-MANAGED", error);
    }
  }
  if ((*inout_seen & bit) != 0) return bad_note(pair, "each key once", error);
  *inout_seen |= bit;
  return GUF_OK;
}

bool machine_runs(std::string_view isa) {
#if defined(__x86_64__)
  if (isa == "x86-64") return true;
  if (isa == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (isa == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (isa == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#elif defined(__aarch64__)
  if (isa == "armv8-a") return true;
#endif
  return false;
}

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

guf_status parse_backend_note(std::string_view text, BackendNote *out, guf_error *error) {
  if (text.empty() || text.size() > kMaxNoteSize || text.back() != '\0') {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed backend note; size: expected 1 to %zu, ending in a NUL, got %zu",
                      kMaxNoteSize, text.size());
  }
  text.remove_suffix(1);
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed backend note; it is not printable text");
  }
  BackendNote note;
  uint32_t seen = 0;
  const std::string_view whole = text;
  for (;;) {
    const size_t end = text.find(';');
    GUF_TRY(take_pair(text.substr(0, end), &seen, &note, error));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if ((seen & kRequiredKeys) != kRequiredKeys)
    return bad_note(whole, "name, abi, priority and isa", error);
  *out = std::move(note);
  return GUF_OK;
}

guf_status read_backend_note(const char *path, const base::CheckedFile &file, BackendNote *out,
                             guf_error *error) {
  base::MappedBytes mapped;
  GUF_TRY(mapped.map(path, file, error));
  base::ElfFile elf;
  GUF_TRY(base::ElfFile::open(mapped.bytes(), &elf, error));
  base::FileRange range;
  if (!elf.find_note(base::kNoteOwner, base::kBackendNoteType, &range)) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s is not a gufunc backend; it has no backend note", path);
  }
  const auto text = mapped.bytes().subspan(range.offset, range.size);
  return parse_backend_note({reinterpret_cast<const char *>(text.data()), text.size()}, out, error);
}

guf_status check_backend_note(const BackendNote &note, guf_error *error) {
  if (note.abi_low > GUF_BACKEND_ABI_MINOR) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s needs a newer libgufunc; plugin ABI: expected %d.%u, got %d.%d",
                      note.name.c_str(), GUF_BACKEND_ABI_MAJOR, note.abi_low, GUF_BACKEND_ABI_MAJOR,
                      GUF_BACKEND_ABI_MINOR);
  }
  if (!machine_runs(note.isa)) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s needs instructions that this machine lacks; expected %s",
                      note.name.c_str(), note.isa.c_str());
  }
  return GUF_OK;
}

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

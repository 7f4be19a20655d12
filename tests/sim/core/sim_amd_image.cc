// SPDX-License-Identifier: Apache-2.0
// Parses code objects for AMD devices, which contain a descriptor "NAME.kd" per kernel, and a note
// that describes the arguments. The note is a tree in msgpack.
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_config.h"
#include "tests/sim/core/sim_elf.h"
#include "tests/sim/core/sim_image.h"

namespace sim {
namespace {

// A value of msgpack, the encoding of the metadata in AMD images.
struct Value {
  uint64_t number = 0;
  std::string text;
  std::vector<Value> list;
  std::map<std::string, Value> table;

  // Returns the value of a key, or an empty value if the key is missing.
  const Value &operator[](const std::string &key) const;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool read(Value *out, int depth) {
    if (depth > 16 || bytes_.empty()) return false;
    const auto tag = static_cast<unsigned char>(bytes_[0]);
    bytes_.remove_prefix(1);
    if (tag < 0x80) return out->number = tag, true;
    if (tag < 0x90) return read_table(tag & 0x0F, out, depth);
    if (tag < 0xA0) return read_list(tag & 0x0F, out, depth);
    if (tag < 0xC0) return read_text(tag & 0x1F, out);
    if (tag >= 0xE0) return out->number = static_cast<uint64_t>(int64_t{tag} - 256), true;
    return read_tagged(tag, out, depth);
  }

 private:
  // Reads a big-endian unsigned number of `count` bytes.
  bool number(unsigned count, uint64_t *out) {
    if (bytes_.size() < count) return false;
    *out = 0;
    for (unsigned i = 0; i < count; ++i) {
      *out = (*out << 8) | static_cast<unsigned char>(bytes_[i]);
    }
    bytes_.remove_prefix(count);
    return true;
  }

  bool read_tagged(unsigned char tag, Value *out, int depth) {
    uint64_t size = 0;
    if (tag == 0xC0 || tag == 0xC2) return true;
    if (tag == 0xC3) return out->number = 1, true;
    if (tag >= 0xC4 && tag <= 0xC6)
      return number(1u << (tag - 0xC4), &size) && read_text(size, out);
    if (tag >= 0xCC && tag <= 0xCF) return number(1u << (tag - 0xCC), &out->number);
    if (tag >= 0xD0 && tag <= 0xD3) return number(1u << (tag - 0xD0), &out->number);
    if (tag >= 0xD9 && tag <= 0xDB)
      return number(1u << (tag - 0xD9), &size) && read_text(size, out);
    if (tag == 0xDC || tag == 0xDD) {
      return number(tag == 0xDC ? 2 : 4, &size) && read_list(size, out, depth);
    }
    if (tag == 0xDE || tag == 0xDF) {
      return number(tag == 0xDE ? 2 : 4, &size) && read_table(size, out, depth);
    }
    return false;
  }

  bool read_text(uint64_t size, Value *out) {
    if (size > bytes_.size()) return false;
    out->text = std::string(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return true;
  }

  bool read_list(uint64_t size, Value *out, int depth) {
    if (size > bytes_.size()) return false;
    out->list.resize(size);
    for (Value &value : out->list) {
      if (!read(&value, depth + 1)) return false;
    }
    return true;
  }

  bool read_table(uint64_t size, Value *out, int depth) {
    for (uint64_t i = 0; i < size; ++i) {
      Value key, value;
      if (!read(&key, depth + 1) || !read(&value, depth + 1)) return false;
      out->table[key.text] = std::move(value);
    }
    return true;
  }

  std::string_view bytes_;
};

const Value &Value::operator[](const std::string &key) const {
  static const Value nothing;
  const auto found = table.find(key);
  return found == table.end() ? nothing : found->second;
}

// Returns false if the bytes are not msgpack or nest deeper than 16 levels.
bool read_msgpack(std::string_view bytes, Value *out) {
  return Reader(bytes).read(out, 0);
}

constexpr unsigned kMachineAmd = 224;
constexpr unsigned char kOsAbiHsa = 64;
constexpr uint32_t kNoteMetadata = 32;

// The number of a target in e_flags. For a generic target, `devices` lists the architectures that
// run its code.
struct Mach {
  unsigned code;
  const char *name;
  std::vector<std::string> devices;
};
const std::vector<Mach> &machs() {
  static const std::vector<Mach> all = {
      {0x2C, "gfx900", {}},
      {0x2F, "gfx906", {}},
      {0x30, "gfx908", {}},
      {0x3F, "gfx90a", {}},
      {0x4C, "gfx942", {}},
      {0x4F, "gfx950", {}},
      {0x36, "gfx1030", {}},
      {0x37, "gfx1031", {}},
      {0x38, "gfx1032", {}},
      {0x41, "gfx1100", {}},
      {0x46, "gfx1101", {}},
      {0x47, "gfx1102", {}},
      {0x44, "gfx1103", {}},
      {0x48, "gfx1200", {}},
      {0x4E, "gfx1201", {}},
      {0x51, "gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {0x53, "gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1034", "gfx1036"}},
      {0x54, "gfx11-generic", {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150"}},
      {0x59, "gfx12-generic", {"gfx1200", "gfx1201"}},
  };
  return all;
}

// Returns whether a device runs code with this feature setting of e_flags. A setting is 0 (the
// target does not have the feature), 1 (any), 2 (off) or 3 (on).
bool feature_fits(unsigned code, const std::string &name, const std::vector<std::string> &device) {
  if (code < 2) return true;
  for (const std::string &word : device) {
    if (word == name + "+") return code == 3;
    if (word == name + "-") return code == 2;
  }
  return false;
}

bool code_runs_on(unsigned flags, const std::string &arch) {
  const std::vector<std::string> words = words_of(arch, ':');
  if (words.empty()) return false;
  for (const Mach &mach : machs()) {
    if (mach.code != (flags & 0xFF)) continue;
    bool fits = mach.name == words[0];
    for (const std::string &device : mach.devices) fits = fits || device == words[0];
    return fits && feature_fits((flags >> 8) & 3, "xnack", words) &&
           feature_fits((flags >> 10) & 3, "sramecc", words);
  }
  return false;
}

// Reads the metadata from the notes.
bool read_metadata(const Elf &elf, Value *out) {
  for (const Section &section : elf.sections()) {
    if (section.header.sh_type != SHT_NOTE) continue;
    std::string_view bytes = elf.bytes(section);
    while (bytes.size() >= sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr note;
      std::memcpy(&note, bytes.data(), sizeof(note));
      const uint64_t name = (uint64_t{note.n_namesz} + 3) / 4 * 4;
      const uint64_t body = (uint64_t{note.n_descsz} + 3) / 4 * 4;
      if (name + body > bytes.size() - sizeof(note)) return false;
      if (note.n_type == kNoteMetadata) {
        return read_msgpack(bytes.substr(sizeof(note) + name, note.n_descsz), out);
      }
      bytes.remove_prefix(sizeof(note) + name + body);
    }
  }
  return false;
}

ImageKernel read_kernel(const Value &message) {
  ImageKernel kernel;
  kernel.name = message[".name"].text;
  for (const Value &argument : message[".args"].list) {
    if (argument[".value_kind"].text.rfind("hidden_", 0) == 0) continue;
    const auto offset = static_cast<uint32_t>(argument[".offset"].number);
    const auto bytes = static_cast<uint32_t>(argument[".size"].number);
    kernel.parameters.push_back({offset, bytes});
    kernel.argument_bytes = std::max(kernel.argument_bytes, offset + bytes);
  }
  kernel.max_threads = static_cast<uint32_t>(message[".max_flat_workgroup_size"].number);
  kernel.registers = static_cast<uint32_t>(message[".vgpr_count"].number);
  kernel.shared_bytes = static_cast<uint32_t>(message[".group_segment_fixed_size"].number);
  kernel.local_bytes = static_cast<uint32_t>(message[".private_segment_fixed_size"].number);
  return kernel;
}

// Checks the descriptor of the kernel that the metadata describes. A kernel without a descriptor
// cannot be launched.
bool descriptor_fits(const Elf &elf, const Value &message) {
  const Section *table = elf.section(".dynsym");
  if (table == nullptr) return false;
  for (const Elf64_Sym &symbol : elf.symbols(*table)) {
    if (elf.symbol_name(*table, symbol) != message[".symbol"].text) continue;
    const std::string_view bytes = elf.at_address(symbol.st_value, 64);
    if (bytes.size() != 64) return false;
    uint32_t fixed[3];
    std::memcpy(fixed, bytes.data(), sizeof(fixed));
    return fixed[0] == message[".group_segment_fixed_size"].number &&
           fixed[2] == message[".kernarg_segment_size"].number;
  }
  return false;
}

}  // namespace

int read_amd_image(const void *data, const std::string &arch, Image *out) {
  Elf elf;
  if (!elf.open(data) || elf.header().e_machine != kMachineAmd ||
      elf.header().e_ident[EI_OSABI] != kOsAbiHsa) {
    return kInvalidImage;
  }
  out->size = elf.size();
  if (!code_runs_on(elf.header().e_flags, arch)) return kNoBinaryForGpu;
  Value metadata;
  if (!read_metadata(elf, &metadata)) return kInvalidImage;
  for (const Value &message : metadata["amdhsa.kernels"].list) {
    if (!descriptor_fits(elf, message)) return kInvalidImage;
    out->kernels.push_back(read_kernel(message));
  }
  return kSuccess;
}

}  // namespace sim

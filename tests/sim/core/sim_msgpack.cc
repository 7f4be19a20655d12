// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_msgpack.h"

namespace sim {
namespace {

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

}  // namespace

const Value &Value::operator[](const std::string &key) const {
  static const Value nothing;
  const auto found = table.find(key);
  return found == table.end() ? nothing : found->second;
}

bool read_msgpack(std::string_view bytes, Value *out) {
  return Reader(bytes).read(out, 0);
}

}  // namespace sim

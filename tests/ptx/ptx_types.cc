// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_types.h"

#include <charconv>

namespace ptx {

Type type_of(std::string_view name) {
  if (name == "pred") return {Kind::kPredicate, 1};
  if (name == "f16x2") return {Kind::kPackedHalves, 32};
  if (name.size() < 2) return {};
  Type type;
  switch (name[0]) {
    case 'b':
      type.kind = Kind::kBits;
      break;
    case 'u':
      type.kind = Kind::kUnsigned;
      break;
    case 's':
      type.kind = Kind::kSigned;
      break;
    case 'f':
      type.kind = Kind::kFloat;
      break;
    default:
      return {};
  }
  unsigned bits = 0;
  const char *const end = name.data() + name.size();
  if (std::from_chars(name.data() + 1, end, bits).ptr != end) return {};
  const bool known = bits == 16 || bits == 32 || bits == 64;
  if (!known && (bits != 8 || type.kind == Kind::kFloat)) return {};
  type.bits = static_cast<uint8_t>(bits);
  return type;
}

bool agree(Type declared, Type used) {
  if (declared.kind == Kind::kPredicate || used.kind == Kind::kPredicate) return declared == used;
  if (declared.kind == Kind::kBits || used.kind == Kind::kBits) return true;
  if (used.kind == Kind::kPackedHalves) return declared.kind != Kind::kFloat;
  const bool floats = declared.kind == Kind::kFloat;
  return floats == (used.kind == Kind::kFloat);
}

}  // namespace ptx

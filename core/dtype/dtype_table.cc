// SPDX-License-Identifier: Apache-2.0
// The dtype tables: numbering, NumPy 2's promotion and casting as data, names.
#include "core/dtype/dtype.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace gufunc::dtype {
namespace {

constexpr std::string_view kLetters = "?bBhHiIqQeEfdFD";
static_assert(kLetters.size() == kCount);

constexpr std::array<guf_dtype, kCount> kDtypes = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                                                   GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                                                   GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};

constexpr std::array<const char *, kCount> kNames = {
    "bool",   "int8",    "uint8",    "int16",   "uint16",  "int32",     "uint32",    "int64",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

// promote_types: row and column in the order of kLetters.
constexpr std::array<std::string_view, kCount> kPromoted = {
    "?bBhHiIqQeEfdFD",  // ?
    "bbhhiiqqdeEfdFD",  // b
    "BhBhHiIqQeEfdFD",  // B
    "hhhhiiqqdfffdFD",  // h
    "HiHiHiIqQfffdFD",  // H
    "iiiiiiqqdddddDD",  // i
    "IqIqIqIqQddddDD",  // I
    "qqqqqqqqdddddDD",  // q
    "QdQdQdQdQddddDD",  // Q
    "eeeffddddeffdFD",  // e
    "EEEffddddfEfdFD",  // E
    "fffffddddfffdFD",  // f
    "dddddddddddddDD",  // d
    "FFFFFDDDDFFFDFD",  // F
    "DDDDDDDDDDDDDDD",  // D
};

// can_cast(row, column, "safe"): the letter where it holds.
constexpr std::array<std::string_view, kCount> kSafe = {
    "?bBhHiIqQeEfdFD",  // ?
    ".b.h.i.q.eEfdFD",  // b
    "..BhHiIqQeEfdFD",  // B
    "...h.i.q...fdFD",  // h
    "....HiIqQ..fdFD",  // H
    ".....i.q....d.D",  // i
    "......IqQ...d.D",  // I
    ".......q....d.D",  // q
    "........Q...d.D",  // Q
    ".........e.fdFD",  // e
    "..........EfdFD",  // E
    "...........fdFD",  // f
    "............d.D",  // d
    ".............FD",  // F
    "..............D",  // D
};

// can_cast(row, column, "same_kind").
constexpr std::array<std::string_view, kCount> kSameKind = {
    "?bBhHiIqQeEfdFD",  // ?
    ".b.h.i.q.eEfdFD",  // b
    ".bBhHiIqQeEfdFD",  // B
    ".b.h.i.q.eEfdFD",  // h
    ".bBhHiIqQeEfdFD",  // H
    ".b.h.i.q.eEfdFD",  // i
    ".bBhHiIqQeEfdFD",  // I
    ".b.h.i.q.eEfdFD",  // q
    ".bBhHiIqQeEfdFD",  // Q
    ".........eEfdFD",  // e
    ".........eEfdFD",  // E
    ".........eEfdFD",  // f
    ".........eEfdFD",  // d
    ".............FD",  // F
    ".............FD",  // D
};

using Masks = std::array<uint16_t, kCount>;

constexpr Masks masks_of(const std::array<std::string_view, kCount> &table) {
  Masks masks = {};
  for (size_t from = 0; from < kCount; ++from) {
    for (size_t to = 0; to < kCount; ++to) {
      if (table[from][to] == kLetters[to]) masks[from] |= static_cast<uint16_t>(1U << to);
    }
  }
  return masks;
}

constexpr Masks kSafeMask = masks_of(kSafe);
constexpr Masks kSameKindMask = masks_of(kSameKind);

// Dense numbers by (log2 of bytes, code): 5 x 8 places, -1 where no dtype is.
constexpr size_t place_of(guf_dtype dtype) {
  const uint32_t bytes = itemsize(dtype);
  const uint32_t log2 = bytes == 0 ? 7 : static_cast<uint32_t>(__builtin_ctz(bytes));
  return (log2 * 8 + (dtype & 7U)) & 63U;
}

constexpr std::array<int8_t, 64> kIndices = [] {
  std::array<int8_t, 64> table = {};
  for (int8_t &entry : table) entry = -1;
  for (size_t i = 0; i < kCount; ++i) table[place_of(kDtypes[i])] = static_cast<int8_t>(i);
  return table;
}();

}  // namespace

int index_of(guf_dtype dtype) {
  const int index = kIndices[place_of(dtype)];
  return index >= 0 && kDtypes[static_cast<size_t>(index)] == dtype ? index : -1;
}

guf_dtype at(int index) {
  return kDtypes[static_cast<size_t>(index)];
}

bool valid(guf_dtype dtype) {
  return index_of(dtype) >= 0;
}

char letter(guf_dtype dtype) {
  const int index = index_of(dtype);
  return index < 0 ? '\0' : kLetters[static_cast<size_t>(index)];
}

const char *name(guf_dtype dtype) {
  const int index = index_of(dtype);
  return index < 0 ? nullptr : kNames[static_cast<size_t>(index)];
}

guf_dtype from_letter(char letter) {
  const size_t index = kLetters.find(letter);
  if (index == std::string_view::npos) return GUF_DTYPE_UNSPECIFIED;
  return kDtypes[index];
}

bool can_cast(guf_dtype from, guf_dtype to, int casting) {
  if (from == to || casting == GUF_CASTING_UNSAFE) return true;
  if (casting < GUF_CASTING_SAFE) return false;
  const Masks &masks = casting == GUF_CASTING_SAFE ? kSafeMask : kSameKindMask;
  const int row = index_of(from);
  const int column = index_of(to);
  return row >= 0 && column >= 0 && (masks[static_cast<size_t>(row)] >> column & 1) != 0;
}

guf_dtype promote(guf_dtype a, guf_dtype b) {
  if (a == b) return a;
  const int row = index_of(a);
  const int column = index_of(b);
  if (row < 0 || column < 0) return GUF_DTYPE_UNSPECIFIED;
  return from_letter(kPromoted[static_cast<size_t>(row)][static_cast<size_t>(column)]);
}

const char *casting_name(int casting) {
  switch (casting) {
    case GUF_CASTING_NO:
      return "no";
    case GUF_CASTING_EQUIV:
      return "equiv";
    case GUF_CASTING_SAFE:
      return "safe";
    case GUF_CASTING_UNSAFE:
      return "unsafe";
    default:
      return "same_kind";
  }
}

}  // namespace gufunc::dtype

// SPDX-License-Identifier: Apache-2.0
// Tables of the numeric dtypes: numbers, names, and the promotion and casting rules of NumPy 2.
#include "core/dtype/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "core/dtype/time_dtype.h"

namespace gufunc::dtype {
namespace {

#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  static_assert(GUF_##NAME == ((code) | (bits) << 8 | 1 << 16));
#include <gufunc/dtypes.def>

constexpr std::array<guf_dtype, kCount> kDtypes = {
#define GUF_DTYPE(NAME, ...) GUF_##NAME,
#include <gufunc/dtypes.def>
};

constexpr std::array<char, kCount> kLetters = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) letter,
#include <gufunc/dtypes.def>
};

constexpr std::array<const char *, kCount> kNames = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) name,
#include <gufunc/dtypes.def>
};

constexpr std::array<const char *, kCount> kShortNames = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) short_name,
#include <gufunc/dtypes.def>
};

constexpr std::array<int32_t, kCount> kKinds = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) GUF_KIND_##kind,
#include <gufunc/dtypes.def>
};

// promote_types(row, column). Rows and columns are in the order of kLetters.
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

// can_cast(row, column, "safe"): the letter of the column if true, '.' if false.
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

// can_cast(row, column, "same_kind"): the letter of the column if true, '.' if false.
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

static_assert(std::all_of(kPromoted.begin(), kPromoted.end(),
                          [](std::string_view row) { return row.size() == kCount; }));

using Masks = std::array<uint16_t, kCount>;
static_assert(kCount <= 16);

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

static_assert(std::all_of(kDtypes.begin(), kDtypes.end(), [](guf_dtype dtype) {
  return kNumericDtypes[table_position(dtype)] == dtype;
}));

// The index of the numeric dtype at each position that kNumericDtypes uses.
constexpr std::array<int8_t, 64> kIndices = [] {
  std::array<int8_t, 64> table = {};
  for (size_t i = 0; i < kCount; ++i) table[table_position(kDtypes[i])] = static_cast<int8_t>(i);
  return table;
}();

}  // namespace

int index_of(guf_dtype dtype) {
  const size_t position = table_position(dtype);
  return kNumericDtypes[position] == dtype ? kIndices[position] : -1;
}

guf_dtype at(int index) {
  return kDtypes[static_cast<size_t>(index)];
}

bool valid_extended(guf_dtype dtype) {
  return valid_time(dtype) || structured_name(dtype) != nullptr;
}

int32_t kind(guf_dtype dtype) {
  if (is_structured(dtype)) return GUF_KIND_STRUCTURED;
  if (is_time(dtype)) return is_datetime(dtype) ? GUF_KIND_DATETIME : GUF_KIND_TIMEDELTA;
  const int index = index_of(dtype);
  return index < 0 ? 0 : kKinds[static_cast<size_t>(index)];
}

bool is_real_float(guf_dtype dtype) {
  const int32_t own = kind(dtype);
  return own == GUF_KIND_FLOAT || own == GUF_KIND_BFLOAT;
}

char letter(guf_dtype dtype) {
  if (is_extended(dtype)) {
    if (!valid(dtype)) return '\0';
    return is_structured(dtype) ? 'V' : "Mm"[dtype & 1U];
  }
  const int index = index_of(dtype);
  return index < 0 ? '\0' : kLetters[static_cast<size_t>(index)];
}

const char *name(guf_dtype dtype) {
  if (is_extended(dtype)) return valid_time(dtype) ? time_name(dtype) : structured_name(dtype);
  const int index = index_of(dtype);
  return index < 0 ? nullptr : kNames[static_cast<size_t>(index)];
}

const char *short_name(guf_dtype dtype) {
  const int index = is_extended(dtype) ? -1 : index_of(dtype);
  return index < 0 ? nullptr : kShortNames[static_cast<size_t>(index)];
}

guf_dtype from_letter(char letter) {
  if (letter == 'M') return GUF_DATETIME64;
  if (letter == 'm') return GUF_TIMEDELTA64;
  const std::string_view letters(kLetters.data(), kLetters.size());
  const size_t index = letters.find(letter);
  if (index == std::string_view::npos) return GUF_DTYPE_UNSPECIFIED;
  return kDtypes[index];
}

namespace {

// A bool or integer dtype casts to timedelta64 (its values are numbers of steps) under the casting
// rules under which it casts to int64: uint64 under `same_kind`, all others under `safe`.
bool can_cast_extended(guf_dtype from, guf_dtype to, int casting) {
  if (is_time(from) && is_time(to)) return can_cast_time(from, to, casting);
  if (!is_timedelta(to) || is_extended(from) || casting < GUF_CASTING_SAFE) return false;
  return can_cast(from, GUF_I64, casting);
}

}  // namespace

bool can_cast(guf_dtype from, guf_dtype to, int casting) {
  if (from == to) return true;
  if (casting == GUF_CASTING_UNSAFE) return !is_structured(from) && !is_structured(to);
  if (is_extended(from) || is_extended(to)) return can_cast_extended(from, to, casting);
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

guf_status common_type(guf_dtype a, guf_dtype b, guf_dtype *out, guf_error *error) {
  if (is_time(a) && is_time(b)) return promote_datetimes(a, b, out, error);
  if (!is_extended(a) || !is_extended(b)) {
    const guf_dtype time = is_extended(a) ? a : b;
    const guf_dtype other = is_extended(a) ? b : a;
    if (!is_extended(time)) {
      *out = promote(a, b);
      return GUF_OK;
    }
    if (is_timedelta(time) && can_cast(other, GUF_I64, GUF_CASTING_SAFE)) {
      *out = time;
      return GUF_OK;
    }
  }
  if (a == b) {
    *out = a;
    return GUF_OK;
  }
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                    "The data types '%s' and '%s' do not have a common data type", name(a),
                    name(b));
}

guf_status check_cast(guf_dtype from, guf_dtype to, guf_error *error) {
  if (__builtin_expect(!is_extended(from) || !is_extended(to), 1)) return GUF_OK;
  return is_time(from) && is_time(to) ? check_time_cast(from, to, error) : GUF_OK;
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

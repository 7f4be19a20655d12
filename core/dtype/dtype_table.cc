// SPDX-License-Identifier: Apache-2.0
// Tables of the numeric dtypes: numbers, names, and the promotion and casting rules of NumPy 2.
// Also the spellings of dtypes: names, characters and short forms, and the spellings in error
// messages.
#include "core/dtype/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/base/utf8.h"
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

struct Spelling {
  std::string_view text;
  guf_dtype dtype;
};

// NumPy's other characters for dtypes, which `letter` never returns.
constexpr Spelling kOtherCharacters[] = {
    {"l", GUF_I64}, {"p", GUF_I64}, {"L", GUF_U64}, {"P", GUF_U64}};

// NumPy's other names for dtypes. name() returns the names with a size, such as "int32".
constexpr Spelling kOther[] = {
    {"bool_", GUF_BOOL},   {"byte", GUF_I8},       {"ubyte", GUF_U8},    {"short", GUF_I16},
    {"ushort", GUF_U16},   {"intc", GUF_I32},      {"uintc", GUF_U32},   {"int", GUF_I64},
    {"int_", GUF_I64},     {"uint", GUF_U64},      {"long", GUF_I64},    {"ulong", GUF_U64},
    {"longlong", GUF_I64}, {"ulonglong", GUF_U64}, {"intp", GUF_I64},    {"uintp", GUF_U64},
    {"half", GUF_F16},     {"single", GUF_F32},    {"double", GUF_F64},  {"float", GUF_F64},
    {"csingle", GUF_C64},  {"cdouble", GUF_C128},  {"complex", GUF_C128}};

template <size_t kSize>
guf_dtype look_up(const Spelling (&table)[kSize], std::string_view text) {
  for (const Spelling &spelling : table) {
    if (spelling.text == text) return spelling.dtype;
  }
  return GUF_DTYPE_UNSPECIFIED;
}

// Reads a character or a short form without a byte-order mark.
guf_dtype read_short(std::string_view text) {
  for (int i = 0; i < kCount; ++i) {
    const guf_dtype dtype = at(i);
    if (text == short_name(dtype) || (text.size() == 1 && text[0] == letter(dtype))) return dtype;
  }
  return look_up(kOtherCharacters, text);
}

bool is_mark(char c) {
  return c == '<' || c == '|' || c == '=' || c == '>';
}

guf_dtype read(std::string_view text) {
  if (const guf_dtype dtype = read_short(text)) return dtype;
  if (!text.empty() && is_mark(text[0]) && text[0] != '>') return read_short(text.substr(1));
  for (int i = 0; i < kCount; ++i) {
    if (text == name(at(i))) return at(i);
  }
  if (const guf_dtype dtype = look_up(kOther, text)) return dtype;
  return find_structured(text);
}

// Appends "bool (?, b1), int8 (b, i1), ...", the names, characters and short forms of the numeric
// dtypes.
void list_spellings(base::Text *text) {
  for (int i = 0; i < kCount; ++i) {
    const guf_dtype dtype = at(i);
    const char *const other = dtype == GUF_I64 ? "l, " : dtype == GUF_U64 ? "L, " : "";
    text->add("%s (%c, %s%s), ", name(dtype), letter(dtype), other, short_name(dtype));
  }
}

// A bool or integer dtype casts to timedelta64 (its values are numbers of steps) under the casting
// rules under which it casts to int64: uint64 under `same_kind`, all others under `safe`.
bool can_cast_extended(guf_dtype from, guf_dtype to, int casting) {
  if (is_time(from) && is_time(to)) return can_cast_time(from, to, casting);
  if (!is_timedelta(to) || is_extended(from) || casting < GUF_CASTING_SAFE) return false;
  return can_cast(from, GUF_I64, casting);
}

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

guf_status parse(const char *spelling, guf_dtype *out, guf_error *error) {
  constexpr size_t kLongest = 32;
  const size_t length = strnlen(spelling, kLongest + 1);
  const std::string_view text = length <= kLongest ? std::string_view(spelling, length) : "";
  const std::string_view unmarked = text.substr(!text.empty() && is_mark(text[0]) ? 1 : 0);
  const bool big_endian = !text.empty() && text[0] == '>';
  if (!big_endian && reads_as_time(unmarked)) return parse_time(unmarked, spelling, out, error);
  const guf_dtype dtype = read(text);
  if (dtype != GUF_DTYPE_UNSPECIFIED) {
    *out = dtype;
    return GUF_OK;
  }
  if (big_endian && (read_short(unmarked) != 0 || reads_as_time(unmarked))) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "data type '%s' is big-endian: byte order is a flag of the operand, name the "
                      "data type without '>'",
                      spelling);
  }
  base::Text numeric;
  list_spellings(&numeric);
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                    "data type '%.*s' not understood; the data types are %sdatetime64[unit] "
                    "(M8[unit]), timedelta64[unit] (m8[unit])",
                    base::utf8_prefix(spelling, kLongest), spelling, numeric.c_str());
}

void spell(guf_dtype dtype, bool swapped, base::Text *text) {
  if (is_time(dtype)) {  // the short form, followed by the unit in brackets
    const char *const unit = std::strchr(name(dtype), '[');
    text->add("%c%c8%s", "<>"[swapped ? 1 : 0], "Mm"[dtype & 1U], unit == nullptr ? "" : unit);
    return;
  }
  if (!swapped || itemsize(dtype) == 1 || is_structured(dtype)) {
    text->add("%s", name(dtype));
    return;
  }
  text->add(">%s", short_name(dtype));
}

}  // namespace gufunc::dtype

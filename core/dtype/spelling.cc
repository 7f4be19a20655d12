// SPDX-License-Identifier: Apache-2.0
// Spellings of dtypes: NumPy's names, characters and short forms, the spellings of bfloat16, and
// the spellings in error messages.
#include <cstring>
#include <string_view>

#include "core/base/utf8.h"
#include "core/dtype/time_dtype.h"

namespace gufunc::dtype {
namespace {

struct Spelling {
  std::string_view text;
  guf_dtype dtype;
};

// Characters and short forms. A byte-order mark may precede them.
constexpr Spelling kShort[] = {
    {"?", GUF_BOOL},    {"b1", GUF_BOOL}, {"b", GUF_I8},   {"i1", GUF_I8},   {"B", GUF_U8},
    {"u1", GUF_U8},     {"h", GUF_I16},   {"i2", GUF_I16}, {"H", GUF_U16},   {"u2", GUF_U16},
    {"i", GUF_I32},     {"i4", GUF_I32},  {"I", GUF_U32},  {"u4", GUF_U32},  {"l", GUF_I64},
    {"q", GUF_I64},     {"p", GUF_I64},   {"i8", GUF_I64}, {"L", GUF_U64},   {"Q", GUF_U64},
    {"P", GUF_U64},     {"u8", GUF_U64},  {"e", GUF_F16},  {"f2", GUF_F16},  {"E", GUF_BF16},
    {"bf16", GUF_BF16}, {"f", GUF_F32},   {"f4", GUF_F32}, {"d", GUF_F64},   {"f8", GUF_F64},
    {"F", GUF_C64},     {"c8", GUF_C64},  {"D", GUF_C128}, {"c16", GUF_C128}};

// NumPy's names other than the sized names, which name() returns.
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

bool is_mark(char c) {
  return c == '<' || c == '|' || c == '=' || c == '>';
}

guf_dtype read(std::string_view text) {
  if (const guf_dtype dtype = look_up(kShort, text)) return dtype;
  if (!text.empty() && is_mark(text[0]) && text[0] != '>') {
    return look_up(kShort, text.substr(1));
  }
  for (int i = 0; i < kCount; ++i) {
    if (text == name(at(i))) return at(i);
  }
  if (const guf_dtype dtype = look_up(kOther, text)) return dtype;
  return find_structured(text);
}

}  // namespace

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
  if (big_endian && (look_up(kShort, unmarked) != 0 || reads_as_time(unmarked))) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "data type '%s' is big-endian: byte order is a flag of the operand, name the "
                      "data type without '>'",
                      spelling);
  }
  return base::fail(
      error, GUF_E_DTYPE, base::kNone, base::kNone,
      "data type '%.*s' not understood; the data types are bool (?, b1), int8 (b, i1), "
      "uint8 (B, u1), int16 (h, i2), uint16 (H, u2), int32 (i, i4), uint32 (I, u4), "
      "int64 (q, l, i8), uint64 (Q, L, u8), float16 (e, f2), bfloat16 (E, bf16), "
      "float32 (f, f4), float64 (d, f8), complex64 (F, c8), complex128 (D, c16), "
      "datetime64[unit] (M8[unit]), timedelta64[unit] (m8[unit])",
      base::utf8_prefix(spelling, kLongest), spelling);
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
  const char *const kind = is_complex(dtype)    ? "c"
                           : is_signed(dtype)   ? "i"
                           : is_unsigned(dtype) ? "u"
                                                : "f";
  if (dtype == GUF_BF16) {
    text->add(">bf16");
  } else {
    text->add(">%s%u", kind, itemsize(dtype));
  }
}

}  // namespace gufunc::dtype

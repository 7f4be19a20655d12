// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: magic, version, length, and a Python dictionary literal with three
// keys.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "npy_file.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kShortestPrefix = 10;       // magic, version, length
constexpr size_t kLongestHeader = 1U << 20;  // 64 dimensions need far less

[[noreturn]] void refuse(const std::string &name, const std::string &why) {
  throw Failure(Exit::kFile, fmt::format("{}: not a usable .npy file: {}", name, why));
}

// Shortens a quotation from a header for an error message.
std::string shortened(std::string_view text) {
  constexpr size_t kMax = 60;
  return text.size() <= kMax ? std::string(text) : std::string(text.substr(0, kMax)) + "...";
}

// Parses the literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and nothing else.
class Reader {
 public:
  Reader(std::string_view text, const std::string &name) : text_(text), name_(name) {}

  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<int64_t>> shape;
  };

  Fields read() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !fields.descr) {
        if (peek() == '[') refuse(name_, "structured dtypes are not supported");
        fields.descr = string();
      } else if (key == "fortran_order" && !fields.fortran_order) {
        fields.fortran_order = boolean();
      } else if (key == "shape" && !fields.shape) {
        fields.shape = tuple();
      } else {
        refuse(name_, fmt::format("the header has a second or unknown key '{}'", shortened(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) refuse(name_, "text after the header's dictionary");
    return fields;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char expected) {
    if (peek() != expected || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char expected) {
    if (!accept(expected))
      refuse(name_, fmt::format("the header lacks '{}' at character {}", expected, at_));
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      refuse(name_, fmt::format("the header lacks a string at character {}", at_));
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse(name_, "a string in the header does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : value) {
      if (c < ' ' || c == '\\' || c > '~')
        refuse(name_, "a string in the header has a control character or escape");
    }
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_space();
    if (text_.substr(at_, 4) == "True") return at_ += 4, true;
    if (text_.substr(at_, 5) == "False") return at_ += 5, false;
    refuse(name_, "fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) refuse(name_, "shape is not a tuple");
      if (values.size() == GUF_MAX_NDIM)
        refuse(name_,
               fmt::format("shape has more than {} dimensions", static_cast<int>(GUF_MAX_NDIM)));
      values.push_back(extent());
      comma = accept(',');
    }
    if (values.size() == 1 && !comma) refuse(name_, "shape is not a tuple: (n) lacks its comma");
    return values;
  }
  int64_t extent() {
    skip_space();
    const size_t end = std::min(text_.find_first_of(",) \n", at_), text_.size());
    const std::string_view digits = text_.substr(at_, end - at_);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
      refuse(name_, fmt::format("expected an extent of shape, digits only, at character {}, got "
                                "'{}'",
                                at_, shortened(digits)));
    }
    int64_t value = 0;
    for (const char digit : digits) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, digit - '0', &value)) {
        refuse(name_, "an extent of shape overflows");
      }
    }
    at_ = end;
    return value;
  }

  std::string_view text_;
  const std::string &name_;
  size_t at_ = 0;
};

guf_dtype described_dtype(const std::string &descr, bool raw_bf16, const std::string &name,
                          bool *out_swapped) {
  *out_swapped = !descr.empty() && descr[0] == '>';
  const std::string body = descr.empty() ? descr : descr.substr(1);
  const bool order_known =
      !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  if (order_known && body == "V2") {
    if (raw_bf16 && !*out_swapped) return GUF_BF16;
    refuse(name, "'V2' has no numeric meaning; pass --raw to read it as bfloat16");
  }
  constexpr std::string_view kKinds = "biufcMm";
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  if (order_known && body.size() >= 2 && kKinds.find(body[0]) != std::string_view::npos &&
      body[1] >= '1' && body[1] <= '9' &&
      guf_dtype_parse(body.c_str(), &dtype, nullptr) == GUF_OK) {
    guf_dtype_info info = {};
    info.struct_size = sizeof info;
    if (guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK && descr[0] == '|' &&
        info.itemsize > 1) {
      refuse(name, fmt::format("descr '{}' has no byte order", shortened(descr)));
    }
    return dtype;
  }
  refuse(
      name,
      fmt::format(
          "descr '{}' is not a dtype of this library (bool, i1..i8, u1..u8, f2, f4, f8, c8, c16, "
          "M8[unit], m8[unit])",
          shortened(descr)));
}

uint64_t bytes_of(guf_dtype dtype, const std::vector<int64_t> &shape, const std::string &name) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  guf_dtype_get_info(dtype, &info, nullptr);
  int64_t size = info.itemsize;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent == 0) empty = true;
    if (extent != 0 && __builtin_mul_overflow(size, extent, &size)) refuse(name, "shape overflows");
  }
  return empty ? 0 : static_cast<uint64_t>(size);
}

size_t length_at(std::span<const std::byte> bytes, size_t offset, size_t width) {
  size_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= std::to_integer<size_t>(bytes[offset + i]) << (8 * i);
  return value;
}

}  // namespace

size_t npy_header_size(std::span<const std::byte> bytes, const std::string &name) {
  if (bytes.size() < kShortestPrefix) refuse(name, "shorter than the shortest header");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    refuse(name, "the magic string is missing");
  const int major = std::to_integer<int>(bytes[6]);
  const int minor = std::to_integer<int>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(name, fmt::format("version {}.{} is unknown", major, minor));
  const size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) refuse(name, "truncated inside the header");
  const size_t length = length_at(bytes, 8, width);
  if (length > kLongestHeader)
    refuse(name, fmt::format("a header of {} bytes is too large", length));
  return 8 + width + length;
}

NpyHeader parse_npy_description(std::span<const std::byte> bytes, bool raw_bf16,
                                const std::string &name) {
  const size_t size = npy_header_size(bytes, name);
  if (size > bytes.size()) refuse(name, "truncated inside the header");
  const size_t begin = std::to_integer<int>(bytes[6]) == 1 ? 10 : 12;
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()) + begin, size - begin);
  const auto fields = Reader(text, name).read();
  if (!fields.descr || !fields.fortran_order || !fields.shape) {
    refuse(name, "the header lacks 'descr', 'fortran_order' or 'shape'");
  }
  NpyHeader header;
  header.dtype = described_dtype(*fields.descr, raw_bf16, name, &header.swapped);
  header.fortran_order = *fields.fortran_order;
  header.shape = *fields.shape;
  header.data_offset = size;
  header.data_size = bytes_of(header.dtype, header.shape, name);
  return header;
}

void check_npy_size(const NpyHeader &header, uint64_t present, const std::string &name) {
  if (present < header.data_size) {
    refuse(name,
           fmt::format("truncated: expected {} bytes of data, got {}", header.data_size, present));
  }
  if (present > header.data_size) {
    refuse(name, fmt::format("{} bytes after the data", present - header.data_size));
  }
}

std::string make_npy_header(guf_dtype dtype, const std::vector<int64_t> &shape, bool fortran_order,
                            bool raw_bf16) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_dtype_get_info(dtype, &info, call.error()));
  std::string descr = fmt::format("{}{}{}", info.itemsize == 1 ? '|' : '<',
                                  static_cast<char>(info.kind), info.itemsize);
  if (info.kind == GUF_KIND_STRUCTURED) {
    throw Failure(Exit::kFile,
                  fmt::format("structured dtype '{}' has no .npy descriptor", info.name));
  }
  if (info.kind == GUF_KIND_DATETIME || info.kind == GUF_KIND_TIMEDELTA) {
    const std::string_view name = info.name;  // such as "datetime64[25s]"
    if (const size_t unit = name.find('['); unit != name.npos) descr += name.substr(unit);
  }
  if (dtype == GUF_BF16) {
    if (!raw_bf16) {
      throw Failure(Exit::kFile,
                    "bfloat16 has no .npy descriptor; pass --raw to write it as 'V2', two raw "
                    "bytes an element");
    }
    descr = "|V2";
  }
  std::string shape_text;
  for (const int64_t extent : shape) shape_text += fmt::format("{}, ", extent);
  if (shape.size() == 1) shape_text.pop_back();
  if (shape.size() > 1) shape_text.resize(shape_text.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", descr,
                                 fortran_order ? "True" : "False", shape_text);
  constexpr size_t kPrefix = 10;
  text.append(63 - (kPrefix + text.size()) % 64, ' ');
  text.push_back('\n');
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

std::vector<int64_t> contiguous_strides(guf_dtype dtype, const std::vector<int64_t> &shape,
                                        bool fortran_order) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  guf_dtype_get_info(dtype, &info, nullptr);
  std::vector<int64_t> strides(shape.size());
  int64_t step = info.itemsize;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = fortran_order ? i : shape.size() - 1 - i;
    strides[axis] = step;
    if (shape[axis] > 1) step *= shape[axis];
  }
  return strides;
}

}  // namespace gufunc::cli

// SPDX-License-Identifier: Apache-2.0
// Tests .npy headers: every version and byte order, every error message, every truncation and every
// changed byte.
#include "npy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "outcome.h"

namespace gufunc::cli {
namespace {

std::span<const std::byte> bytes_of(const std::string &text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

NpyHeader parse(const std::string &text, bool raw = false) {
  NpyHeader header = parse_npy_description(bytes_of(text), raw, "file.npy");
  check_npy_size(header, text.size() - header.data_offset, "file.npy");
  return header;
}

// Builds a file of version `major` with this dictionary and `data_size` zero bytes.
std::string file(int major, const std::string &dictionary, size_t data_size) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  const size_t width = major == 1 ? 2 : 4;
  for (size_t i = 0; i < width; ++i)
    text += static_cast<char>(dictionary.size() >> (8 * i) & 0xFFU);
  return text + dictionary + std::string(data_size, '\0');
}

std::string refusal(const std::string &text, bool raw = false) {
  try {
    parse(text, raw);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code(), Exit::kFile);
    return failure.what();
  }
  return "accepted";
}

TEST(NpyHeader, ReadsAllVersions) {
  for (const int major : {1, 2, 3}) {
    const auto header =
        parse(file(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24));
    EXPECT_EQ(header.dtype, static_cast<guf_dtype>(GUF_F32));
    EXPECT_FALSE(header.fortran_order);
    EXPECT_FALSE(header.swapped);
    EXPECT_THAT(header.shape, testing::ElementsAre(2, 3));
    EXPECT_EQ(header.data_size, 24U);
  }
}

TEST(NpyHeader, WritesTheHeaderThatItRead) {
  struct Row {
    guf_dtype dtype;
    std::vector<int64_t> shape;
  };
  const Row rows[] = {{GUF_BOOL, {}},   {GUF_F64, {3}},       {GUF_C128, {2, 1}},
                      {GUF_I8, {0, 7}}, {GUF_F16, {1, 2, 3}}, {GUF_BF16, {4}}};
  for (const Row &row : rows) {
    for (const bool fortran : {false, true}) {
      std::string text = make_npy_header(row.dtype, row.shape, fortran, true);
      EXPECT_EQ(text.size() % 64, 0U);
      guf_dtype_info info = {};
      info.struct_size = sizeof info;
      ASSERT_EQ(guf_dtype_get_info(row.dtype, &info, nullptr), GUF_OK);
      uint64_t size = info.itemsize;
      for (const int64_t extent : row.shape) size *= static_cast<uint64_t>(extent);
      const auto header = parse(text + std::string(size, '\0'), true);
      EXPECT_EQ(header.dtype, row.dtype);
      EXPECT_EQ(header.shape, row.shape);
      EXPECT_EQ(header.fortran_order, fortran);
    }
  }
}

TEST(NpyHeader, ByteOrderIsAFlag) {
  EXPECT_TRUE(
      parse(file(1, "{'descr': '>i4', 'fortran_order': True, 'shape': (1,), }\n", 4)).swapped);
}

TEST(NpyHeader, RefusesByName) {
  const auto dictionary = [](const std::string &descr, const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const struct {
    std::string text;
    const char *reason;
  } rows[] = {
      {"", "shorter than the shortest header"},
      {"PK\x03\x04 a zip file", "magic string"},
      {file(4, dictionary("'<f4'", "(1,)"), 4), "version 4.0"},
      {file(1, dictionary("'<f4'", "(1,)"), 3), "truncated: expected 4 bytes of data, got 3"},
      {file(1, dictionary("'<f4'", "(1,)"), 5), "1 bytes after the data"},
      {file(1, dictionary("'|O'", "(1,)"), 8), "descr '|O'"},
      {file(1, dictionary("[('a', '<f4')]", "(1,)"), 8), "structured"},
      {file(1, dictionary("'|V2'", "(1,)"), 2), "--raw"},
      {file(1, dictionary("'<f3'", "(1,)"), 8), "descr '<f3'"},
      {file(1, dictionary("'|f4'", "(1,)"), 4), "no byte order"},
      {file(1, dictionary("'<f4'", "(1)"), 4), "lacks its comma"},
      {file(1, dictionary("'<f4'", "(-1,)"), 4), "an extent of shape, digits only, at character"},
      {file(1, dictionary("'<f4'", "(-1,)"), 4), ", got '-1'"},
      {file(1, dictionary("'<f4'", "(2, +3)"), 4), ", got '+3'"},
      {file(1, dictionary("'<f4'", "(0x10,)"), 4), ", got '0x10'"},
      {file(1, dictionary("'<f4'", "(1_0,)"), 4), ", got '1_0'"},
      {file(1, dictionary("'<f4'", "(,)"), 4), ", got ''"},
      {file(1, dictionary("'<f4'", "(9223372036854775808,)"), 4), "overflows"},
      {file(1, dictionary("'<f4'", "(4611686018427387904, 4)"), 4), "overflows"},
      {file(1, "{'descr': '<f4', 'shape': (1,)}", 4), "lacks 'descr', 'fortran_order' or 'shape'"},
      {file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4),
       "unknown key 'x'"},
      {file(1, dictionary("'<f4'", "(1,)") + "junk", 4), "text after"},
  };
  for (const auto &row : rows) EXPECT_THAT(refusal(row.text), testing::HasSubstr(row.reason));
}

// Expects that the parser returns a header that fits the file or throws a Failure, whatever bytes
// the text contains.
void expect_sound(const std::string &text) {
  try {
    const NpyHeader header = parse(text);
    EXPECT_EQ(header.data_offset + header.data_size, text.size());
    EXPECT_LE(header.shape.size(), static_cast<size_t>(GUF_MAX_NDIM));
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code(), Exit::kFile);
    EXPECT_THAT(failure.what(), testing::StartsWith("file.npy: "));
  }
}

TEST(NpyHeader, EveryTruncation) {
  const std::string whole = make_npy_header(GUF_F64, {3, 4}, false, false) + std::string(96, '\0');
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length;
  }
}

TEST(NpyHeader, EveryByteChangedToEveryValue) {
  const std::string whole = make_npy_header(GUF_F64, {3, 4}, false, false) + std::string(96, '\0');
  const size_t header = whole.size() - 96;
  for (size_t at = 0; at < header; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      expect_sound(changed);
    }
  }
}

}  // namespace
}  // namespace gufunc::cli

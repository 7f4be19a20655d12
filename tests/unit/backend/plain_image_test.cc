// SPDX-License-Identifier: Apache-2.0
// Tests that compressed images are restored bit for bit and that malformed files are reported.
#include "core/backend/plain_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <string_view>

#include "tests/support/fresh_error.h"

namespace gufunc::backend {
namespace {

using ::testing::HasSubstr;

class PlainImages : public ::testing::Test {
 protected:
  PlainImages() {
    for (int i = 0; i < 1000; ++i) content_ += std::to_string(i * 7919);
    frame_.resize(ZSTD_compressBound(content_.size()));
    frame_.resize(
        ZSTD_compress(frame_.data(), frame_.size(), content_.data(), content_.size(), 19));
  }

  guf_module_image packed(uint64_t offset, uint64_t bytes) const {
    guf_module_image image = {};
    image.format = GUF_IMAGE_HSACO;
    image.codec = GUF_CODEC_ZSTD;
    image.target = "gfx942";
    image.data = frame_.data();
    image.size = frame_.size();
    image.inflated_size = content_.size();
    image.offset = offset;
    image.bytes = bytes;
    image.family = 3;
    return image;
  }
  void expect_refused(const guf_module_image &image, const char *found) {
    PlainImage plain;
    EXPECT_EQ(plain.open(image, &error_), GUF_E_BAD_FILE);
    EXPECT_THAT(error_.message, HasSubstr("image gfx942 is damaged"));
    EXPECT_THAT(error_.message, HasSubstr(found));
  }
  static std::string_view text(const guf_module_image &image) {
    return {static_cast<const char *>(image.data), image.size};
  }

  std::string content_, frame_;
  guf_error error_ = fresh_error();
};

TEST_F(PlainImages, ComeOutOfAFrameThatTheyShare) {
  for (const auto &[offset, bytes] :
       {std::pair<uint64_t, uint64_t>{0, 100}, {256, 99}, {content_.size() - 1, 1}}) {
    PlainImage plain;
    ASSERT_EQ(plain.open(packed(offset, bytes), &error_), GUF_OK) << error_.message;
    const guf_module_image &image = plain.image();
    EXPECT_EQ(text(image), std::string_view(content_).substr(offset, bytes));
    EXPECT_EQ(static_cast<const char *>(image.data)[bytes], '\0');
    EXPECT_EQ(image.codec, GUF_CODEC_NONE);
    EXPECT_EQ(image.offset, 0u);
    EXPECT_EQ(image.bytes, bytes);
    EXPECT_EQ(image.inflated_size, bytes);
    EXPECT_EQ(image.family, 3u);
    EXPECT_STREQ(image.target, "gfx942");
  }
}

TEST_F(PlainImages, AreTheWholeWhereNoPartIsNamed) {
  PlainImage plain;
  ASSERT_EQ(plain.open(packed(0, 0), &error_), GUF_OK) << error_.message;
  EXPECT_EQ(text(plain.image()), content_);

  guf_module_image bare = packed(0, 0);
  bare.codec = GUF_CODEC_NONE;
  bare.inflated_size = 0;
  ASSERT_EQ(plain.open(bare, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(text(plain.image()), frame_);
  EXPECT_NE(plain.image().data, bare.data) << "the copy has a terminating NUL";
  bare.offset = 4;
  bare.bytes = 5;
  ASSERT_EQ(plain.open(bare, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(text(plain.image()), std::string_view(frame_).substr(4, 5));
}

TEST_F(PlainImages, OfAnotherSizeAreRefused) {
  guf_module_image image = packed(0, 0);
  image.inflated_size += 1;
  expect_refused(image, "a frame of another size");
  image.inflated_size -= 2;
  expect_refused(image, "a frame of another size");
}

TEST_F(PlainImages, OfDamagedFramesAreRefused) {
  guf_module_image image = packed(0, 0);
  for (uint64_t size : {uint64_t{1}, uint64_t{5}, uint64_t{20}, frame_.size() - 1}) {
    image.size = size;
    expect_refused(image, "got ");
  }
  image = packed(0, 0);
  frame_[0] = 'x';
  expect_refused(image, "no frame");
}

// A second frame would be decompressed beyond the announced size.
TEST_F(PlainImages, OfTwoFramesAreRefused) {
  frame_ += frame_;
  expect_refused(packed(0, 0), "got ");
}

// Corrupted input is either reported or decompressed without an invalid memory access, which the
// sanitizers would detect.
TEST_F(PlainImages, OfEveryDamageAreSafe) {
  const std::string whole = frame_;
  int refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    frame_ = whole;
    frame_[i] = static_cast<char>(frame_[i] ^ 0x55);
    PlainImage plain;
    const guf_status status = plain.open(packed(0, 0), &error_);
    if (status == GUF_OK) continue;
    EXPECT_EQ(status, GUF_E_BAD_FILE);
    ++refused;
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace gufunc::backend

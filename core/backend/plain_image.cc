// SPDX-License-Identifier: Apache-2.0
// Decompression of device images. zstd can only decompress a whole frame, so all images in a frame
// are decompressed even if only one is needed. All images in one frame belong to the same kernel
// family and the same vendor.
#include "core/backend/plain_image.h"

#include <zstd.h>

#include <cstring>
#include <new>

namespace gufunc::backend {
namespace {

guf_status bad_frame(const guf_module_image &image, const char *found, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "image %s is damaged; its data: expected a zstd frame of %llu bytes, got %s",
                    image.target, static_cast<unsigned long long>(image.inflated_size), found);
}

// Decompresses a frame. Nothing is written if the size in the frame header is wrong.
guf_status inflate(const guf_module_image &image, unsigned char *out, guf_error *error) {
  const unsigned long long stated = ZSTD_getFrameContentSize(image.data, image.size);
  if (stated == ZSTD_CONTENTSIZE_ERROR) return bad_frame(image, "no frame", error);
  if (stated != image.inflated_size) return bad_frame(image, "a frame of another size", error);
  const size_t size = ZSTD_decompress(out, image.inflated_size, image.data, image.size);
  if (ZSTD_isError(size) != 0) return bad_frame(image, ZSTD_getErrorName(size), error);
  if (size != image.inflated_size) return bad_frame(image, "frames of another size", error);
  return GUF_OK;
}

}  // namespace

guf_status PlainImage::open(const guf_module_image &image, guf_error *error) {
  const bool compressed = image.codec != GUF_CODEC_NONE;
  const uint64_t whole = compressed ? image.inflated_size : image.size;
  const uint64_t bytes = image.bytes != 0 ? image.bytes : whole;
  memory_.reset(new (std::nothrow) unsigned char[whole + 1]);
  if (memory_ == nullptr) {
    return base::fail(error, GUF_E_NO_MEMORY, base::kNone, base::kNone,
                      "no memory for image %s, which needs %llu bytes", image.target,
                      static_cast<unsigned long long>(whole));
  }
  if (compressed) {
    GUF_TRY(inflate(image, memory_.get(), error));
  } else {
    std::memcpy(memory_.get(), image.data, whole);
  }
  memory_[image.offset + bytes] = 0;  // overwrites the next image, which is not used here
  image_ = image;
  image_.codec = GUF_CODEC_NONE;
  image_.data = memory_.get() + image.offset;
  image_.size = bytes;
  image_.inflated_size = bytes;
  image_.offset = 0;
  image_.bytes = bytes;
  return GUF_OK;
}

}  // namespace gufunc::backend

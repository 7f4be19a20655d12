// SPDX-License-Identifier: Apache-2.0
#include "image_frame.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

namespace gufunc::gufcc {
namespace {

constexpr int kLevel = 19;
constexpr int kMinWindow = 20, kMaxWindow = 27;  // log2; every decoder supports 27

// The window covers the whole frame, so that a later image can refer to the first similar one.
int window_of(size_t size) {
  int log = kMinWindow;
  while (log < kMaxWindow && (size_t{1} << log) < size) ++log;
  return log;
}

}  // namespace

bool compress_frame(const std::string &content, std::string *out) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> context(ZSTD_createCCtx(),
                                                                    ZSTD_freeCCtx);
  if (context == nullptr) return false;
  const std::pair<ZSTD_cParameter, int> parameters[] = {
      {ZSTD_c_compressionLevel, kLevel},
      {ZSTD_c_windowLog, window_of(content.size())},
      {ZSTD_c_enableLongDistanceMatching, 1},
      {ZSTD_c_checksumFlag, 1},
      {ZSTD_c_contentSizeFlag, 1}};
  for (const auto &[parameter, value] : parameters) {
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)) != 0) return false;
  }
  out->resize(ZSTD_compressBound(content.size()));
  const size_t size =
      ZSTD_compress2(context.get(), out->data(), out->size(), content.data(), content.size());
  if (ZSTD_isError(size) != 0) return false;
  out->resize(size);
  return true;
}

std::string frame_key(const std::string &content) {
  return "zstd " + std::to_string(kLevel) + " " + ZSTD_versionString() + "\n" + content;
}

}  // namespace gufunc::gufcc

// SPDX-License-Identifier: Apache-2.0
// zstd frames of device images.
#ifndef GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H
#define GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H

#include <string>

namespace gufunc::gufcc {

// Returns false if memory runs out.
bool compress_frame(const std::string &content, std::string *out);

// The cache key of a frame.
std::string frame_key(const std::string &content);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H

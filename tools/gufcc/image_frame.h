// SPDX-License-Identifier: Apache-2.0
// One zstd frame around device images.
#ifndef GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H
#define GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H

#include <string>

namespace gufunc::gufcc {

// False when memory runs out.
bool compress_frame(const std::string &content, std::string *out);

// What the frame depends on, for the object cache.
std::string frame_key(const std::string &content);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_IMAGE_FRAME_H

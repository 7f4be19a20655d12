// SPDX-License-Identifier: Apache-2.0
#include "text_file.h"

#include <cstddef>
#include <span>

#include "npy_file.h"
#include "npy_stream.h"

namespace gufunc::cli {

TextFile::TextFile(const std::optional<std::string> &path) {
  if (!path || *path == kStandardStream) return;
  path_ = *path;
  file_.emplace(resolve_target(path_), path_, 0666);
}

void TextFile::publish(const std::string &text) {
  if (!file_) return;
  write_all(file_->fd(), std::as_bytes(std::span(text)), path_);
  file_->publish();
}

}  // namespace gufunc::cli

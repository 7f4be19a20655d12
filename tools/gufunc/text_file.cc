// SPDX-License-Identifier: Apache-2.0
#include "text_file.h"

#include <cstddef>
#include <span>

#include "npy_file.h"
#include "npy_stream.h"
#include "outcome.h"

namespace gufunc::cli {

TextFile::TextFile(const char *option, const std::optional<std::string> &path)
    : shown_(option + (" " + visible(path.value_or("")))) {
  if (!path || *path == kStandardStream) return;
  file_.emplace(resolve_target(*path, shown_), shown_, 0666);
}

void TextFile::publish(const std::string &text) {
  if (!file_) return;
  write_all(file_->fd(), std::as_bytes(std::span(text)), shown_);
  file_->publish();
}

}  // namespace gufunc::cli

// SPDX-License-Identifier: Apache-2.0
// A text file that an option names.
#ifndef GUFUNC_TOOLS_GUFUNC_TEXT_FILE_H
#define GUFUNC_TOOLS_GUFUNC_TEXT_FILE_H

#include <optional>
#include <string>

#include "new_file.h"

namespace gufunc::cli {

// Gets its name when it is complete. Without a path, and for "-", there is no file.
class TextFile {
 public:
  // `path` is the value of `option`, which error messages name. Throws Failure(kFile) if the file
  // cannot be created.
  TextFile(const char *option, const std::optional<std::string> &path);

  // Writes the whole text. Throws Failure(kFile).
  void publish(const std::string &text);

 private:
  std::string shown_;  // "--svg FILE"
  std::optional<NewFile> file_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_TEXT_FILE_H

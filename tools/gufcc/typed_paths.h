// SPDX-License-Identifier: Apache-2.0
// Programs that gufcc runs get absolute paths, so that they do not read a file name as an option
// ("-x.guf.cpp") or as a response file ("@x.guf.cpp"). Messages name files as the user typed them.
#ifndef GUFUNC_TOOLS_GUFCC_TYPED_PATHS_H
#define GUFUNC_TOOLS_GUFCC_TYPED_PATHS_H

#include <string>
#include <utility>
#include <vector>

namespace gufunc::gufcc {

// The absolute path of `typed`.
std::string absolute_path(const std::string &typed);

class TypedPaths {
 public:
  // Adds a source file and its folder, from which #include "..." reads.
  void add_source(const std::string &typed);
  void add_folder(const std::string &typed);

  // Replaces every known absolute path by its typed spelling.
  std::string as_typed(std::string text) const;

  // Replaces the paths in the line markers of preprocessed text, `# 1 "file"`.
  std::string with_typed_markers(const std::string &preprocessed) const;

 private:
  void add(std::string absolute, std::string typed);

  std::vector<std::pair<std::string, std::string>> spellings_;  // longest path first
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_TYPED_PATHS_H

// SPDX-License-Identifier: Apache-2.0
// Reading and writing of complete files, and the folder of intermediate files.
#ifndef GUFUNC_TOOLS_GUFCC_FILES_H
#define GUFUNC_TOOLS_GUFCC_FILES_H

#include <filesystem>
#include <string>

#include "core/base/descriptor.h"
#include "diagnostic.h"

namespace gufunc::gufcc {

using base::Descriptor;

// Read the rest of a file, or write all of `text`. Return false with the reason in errno.
bool read_descriptor(const Descriptor &file, std::string *out);
bool write_descriptor(const Descriptor &file, const std::string &text);

bool read_file(const std::filesystem::path &path, std::string *out, Diagnostics *diagnostics);
bool write_file(const std::filesystem::path &path, const std::string &text,
                Diagnostics *diagnostics);

// Resolves the symbolic links of the output path `typed`. Returns false for an existing path that
// is not a regular file, such as a device or a FIFO.
bool find_output(const std::filesystem::path &typed, std::filesystem::path *out,
                 Diagnostics *diagnostics);

// Atomically replaces the file that find_output returns for `typed` with a copy of `from`. The two
// files may be on different file systems.
bool move_into_place(const std::filesystem::path &from, const std::filesystem::path &typed,
                     Diagnostics *diagnostics);

// Returns the reason why a program that printed `output` could not write a file, such as "No space
// left on device", or "" if `output` contains no such reason.
std::string storage_failure(const std::string &output);

void replace_all(std::string *text, const std::string &from, const std::string &to);

// A private temporary folder. The destructor removes it and its contents, unless keep() was called.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  bool create(Diagnostics *diagnostics);
  void keep() { keep_ = true; }
  // Also removes the folder when SIGINT, SIGTERM or SIGHUP ends the program, unless keep() was
  // called. May be called once per program.
  bool remove_on_signals(Diagnostics *diagnostics) const;
  const std::filesystem::path &path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_ = false;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_FILES_H

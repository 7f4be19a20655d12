// SPDX-License-Identifier: Apache-2.0
// Whole files in and out, and the folder of intermediate files.
#ifndef GUFUNC_TOOLS_GUFCC_FILES_H
#define GUFUNC_TOOLS_GUFCC_FILES_H

#include <filesystem>
#include <string>

#include "diagnostic.h"

namespace gufunc::gufcc {

// The owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor();

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  int release();
  // False when what was written is not in the file, with the reason in errno.
  bool close();

 private:
  int number_;
};

// The rest of a file, all of `text` into it. False with the reason in errno.
bool read_descriptor(const Descriptor &file, std::string *out);
bool write_descriptor(const Descriptor &file, const std::string &text);

bool read_file(const std::filesystem::path &path, std::string *out, Diagnostics *diagnostics);
bool write_file(const std::filesystem::path &path, const std::string &text,
                Diagnostics *diagnostics);

// Where an output called `typed` goes: behind its symbolic links. False for what exists and is no
// regular file, a device or a FIFO.
bool find_output(const std::filesystem::path &typed, std::filesystem::path *out,
                 Diagnostics *diagnostics);

// Puts a copy of `from` where find_output says in one step, also across file systems.
bool move_into_place(const std::filesystem::path &from, const std::filesystem::path &typed,
                     Diagnostics *diagnostics);

void replace_all(std::string *text, const std::string &from, const std::string &to);

// A folder of its own, removed with its content unless kept.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  bool create(Diagnostics *diagnostics);
  void keep() { keep_ = true; }
  // From now on also when SIGINT, SIGTERM or SIGHUP ends the program, unless kept. Once a program.
  bool remove_on_signals(Diagnostics *diagnostics) const;
  const std::filesystem::path &path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_ = false;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_FILES_H

// SPDX-License-Identifier: Apache-2.0
// Reads, signs and writes module files as bytes.
#ifndef GUFUNC_TESTS_UNIT_MODULE_MODULE_FILES_H
#define GUFUNC_TESTS_UNIT_MODULE_MODULE_FILES_H

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/module/module_digest.h"

namespace gufunc::testing {

inline std::vector<char> read_bytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream content;  // faster than istreambuf_iterator
  content << file.rdbuf();
  const std::string text = content.str();
  return {text.begin(), text.end()};
}

// Overwrites an existing file in place.
inline void write_bytes(const std::string &path, const std::vector<char> &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good()) << path;
}

// Replaces a file as a compiler does: writes a new file and renames it.
inline void replace_file(const std::string &path, const std::vector<char> &bytes) {
  write_bytes(path + ".new", bytes);
  std::filesystem::rename(path + ".new", path);
}

// Stores the correct digest in a module that was changed or has no digest.
inline std::vector<char> sign(std::vector<char> bytes) {
  base::ElfFile elf;
  module::ModuleNote note;
  std::array<uint8_t, 32> digest;
  uint64_t offset = 0;
  EXPECT_EQ(base::ElfFile::open(std::as_bytes(std::span(bytes)), &elf, nullptr), GUF_OK);
  EXPECT_EQ(module::compute_digest(elf, &note, &digest, &offset, nullptr), GUF_OK);
  std::memcpy(bytes.data() + offset, digest.data(), digest.size());
  return bytes;
}

}  // namespace gufunc::testing

#endif  // GUFUNC_TESTS_UNIT_MODULE_MODULE_FILES_H

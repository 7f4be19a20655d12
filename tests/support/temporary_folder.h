// SPDX-License-Identifier: Apache-2.0
#ifndef GUFUNC_TESTS_SUPPORT_TEMPORARY_FOLDER_H
#define GUFUNC_TESTS_SUPPORT_TEMPORARY_FOLDER_H

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

// A new folder that only this user can write to. The destructor removes it with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "/gufunc_test_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot create " << pattern;
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::filesystem::path &path() const { return path_; }

 private:
  std::filesystem::path path_;
};

#endif  // GUFUNC_TESTS_SUPPORT_TEMPORARY_FOLDER_H

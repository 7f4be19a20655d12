// SPDX-License-Identifier: Apache-2.0
// Runs gufcc in a separate folder with a separate cache.
#ifndef GUFUNC_TESTS_GUFCC_GUFCC_FIXTURE_H
#define GUFUNC_TESTS_GUFCC_GUFCC_FIXTURE_H

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "files.h"
#include "process.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

class Gufcc : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.create(&diagnostics_)); }

  fs::path path(const std::string &name) const { return folder_.path() / name; }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path(name)) << text;
    return path(name).string();
  }
  ProcessResult run(const Command &arguments) const {
    Command command = {GUFCC, "--cache-dir", path("cache").string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command);
  }
  // Compiles a source that must be rejected and returns the messages.
  std::string failing(const std::string &text, const std::string &targets = "x86-64-v2") const {
    const ProcessResult result =
        run({write("bad.guf.cpp", text), "-o", path("bad.so").string(), "--targets", targets});
    EXPECT_EQ(result.status, 1);
    EXPECT_FALSE(fs::exists(path("bad.so")));
    return result.output;
  }

  TemporaryFolder folder_;
  Diagnostics diagnostics_;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TESTS_GUFCC_GUFCC_FIXTURE_H

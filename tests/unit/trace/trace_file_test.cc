// SPDX-License-Identifier: Apache-2.0
// Tests that the file is valid JSON after each write, and that earlier content remains when a later
// write fails.
#include "core/trace/trace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "tests/support/fresh_error.h"

namespace gufunc::trace {
namespace {

class TraceFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "gufunc-trace-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "t.json";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  guf_status add(TraceFile &file, const std::string &event) {
    return file.add(event.data(), event.size(), &error_);
  }

  std::filesystem::path folder_, path_;
  guf_error error_ = fresh_error();
};

TEST_F(TraceFiles, IsAnArrayAfterEveryWrite) {
  const auto file = std::make_unique<TraceFile>();
  ASSERT_EQ(file->open(path_.c_str(), &error_), GUF_OK) << error_.message;
  EXPECT_EQ(content(), "[\n]\n");
  ASSERT_EQ(add(*file, "{\"a\":1}"), GUF_OK);
  EXPECT_EQ(content(), "[\n]\n") << "buffered until it is written";
  ASSERT_EQ(file->write_out(&error_), GUF_OK);
  EXPECT_EQ(content(), "[\n{\"a\":1}\n]\n");
  ASSERT_EQ(add(*file, "{\"b\":2}"), GUF_OK);
  ASSERT_EQ(add(*file, "{}"), GUF_OK);
  ASSERT_EQ(file->write_out(&error_), GUF_OK);
  ASSERT_EQ(file->write_out(&error_), GUF_OK);
  EXPECT_EQ(content(), "[\n{\"a\":1},\n{\"b\":2},\n{}\n]\n");
}

TEST_F(TraceFiles, WritesABufferThatIsFull) {
  const auto file = std::make_unique<TraceFile>();
  ASSERT_EQ(file->open(path_.c_str(), &error_), GUF_OK);
  const std::string event = "\"" + std::string(1000, 'x') + "\"";
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(add(*file, event), GUF_OK);
  EXPECT_GT(content().size(), 900'000U);
  EXPECT_EQ(content().substr(content().size() - 3), "\n]\n");
}

TEST_F(TraceFiles, AFullDiskKeepsTheWrittenEvents) {
  const auto file = std::make_unique<TraceFile>();
  ASSERT_EQ(file->open(path_.c_str(), &error_), GUF_OK);
  ASSERT_EQ(add(*file, "{\"a\":1}"), GUF_OK);
  ASSERT_EQ(file->write_out(&error_), GUF_OK);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);  // in real use, the writer's thread blocks this signal
  const rlimit little = {1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  ASSERT_EQ(add(*file, "\"" + std::string(2000, 'x') + "\""), GUF_OK);
  const guf_status status = file->write_out(&error_);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status, GUF_E_IO);
  EXPECT_NE(std::string(error_.message).find("File too large"), std::string::npos);
  EXPECT_EQ(content(), "[\n{\"a\":1}\n]\n");
}

TEST_F(TraceFiles, ReplacesTheFormerContent) {
  std::ofstream(path_) << std::string(10'000, 'x');
  const auto file = std::make_unique<TraceFile>();
  ASSERT_EQ(file->open(path_.c_str(), &error_), GUF_OK);
  EXPECT_EQ(content(), "[\n]\n");
}

TEST(TracePath, HasTheProcessNumber) {
  char path[20];
  ASSERT_TRUE(expand_path("a%p-%p%%", 123, path, sizeof path));
  EXPECT_STREQ(path, "a123-123%%");
  EXPECT_FALSE(expand_path("", 123, path, sizeof path));
  EXPECT_FALSE(expand_path("12345678901234567890", 1, path, sizeof path));
  EXPECT_TRUE(expand_path("1234567890123456789", 1, path, sizeof path));
}

}  // namespace
}  // namespace gufunc::trace

// SPDX-License-Identifier: Apache-2.0
// Tests that strings in a trace are valid JSON for any bytes.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "core/trace/event_text.h"

namespace gufunc::trace {
namespace {

std::string quoted(const std::string &bytes) {
  JsonText text;
  text.string(bytes.c_str());
  return {text.text(), text.length()};
}

TEST(TraceJson, PlainBytesStay) {
  EXPECT_EQ(quoted("add (float64,float64->float64)"), "\"add (float64,float64->float64)\"");
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST(TraceJson, EscapesCharactersThatJsonForbids) {
  EXPECT_EQ(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(quoted("\n\t\x01\x7F"), "\"\\u000a\\u0009\\u0001\\u007f\"");
}

TEST(TraceJson, BytesThatAreNoUtf8AreReplaced) {
  const char *const kBroken[] = {"\x80",
                                 "\xC0\xAF",
                                 "\xC1\x81",
                                 "\xC3",
                                 "\xE0\x80\x80",
                                 "\xED\xA0\x80",
                                 "\xE2\x82",
                                 "\xF0\x80\x80\x80",
                                 "\xF4\x90\x80\x80",
                                 "\xF5\x80\x80\x80",
                                 "\xFF"};
  for (const char *bytes : kBroken) {
    std::string expected = "\"";
    for (size_t i = 0; i < std::string(bytes).size(); ++i) expected += "\\ufffd";
    EXPECT_EQ(quoted(bytes), expected + "\"");
  }
  EXPECT_EQ(quoted("\xC3x"), "\"\\ufffdx\"");
}

TEST(TraceJson, AStringEndsAtItsSize) {
  JsonText text;
  text.string("abcdef", 3).member("x").number(UINT64_MAX).member("t").microseconds(1234567);
  EXPECT_EQ(std::string(text.text(), text.length()),
            "\"abc\",\"x\":18446744073709551615,\"t\":1234.567");
  EXPECT_TRUE(text.whole());
}

TEST(TraceJson, NamesOfStructuredDtypesAreEscaped) {
  const auto file = std::make_unique<TraceFile>();
  const std::string path = testing::TempDir() + "gufunc_trace_json_test.json";
  ASSERT_EQ(file->open(path.c_str(), nullptr), GUF_OK);
  const auto writer = std::make_unique<EventWriter>(*file, 1);
  Record record = {};
  record.backend = -1;
  record.work.device = -1;
  std::memset(record.work.name, '"', sizeof record.work.name);  // has no terminating NUL
  std::memset(record.work.kernel, '\\', sizeof record.work.kernel);
  ASSERT_EQ(writer->write(record, nullptr), GUF_OK);
  ASSERT_EQ(file->write_out(nullptr), GUF_OK);
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  std::string quotes, slashes;
  for (size_t i = 0; i < sizeof record.work.name; ++i) quotes += "\\\"", slashes += "\\\\";
  EXPECT_NE(all.str().find("\"name\":\"" + quotes + "\","), std::string::npos) << all.str();
  EXPECT_NE(all.str().find("\"kernel\":\"" + slashes + "\"}"), std::string::npos);
}

TEST(TraceJson, TruncationIsReported) {
  JsonText text;
  text.string(std::string(5000, 'x').c_str());
  EXPECT_FALSE(text.whole());
  EXPECT_LE(text.length(), 4096U);
}

}  // namespace
}  // namespace gufunc::trace

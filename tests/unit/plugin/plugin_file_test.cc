// SPDX-License-Identifier: Apache-2.0
// Tests the parser of the ELF note that identifies a backend, with valid notes and every kind of
// invalid note.
#include "core/plugin/plugin_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/backend.h>

#include <string>

#include "tests/support/fresh_error.h"

namespace gufunc::plugin {
namespace {

constexpr char kGood[] = "name=null;abi=0-2;priority=10;isa=x86-64-v2";

// Parses `text` with its terminating NUL, as a note stores it.
guf_status parse(const std::string &text, BackendNote *out, guf_error *error = nullptr) {
  return parse_backend_note({text.c_str(), text.size() + 1}, out, error);
}

TEST(BackendNote, HasFourKeysAndDlpackTypes) {
  BackendNote note;
  ASSERT_EQ(parse(kGood, &note), GUF_OK);
  EXPECT_EQ(note.name, "null");
  EXPECT_EQ(note.abi_low, 0u);
  EXPECT_EQ(note.abi_high, 2u);
  EXPECT_EQ(note.priority, 10u);
  EXPECT_EQ(note.isa, "x86-64-v2");
  EXPECT_EQ(parse("isa=x86-64;later=1;priority=0;abi=0-0;name=a_1", &note), GUF_OK)
      << "any order, and keys of later versions";
  EXPECT_EQ(note.dlpack.device, 0);
  ASSERT_EQ(parse("name=null;abi=0-2;dlpack=2-3-13;priority=10;isa=x86-64", &note), GUF_OK);
  EXPECT_EQ(note.dlpack.device, 2);
  EXPECT_EQ(note.dlpack.pinned, 3);
  EXPECT_EQ(note.dlpack.managed, 13);
}

struct Row {
  const char *name;
  const char *text;
  const char *message;
};

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"Empty", "", "expected key=value, got ''"},
    {"NoValue", "name", "expected key=value, got 'name'"},
    {"NoKey", "=null", "expected key=value, got '=null'"},
    {"Missing", "name=null;abi=0-0;priority=1", "expected name, abi, priority and isa"},
    {"Twice", "name=null;name=null;abi=0-0;priority=1;isa=x86-64", "expected each key once"},
    {"UpperName", "name=Null;abi=0-0;priority=1;isa=x86-64", "expected a name"},
    {"PathName", "name=../x;abi=0-0;priority=1;isa=x86-64", "expected a name"},
    {"LongName", "name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;abi=0-0;priority=1;isa=x86-64",
     "expected a name"},
    {"OneAbi", "name=null;abi=0;priority=1;isa=x86-64", "expected abi=LOWEST-HIGHEST"},
    {"TurnedAbi", "name=null;abi=1-0;priority=1;isa=x86-64", "expected abi=LOWEST-HIGHEST"},
    {"SignedAbi", "name=null;abi=-1-0;priority=1;isa=x86-64", "expected abi=LOWEST-HIGHEST"},
    {"HugeAbi", "name=null;abi=0-4294967296;priority=1;isa=x86-64", "expected abi=LOWEST-HIGHEST"},
    {"NoNumber", "name=null;abi=0-0;priority=1x;isa=x86-64", "expected a number"},
    {"NoIsa", "name=null;abi=0-0;priority=1;isa=", "expected an ISA"},
    {"TwoTypes", "name=null;abi=0-0;priority=1;isa=x86-64;dlpack=2-3", "dlpack=DEVICE-PINNED-"},
    {"FourTypes", "name=null;abi=0-0;priority=1;isa=x86-64;dlpack=2-3-4-5",
     "expected dlpack=DEVICE-PINNED-MANAGED, got 'dlpack=2-3-4-5'"},
    {"SignedType", "name=null;abi=0-0;priority=1;isa=x86-64;dlpack=-2-3-4",
     "dlpack=DEVICE-PINNED-"},
    {"HugeType", "name=null;abi=0-0;priority=1;isa=x86-64;dlpack=2-65536-4",
     "dlpack=DEVICE-PINNED-"},
    {"TwiceTypes", "name=null;abi=0-0;priority=1;isa=x86-64;dlpack=1-2-3;dlpack=1-2-3",
     "expected each key once"},
    {"Space", "name=null; abi=0-0;priority=1;isa=x86-64", "not printable"},
    {"LastSemicolon", "name=null;abi=0-0;priority=1;isa=x86-64;", "expected key=value, got ''"},
};

class MalformedNote : public ::testing::TestWithParam<Row> {};

TEST_P(MalformedNote, IsRefused) {
  BackendNote note;
  guf_error error = fresh_error();
  EXPECT_EQ(parse(GetParam().text, &note, &error), GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr(GetParam().message));
  EXPECT_TRUE(note.name.empty());
}

INSTANTIATE_TEST_SUITE_P(Rows, MalformedNote, ::testing::ValuesIn(kRows),
                         [](const auto &row) { return std::string(row.param.name); });

TEST(BackendNote, BytesThatAreNoText) {
  BackendNote note;
  EXPECT_EQ(parse_backend_note({}, &note, nullptr), GUF_E_BAD_FILE);
  EXPECT_EQ(parse_backend_note({kGood, sizeof kGood - 1}, &note, nullptr), GUF_E_BAD_FILE)
      << "no NUL";
  EXPECT_EQ(parse(std::string(600, 'a'), &note), GUF_E_BAD_FILE);
  std::string inner(kGood, sizeof kGood);
  inner += ";x=1";
  EXPECT_EQ(parse(inner, &note), GUF_E_BAD_FILE) << "a NUL in the middle";
  for (size_t cut = 0; cut + 1 < sizeof kGood - 1; ++cut) {
    const guf_status status = parse(std::string(kGood, cut), &note);
    // A truncated note is valid only if the last value is truncated.
    EXPECT_TRUE(status == GUF_E_BAD_FILE || cut > std::string(kGood).rfind('=') + 1) << cut;
  }
}

TEST(BackendNote, MustFitThisHostAndMachine) {
  BackendNote note;
  const std::string later = std::to_string(GUF_BACKEND_ABI_MINOR + 1);
  ASSERT_EQ(parse("name=a;abi=" + later + "-9;priority=1;isa=x86-64", &note), GUF_OK);
  EXPECT_EQ(check_backend_note(note, nullptr), GUF_E_ABI);
  ASSERT_EQ(parse("name=a;abi=0-3;priority=1;isa=vax", &note), GUF_OK);
  EXPECT_EQ(check_backend_note(note, nullptr), GUF_E_ABI);
#if defined(__x86_64__)
  ASSERT_EQ(parse("name=a;abi=0-3;priority=1;isa=x86-64", &note), GUF_OK);
  EXPECT_EQ(check_backend_note(note, nullptr), GUF_OK);
#endif
}

}  // namespace
}  // namespace gufunc::plugin

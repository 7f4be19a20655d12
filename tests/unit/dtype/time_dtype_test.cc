// SPDX-License-Identifier: Apache-2.0
// Compares spellings, casts, common units and unit conversions of datetime64 and timedelta64 with
// NumPy's results (tests/data/make_datetimes.py).
#include "core/dtype/time_dtype.h"

#include <gtest/gtest.h>
#include <gufunc/kernel/time.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc::dtype {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> rows_of(const std::string &kind) {
  std::ifstream file(GUFUNC_TEST_DATA "/datetimes.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    Row row;
    std::istringstream stream(line);
    for (std::string part; std::getline(stream, part, '|');) row.push_back(part);
    if (row.front() == kind) rows.push_back(row);
  }
  EXPECT_GT(rows.size(), 20U) << kind;
  return rows;
}

guf_dtype read(const std::string &text) {
  guf_dtype found = GUF_DTYPE_UNSPECIFIED;
  EXPECT_EQ(parse(text.c_str(), &found, nullptr), GUF_OK) << text;
  return found;
}

std::vector<int64_t> numbers(const std::string &text) {
  std::istringstream stream(text);
  std::vector<int64_t> all;
  for (int64_t number = 0; stream >> number;) all.push_back(number);
  return all;
}

TEST(TimeDtype, ReadsAndWritesNumPysSpellings) {
  for (const Row &row : rows_of("parse")) {
    if (row.at(1).find('/') != std::string::npos) continue;
    guf_dtype found = GUF_DTYPE_UNSPECIFIED;
    const guf_status status = parse(row[1].c_str(), &found, nullptr);
    if (row.at(2) == "x") {
      EXPECT_EQ(status, GUF_E_DTYPE) << row[1];
      continue;
    }
    ASSERT_EQ(status, GUF_OK) << row[1];
    EXPECT_EQ(name(found), row[2]);
    EXPECT_EQ(read(row[2]), found);
    EXPECT_TRUE(valid(found));
    EXPECT_EQ(itemsize(found), 8U);
    EXPECT_EQ(alignment(found), 8U);
  }
}

TEST(TimeDtype, ListsTheUnits) {
  for (const char *text : {"M8[fortnight]", "m8[0s]", "m8[65536s]", "M8[", "<M8[x]"}) {
    guf_error error = fresh_error();
    guf_dtype found = GUF_DTYPE_UNSPECIFIED;
    EXPECT_EQ(parse(text, &found, &error), GUF_E_DTYPE);
    EXPECT_NE(std::string(error.message).find("Y, M, W, D, h, m, s, ms"), std::string::npos);
    EXPECT_NE(std::string(error.message).find(text), std::string::npos);
  }
  guf_error error = fresh_error();
  guf_dtype found = GUF_DTYPE_UNSPECIFIED;
  EXPECT_EQ(parse(">M8[ns]", &found, &error), GUF_E_DTYPE);
  EXPECT_NE(std::string(error.message).find("big-endian"), std::string::npos);
}

TEST(TimeDtype, CastsAsNumPy) {
  for (const Row &row : rows_of("cast")) {
    for (int level = GUF_CASTING_NO; level <= GUF_CASTING_UNSAFE; ++level) {
      EXPECT_EQ(can_cast(read(row.at(1)), read(row.at(2)), level),
                row.at(3)[static_cast<size_t>(level - GUF_CASTING_NO)] == '1')
          << row[1] << " to " << row[2] << ", " << casting_name(level);
    }
  }
}

TEST(TimeDtype, FindsNumPysCommonUnit) {
  for (const Row &row : rows_of("promote")) {
    guf_dtype found = GUF_DTYPE_UNSPECIFIED;
    guf_error error = fresh_error();
    const guf_status status = common_type(read(row.at(1)), read(row.at(2)), &found, &error);
    if (row.at(3).front() != 'x') {
      ASSERT_EQ(status, GUF_OK) << row[1] << ' ' << row[2] << ": " << error.message;
      EXPECT_EQ(name(found), row[3]) << row[1] << ' ' << row[2];
      continue;
    }
    const bool overflow = row[3].find("overflow") != std::string::npos;
    EXPECT_EQ(status, overflow ? GUF_E_OVERFLOW : GUF_E_DTYPE) << row[1] << ' ' << row[2];
    if (row[3].size() > 1) {
      EXPECT_EQ(error.message, row[3].substr(1));
    }
  }
}

// The common unit of two compatible types is at least as fine as the finer type, and its multiple
// divides the multiple of the finer type.
TEST(TimeDtype, CommonMultiplesFit) {
  guf_dtype found = GUF_DTYPE_UNSPECIFIED;
  ASSERT_EQ(common_type(read("M8[60000m]"), read("M8[60000s]"), &found, nullptr), GUF_OK);
  EXPECT_EQ(name(found), std::string("datetime64[60000s]"));
  ASSERT_EQ(common_type(read("m8[65535h]"), read("M8[65535s]"), &found, nullptr), GUF_OK);
  EXPECT_EQ(name(found), std::string("datetime64[65535s]"));
}

TEST(TimeDtype, ConvertsValuesAsNumPy) {
  for (const Row &row : rows_of("convert")) {
    const guf_dtype from = read(row.at(1));
    const guf_dtype to = read(row.at(2));
    guf_error error = fresh_error();
    const guf_status status = check_cast(from, to, &error);
    if (row.at(4).front() == 'x') {
      EXPECT_EQ(status, row[4].find("overflow") != std::string::npos ? GUF_E_OVERFLOW : GUF_E_VALUE)
          << row[1] << " to " << row[2];
      EXPECT_EQ(error.message, row[4].substr(1));
      continue;
    }
    ASSERT_EQ(status, GUF_OK) << error.message;
    const guf::time::conversion way = guf::time::conversion_of(
        is_datetime(from), unit(from), multiple(from), unit(to), multiple(to));
    const std::vector<int64_t> before = numbers(row.at(3));
    const std::vector<int64_t> after = numbers(row.at(4));
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) {
      const int64_t found = before[i] == guf::nat ? guf::nat
                            : way.by_calendar     ? guf::time::convert_by_calendar(before[i], way)
                                                  : guf::time::convert_by_ratio(before[i], way);
      EXPECT_EQ(found, after[i]) << before[i] << ' ' << row[1] << " to " << row[2];
    }
  }
}

TEST(TimeDtype, EveryUnitAndMultipleIsAType) {
  for (uint32_t u = 0; u < 256; ++u) {
    for (const uint32_t m : {0U, 1U, 2U, 400U, 65535U}) {
      for (const guf_dtype time : {GUF_DATETIME64, GUF_TIMEDELTA64}) {
        const guf_dtype made = make_time(time, u, m);
        EXPECT_EQ(valid(made), m != 0 && u <= GUF_UNIT_ATTOSECOND && (u != 0 || m == 1));
        if (!valid(made)) continue;
        EXPECT_EQ(read(name(made)), made);
        EXPECT_EQ(letter(made), is_datetime(made) ? 'M' : 'm');
        EXPECT_EQ(from_letter(letter(made)), time_class(made));
      }
    }
  }
}

// A name is found by its index, without a search. Formatting all names of one unit therefore takes
// time proportional to the length of the names.
TEST(TimeDtype, NamesEveryMultiple) {
  for (uint32_t unit = GUF_UNIT_YEAR; unit <= GUF_UNIT_ATTOSECOND; ++unit) {
    for (uint32_t count = 1; count <= GUF_MAX_UNIT_MULTIPLE; ++count) {
      const guf_dtype time = make_time(GUF_TIMEDELTA64, unit, count);
      const std::string_view name = time_name(time);
      ASSERT_TRUE(name.starts_with("timedelta64["));
      ASSERT_EQ(name.data(), time_name(time));  // the address of a name is constant
      if (count % 4001 != 0) continue;
      guf_dtype found = GUF_DTYPE_UNSPECIFIED;
      ASSERT_EQ(parse(name.data(), &found, nullptr), GUF_OK) << name;
      ASSERT_EQ(found, time) << name;
    }
  }
}

}  // namespace
}  // namespace gufunc::dtype

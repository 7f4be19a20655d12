// SPDX-License-Identifier: Apache-2.0
// Compares the dtypes and errors of calls with datetime64 and timedelta64 with NumPy's, for the
// cases of tests/data/make_time_resolution.py. Also tests that the units of one call do not affect
// another call.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "core/dtype/time_dtype.h"
#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

int casting_of(const std::string &name) {
  for (int level = GUF_CASTING_NO; level <= GUF_CASTING_UNSAFE; ++level) {
    if (name == dtype::casting_name(level)) return level;
  }
  ADD_FAILURE() << name;
  return GUF_CASTING_SAME_KIND;
}

guf_dtype read(const std::string &name) {
  guf_dtype found = GUF_DTYPE_UNSPECIFIED;
  EXPECT_EQ(dtype::parse(name.c_str(), &found, nullptr), GUF_OK) << name;
  return found;
}

// Sets the dtypes of operands by name. Skips Python ints and floats, because TypedCall has already
// set their dtypes.
void put_operands(const std::vector<std::string> &names, TypedCall *call) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "int" || names[i] == "float") continue;
    call->operand(static_cast<int>(i)).layout.dtype = read(names[i]);
  }
}

std::string letters_of(const std::vector<std::string> &names) {
  std::string letters;
  for (const std::string &name : names) {
    letters += name == "int" ? '1' : name == "float" ? '.' : 'q';
  }
  return letters;
}

std::string types_of(const TypedCall &call, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + std::string(dtype::name(call.choice().loop->types[i]));
  }
  return text;
}

TEST(TimeTypes, AreNumPys) {
  std::ifstream file(GUFUNC_TEST_DATA "/time_resolution.txt");
  size_t nrows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    ++nrows;
    const std::vector<std::string> row = split(line, '|');
    const std::vector<std::string> names = split(row.at(2), ',');
    TypedCall call(row[0], letters_of(names), casting_of(row.at(1)));
    put_operands(names, &call);
    if (row.size() > 4) call.signature(row[4]);
    const guf_status status = call.choose();
    if (row.at(3)[0] != 'x') {
      ASSERT_EQ(status, GUF_OK) << line << ": " << call.error().message;
      EXPECT_EQ(types_of(call, split(row[3], ',').size()), row[3]) << line;
      // The second call reads its choice from the cache.
      TypedCall again(row[0], letters_of(names), casting_of(row[1]));
      put_operands(names, &again);
      if (row.size() > 4) again.signature(row[4]);
      ASSERT_EQ(again.choose(), GUF_OK);
      EXPECT_EQ(again.choice().loop, call.choice().loop);
      EXPECT_EQ(again.choice().index, call.choice().index);
      EXPECT_EQ(again.choice().cast_mask, call.choice().cast_mask);
      continue;
    }
    const bool overflow = row[3].find("overflow") != std::string::npos;
    EXPECT_EQ(status / 100, overflow ? 6 : 2) << line << ": " << call.error().message;
    EXPECT_EQ(std::string(call.error().message).substr(0, row[3].size() - 1), row[3].substr(1));
  }
  EXPECT_GT(nrows, 1500U);
}

TEST(TimeTypes, UnitsOfOneCallDoNotLeakIntoAnother) {
  const op::Loop *loops[2];
  for (const char *unit : {"m8[ms]", "m8[us]"}) {
    TypedCall call("add", "qq");
    put_operands({unit, "m8[s]"}, &call);
    ASSERT_EQ(call.choose(), GUF_OK);
    EXPECT_EQ(call.choice().loop->types[2], read(unit));
    EXPECT_EQ(call.choice().cast_mask, 2U);
    EXPECT_EQ(call.operand(2).layout.dtype, read(unit));
    loops[unit[3] == 'u' ? 1 : 0] = call.choice().loop;
  }
  EXPECT_NE(loops[0], loops[1]);
  EXPECT_EQ(loops[0]->general, loops[1]->general);
}

TEST(TimeTypes, MultiplesThatAreNotKeptResolveAlike) {
  for (int round = 0; round < 2; ++round) {
    TypedCall call("subtract", "qq");
    put_operands({"M8[25s]", "M8[10s]"}, &call);
    ASSERT_EQ(call.choose(), GUF_OK);
    EXPECT_EQ(types_of(call, 3), "datetime64[5s],datetime64[5s],timedelta64[5s]");
  }
}

TEST(TimeTypes, IntsCountSteps) {
  TypedCall call("add", "q1");
  put_operands({"M8[h]", "int"}, &call);
  call.weak_int(1, -3);
  ASSERT_EQ(call.choose(), GUF_OK);
  EXPECT_EQ(call.operand(1).layout.dtype, read("m8[h]"));
  EXPECT_EQ(call.value<int64_t>(1), -3);
  TypedCall huge("add", "q1");
  put_operands({"m8[h]", "int"}, &huge);
  huge.huge_int(1, uint64_t{1} << 63, 0);
  EXPECT_EQ(huge.choose(), GUF_E_OVERFLOW);
}

// Promotion treats a Python int as an int64, so its value must fit into int64. Promotion treats
// other Python scalars as weak, and the error message names their Python class.
TEST(TimeTypes, AreReportedWithoutACommonType) {
  TypedCall real("minimum", "q.");
  put_operands({"M8[s]", "float"}, &real);
  EXPECT_EQ(real.dtype('M').choose(), GUF_E_NO_LOOP);
  EXPECT_STREQ(real.error().message,
               "The DType <class 'numpy.dtypes.DateTime64DType'> could not be promoted by <class "
               "'numpy.dtypes._PyFloatDType'>. This means that no common DType exists for the "
               "given inputs.");
  TypedCall whole("minimum", "1q");
  put_operands({"int", "M8[s]"}, &whole);
  EXPECT_EQ(whole.dtype('M').choose(), GUF_E_NO_LOOP);
  EXPECT_STREQ(whole.error().message,
               "The DType <class 'numpy.dtypes.Int64DType'> could not be promoted by <class "
               "'numpy.dtypes.DateTime64DType'>. This means that no common DType exists for the "
               "given inputs.");
  TypedCall huge("minimum", "1q");
  put_operands({"int", "M8[s]"}, &huge);
  huge.huge_int(0, uint64_t{1} << 63, 0);
  EXPECT_EQ(huge.dtype('M').choose(), GUF_E_OVERFLOW);
  EXPECT_STREQ(huge.error().message, "Python int too large to convert to C long");
}

TEST(TimeTypes, SignatureAndDtypeNameClassesOnly) {
  TypedCall call("add", "qq");
  put_operands({"m8[h]", "m8[s]"}, &call);
  call.signature("mmm");
  ASSERT_EQ(call.choose(), GUF_OK);
  EXPECT_EQ(types_of(call, 3), "timedelta64[s],timedelta64[s],timedelta64[s]");
  TypedCall unit("add", "qq");
  put_operands({"m8[h]", "m8[s]"}, &unit);
  guf_call_args args = *unit.view().args;
  args.dtype = read("m8[s]");
  unit.view().args = &args;
  EXPECT_EQ(unit.choose(), GUF_E_DTYPE);
  TypedCall none("less", "qq");
  put_operands({"m8[h]", "m8[s]"}, &none);
  none.dtype('m');
  EXPECT_EQ(none.choose(), GUF_E_NO_LOOP);
}

TEST(TimeTypes, OutputsAreJudged) {
  const struct {
    const char *output;
    guf_status status;
  } rows[] = {{"m8[ms]", GUF_OK},        {"m8[h]", GUF_OK},        {"m8[Y]", GUF_E_CASTING},
              {"int64", GUF_E_CASTING},  {"M8[s]", GUF_E_CASTING}, {"m8", GUF_E_CASTING},
              {"float64", GUF_E_CASTING}};
  for (const auto &row : rows) {
    TypedCall call("add", "qqq");
    put_operands({"m8[s]", "m8[s]", row.output}, &call);
    EXPECT_EQ(call.choose(), row.status) << row.output << ": " << call.error().message;
  }
  TypedCall generic("add", "qqq", GUF_CASTING_UNSAFE);
  put_operands({"m8[s]", "m8[s]", "m8"}, &generic);
  EXPECT_EQ(generic.choose(), GUF_OK) << generic.error().message;
  EXPECT_EQ(generic.choice().cast_mask, 0U) << "the values are not converted";
  TypedCall far("add", "qqq", GUF_CASTING_UNSAFE);
  put_operands({"m8[W]", "m8[W]", "m8[as]"}, &far);
  EXPECT_EQ(far.choose(), GUF_E_OVERFLOW);
}

}  // namespace
}  // namespace gufunc::resolve

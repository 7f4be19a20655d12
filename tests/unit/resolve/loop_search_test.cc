// SPDX-License-Identifier: Apache-2.0
// Compares every loop choice and error with NumPy's (tests/data/make_resolution.py). Repeats the
// cases with bfloat16 in place of float16. Compares type resolution with NumPy 2.4 for a signature=
// in which some dtypes are unspecified: Python scalars, comparisons with ints, and the logical
// functions. Tests that errors have the exact messages of NumPy 2.4.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

template <class Call>
void expect_refusal(Call &&call, guf_status status, const char *message, int argument = -1) {
  EXPECT_EQ(call.choose(), status) << message;
  EXPECT_STREQ(call.error().message, message);
  EXPECT_EQ(call.error().argument, argument) << message;
  EXPECT_EQ(call.error().status, status);
}

TEST(Refusals, OfCasts) {
  expect_refusal(TypedCall{"add", "ddq"}, GUF_E_CASTING,
                 "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with "
                 "casting rule 'same_kind'",
                 2);
  expect_refusal(TypedCall{"add", "id", GUF_CASTING_NO}, GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 0 from dtype('int32') to dtype('float64') with "
                 "casting rule 'no'",
                 0);
  expect_refusal(TypedCall{"add", "iqi", GUF_CASTING_SAFE}, GUF_E_CASTING,
                 "Cannot cast ufunc 'add' output from dtype('int64') to dtype('int32') with "
                 "casting rule 'safe'",
                 2);
  expect_refusal(TypedCall{"sqrt", "i", GUF_CASTING_EQUIV}, GUF_E_CASTING,
                 "Cannot cast ufunc 'sqrt' input from dtype('int32') to dtype('float64') with "
                 "casting rule 'equiv'",
                 0);
  // Dtypes and byte orders of operands are checked in order, inputs first.
  expect_refusal(TypedCall("add", "ef", GUF_CASTING_NO).swapped(1), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 0 from dtype('float16') to dtype('float32') with "
                 "casting rule 'no'",
                 0);
  expect_refusal(TypedCall("add", "fe", GUF_CASTING_NO).swapped(0), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 0 from dtype('>f4') to dtype('float32') with "
                 "casting rule 'no'",
                 0);
  expect_refusal(TypedCall("add", "ffd", GUF_CASTING_NO).swapped(2), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' output from dtype('float32') to dtype('>f8') with "
                 "casting rule 'no'",
                 2);
  expect_refusal(TypedCall("add", "B.").dtype('B'), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 1 from dtype('float64') to dtype('uint8') with "
                 "casting rule 'same_kind'",
                 1);
}

TEST(Refusals, OfScalars) {
  // If all operands are Python scalars, they have the dtypes int64, float64 and complex128.
  expect_refusal(TypedCall{"sqrt", "1", GUF_CASTING_NO}, GUF_E_CASTING,
                 "Cannot cast ufunc 'sqrt' input from dtype('int64') to dtype('float64') with "
                 "casting rule 'no'",
                 0);
  // A Python scalar that is combined with arrays adopts their dtype, except under 'equiv', as in
  // NumPy.
  EXPECT_EQ(TypedCall("add", "f1", GUF_CASTING_NO).choose(), GUF_OK);
  EXPECT_EQ(TypedCall("less", "b1", GUF_CASTING_EQUIV).choose(), GUF_OK);
  // If a complex scalar does not fit a real dtype, it first adopts the precision of this dtype.
  expect_refusal(TypedCall("add", "ej").dtype('e'), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 1 from dtype('complex64') to dtype('float16') with "
                 "casting rule 'same_kind'",
                 1);
  expect_refusal(TypedCall("add", "fj", GUF_CASTING_EQUIV).dtype('f'), GUF_E_CASTING,
                 "cannot cast Python complex to complex64 under the casting rule 'equiv'", 1);
  expect_refusal(TypedCall("add", "dj", GUF_CASTING_EQUIV).dtype('d'), GUF_E_CASTING,
                 "Cannot cast ufunc 'add' input 1 from dtype('complex128') to dtype('float64') "
                 "with casting rule 'equiv'",
                 1);
  expect_refusal(TypedCall{"add", "f1", GUF_CASTING_EQUIV}, GUF_E_CASTING,
                 "cannot cast Python int to float32 under the casting rule 'equiv'", 1);
  expect_refusal(TypedCall{"add", "f.", GUF_CASTING_EQUIV}, GUF_E_CASTING,
                 "cannot cast Python float to float32 under the casting rule 'equiv'", 1);
}

TEST(Refusals, OfTypes) {
  expect_refusal(TypedCall{"bitwise_and", "ff"}, GUF_E_NO_LOOP,
                 "ufunc 'bitwise_and' not supported for the input types, and the inputs could not "
                 "be safely coerced to any supported types according to the casting rule "
                 "''safe''; got float32 and float32; loops: ?\?->? bb->b BB->B hh->h HH->H ii->i "
                 "II->I qq->q QQ->Q");
  expect_refusal(
      TypedCall{"isnat", "f"}, GUF_E_NO_LOOP,
      "ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64. Found float32");
  expect_refusal(TypedCall{"subtract", "??"}, GUF_E_NO_LOOP,
                 "numpy boolean subtract, the `-` operator, is not supported, use the "
                 "bitwise_xor, the `^` operator, or the logical_xor function instead.");
  expect_refusal(TypedCall{"negative", "?"}, GUF_E_NO_LOOP,
                 "The numpy boolean negative, the `-` operator, is not supported, use the `~` "
                 "operator or the logical_not function instead.");
  expect_refusal(TypedCall{"sign", "?"}, GUF_E_NO_LOOP,
                 "ufunc 'sign' did not contain a loop with signature matching types "
                 "<class 'numpy.dtypes.BoolDType'> -> None");
  expect_refusal(TypedCall("sign", "B").dtype('?'), GUF_E_NO_LOOP,
                 "ufunc 'sign' did not contain a loop with signature matching types "
                 "<class 'numpy.dtypes.UInt8DType'> -> <class 'numpy.dtypes.BoolDType'>");
  expect_refusal(TypedCall("absolute", "f").dtype('F'), GUF_E_NO_LOOP,
                 "ufunc 'absolute' did not contain a loop with signature matching types "
                 "<class 'numpy.dtypes.Float32DType'> -> <class 'numpy.dtypes.Complex64DType'>");
  // The error is the same if signature= specifies the dtypes of the inputs.
  expect_refusal(TypedCall("sign", "B").signature("??"), GUF_E_NO_LOOP,
                 "ufunc 'sign' did not contain a loop with signature matching types "
                 "<class 'numpy.dtypes.BoolDType'> -> <class 'numpy.dtypes.BoolDType'>");
  expect_refusal(TypedCall("absolute", "f").signature("FF"), GUF_E_NO_LOOP,
                 "ufunc 'absolute' did not contain a loop with signature matching types "
                 "<class 'numpy.dtypes.Complex64DType'> -> <class 'numpy.dtypes.Complex64DType'>");
  expect_refusal(TypedCall("subtract", "ib").signature("_??"), GUF_E_NO_LOOP,
                 "numpy boolean subtract, the `-` operator, is not supported, use the "
                 "bitwise_xor, the `^` operator, or the logical_xor function instead.");
  expect_refusal(
      TypedCall("subtract", "ib").signature("?__"), GUF_E_NO_LOOP,
      "No loop matching the specified signature and casting was found for ufunc subtract; loops: "
      "bb->b BB->B hh->h HH->H ii->i II->I qq->q QQ->Q ee->e EE->E ff->f dd->d FF->F DD->D Mm->M "
      "mm->m ...");
  expect_refusal(TypedCall("less", "dd").dtype('f'), GUF_E_NO_LOOP,
                 "No loop matching the specified signature and casting was found for ufunc less; "
                 "loops: ?\?->? bb->? BB->? hh->? HH->? ii->? II->? qq->? QQ->? qQ->? Qq->? ee->? "
                 "EE->? ff->? dd->? FF->? ...");
  expect_refusal(TypedCall("add", "bb").signature("fd_"), GUF_E_NO_LOOP,
                 "No loop matching the specified signature and casting was found for ufunc add; "
                 "loops: ?\?->? bb->b BB->B hh->h HH->H ii->i II->I qq->q QQ->Q ee->e EE->E ff->f "
                 "dd->d FF->F DD->D Mm->M ...");
}

TEST(Refusals, OfArguments) {
  expect_refusal(TypedCall("add", "bb").signature("ff"), GUF_E_ARG,
                 "a type-tuple must be specified of length 3 for ufunc 'add'");
  expect_refusal(TypedCall("add", "bb").signature("fff").dtype('f'), GUF_E_ARG,
                 "cannot specify both 'signature' and 'dtype'");
}

TEST(Refusals, OfIntegersOutOfBounds) {
  expect_refusal(TypedCall("add", "B1").weak_int(1, 300), GUF_E_OVERFLOW,
                 "Python integer 300 out of bounds for uint8", 1);
  expect_refusal(TypedCall("add", "1Q").weak_int(0, -1), GUF_E_OVERFLOW,
                 "Python integer -1 out of bounds for uint64", 0);
  expect_refusal(TypedCall("add", "i1").weak_int(1, int64_t{1} << 40), GUF_E_OVERFLOW,
                 "Python integer 1099511627776 out of bounds for int32", 1);
  expect_refusal(TypedCall("add", "b1").huge_int(1, UINT64_MAX, 2), GUF_E_OVERFLOW,
                 "Python int too large to convert to C long", 1);
  expect_refusal(TypedCall("add", "q1").huge_int(1, 1ULL << 63, 0), GUF_E_OVERFLOW,
                 "Python int too large to convert to C long", 1);
  expect_refusal(TypedCall("less", "?1").huge_int(1, UINT64_MAX, 2), GUF_E_OVERFLOW,
                 "Python int too large to convert to C long", 1);
  // NumPy converts a Python int to uint32 through unsigned long, and to other integer dtypes
  // through long. Only the conversion through unsigned long has a message with the value of the
  // int.
  expect_refusal(TypedCall("add", "I1").huge_int(1, UINT64_MAX, 0), GUF_E_OVERFLOW,
                 "Python integer 18446744073709551615 out of bounds for uint32", 1);
  for (const uint64_t sign : {1, 2, 3}) {  // the int is negative, beyond uint64, or both
    expect_refusal(TypedCall("add", "I1").huge_int(1, UINT64_MAX, sign), GUF_E_OVERFLOW,
                   "Python int too large to convert to C long", 1);
  }
  // A comparison whose result does not depend on the array needs no cast, but under casting='no'
  // the array must still have native byte order.
  expect_refusal(TypedCall("less", "I1", GUF_CASTING_NO).swapped(0).huge_int(1, 1ULL << 63, 0),
                 GUF_E_CASTING,
                 "Cannot cast ufunc 'less' input 0 from dtype('>u4') to dtype('uint32') with "
                 "casting rule 'no'",
                 0);
  // The overflow is reported before the cast is checked, as in NumPy.
  expect_refusal(TypedCall("add", "d1").dtype('b').weak_int(1, 300), GUF_E_OVERFLOW,
                 "Python integer 300 out of bounds for int8", 1);
  expect_refusal(TypedCall("less", "B1").signature("BB_").weak_int(1, 300), GUF_E_OVERFLOW,
                 "Python integer 300 out of bounds for uint8", 1);
}

TEST(Refusals, LeaveTheCallAlone) {
  TypedCall call("add", "dd_");
  call.dtype('i');
  EXPECT_EQ(call.choose(), GUF_E_CASTING);
  TypedCall missing("add", "B1_");
  missing.weak_int(1, 300);
  EXPECT_EQ(missing.choose(), GUF_E_OVERFLOW);
  EXPECT_EQ(missing.operand(2).layout.dtype, 0U);
}

constexpr std::string_view kSymbols = "?bBhHiIqQefdFD1.j";
constexpr size_t kTypes = 14;

const std::map<std::string, int> kCastings = {{"no", GUF_CASTING_NO},
                                              {"safe", GUF_CASTING_SAFE},
                                              {"same_kind", GUF_CASTING_SAME_KIND},
                                              {"unsafe", GUF_CASTING_UNSAFE}};

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    while (!part.empty() && part.front() == ' ') part.erase(0, 1);
    while (!part.empty() && part.back() == ' ') part.pop_back();
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> expand(const std::string &text) {
  std::vector<std::string> cells;
  for (const std::string &part : split(text, ' ')) {
    const size_t star = part.find('*');
    const size_t count = star == std::string::npos ? 1 : std::stoul(part.substr(star + 1));
    cells.insert(cells.end(), count, part.substr(0, star));
  }
  return cells;
}

// Formats the result of `choose` in the notation of resolution.txt.
std::string outcome(const std::string &ufunc, const std::string &inputs, char dtype, int casting) {
  TypedCall call(ufunc, inputs, casting);
  if (dtype != '-') call.dtype(dtype);
  const guf_status status = call.choose();
  if (status == GUF_OK) return call.loop();
  const std::string text = call.error().message;
  const auto contains = [&](const char *part) { return text.find(part) != std::string::npos; };
  if (status == GUF_E_CASTING) {
    if (contains(" output")) return "2";
    return std::to_string(call.error().argument);
  }
  EXPECT_EQ(status, GUF_E_NO_LOOP) << text;
  if (contains("boolean")) return "-";
  if (contains("did not contain a loop")) return "!";
  if (contains("not supported for the input types")) return "~";
  return contains("No loop matching the specified signature") ? "#" : text;
}

class Resolution : public testing::Test {
 protected:
  // Calls visit(ufunc, inputs, dtype, casting, expected) for every case of resolution.txt.
  template <class Visit>
  void for_each(Visit visit) {
    std::ifstream file(GUFUNC_TEST_DATA "/resolution.txt");
    ASSERT_TRUE(file.is_open());
    for (std::string line; std::getline(file, line);) {
      if (line[0] == '#') continue;
      const std::vector<std::string> fields = split(line, '|');
      ASSERT_EQ(fields.size(), 3U) << line;
      const std::vector<std::string> cells = expand(fields[2]);
      for (const std::string &user : split(fields[0], ';')) {
        const std::vector<std::string> parts = split(user, ' ');
        for (const std::string &ufunc : split(parts.at(0), ',')) {
          for (const std::string &casting : split(parts.at(1), ',')) {
            visit_cells(ufunc, fields[1][0], kCastings.at(casting), cells, visit);
          }
        }
      }
    }
  }

 private:
  template <class Visit>
  static void visit_cells(const std::string &ufunc, char dtype, int casting,
                          const std::vector<std::string> &cells, Visit visit) {
    // Generalized functions have no rows of Python scalars.
    const size_t side = cells.size() == kTypes * kTypes ? kTypes : kSymbols.size();
    const bool unary = cells.size() == side;
    ASSERT_TRUE(unary || cells.size() == side * side) << ufunc << " " << cells.size();
    for (size_t k = 0; k < cells.size(); ++k) {
      std::string inputs;
      if (!unary) inputs += kSymbols[k / side];
      inputs += kSymbols[k % side];
      visit(ufunc, inputs, dtype, casting, cells[k]);
    }
  }
};

TEST_F(Resolution, EqualsNumPy) {
  size_t ncases = 0;
  size_t ndifferent = 0;
  for_each([&](const std::string &ufunc, const std::string &inputs, char dtype, int casting,
               const std::string &expected) {
    // NumPy compares two Python ints as objects, but this library compares them as int64.
    const std::string here = expected == "O" ? "qq?" : expected;
    const std::string found = outcome(ufunc, inputs, dtype, casting);
    ++ncases;
    if (found != here && ++ndifferent < 20) {
      ADD_FAILURE() << ufunc << "(" << inputs << ") dtype " << dtype << " casting " << casting
                    << ": found " << found << ", expected " << expected;
    }
  });
  EXPECT_EQ(ndifferent, 0U);
  EXPECT_GT(ncases, 400000U);
}

TEST_F(Resolution, BFloat16ResolvesLikeFloat16) {
  const auto swap = [](std::string text) {
    for (char &letter : text) letter = letter == 'e' ? 'E' : letter;
    return text;
  };
  size_t ncases = 0;
  size_t ndifferent = 0;
  for_each([&](const std::string &ufunc, const std::string &inputs, char dtype, int casting,
               const std::string &expected) {
    if (inputs.find('e') == std::string::npos || expected == "O") return;
    ++ncases;
    const std::string found = outcome(ufunc, swap(inputs), dtype == 'e' ? 'E' : dtype, casting);
    if (found != swap(expected) && ++ndifferent < 20) {
      ADD_FAILURE() << ufunc << "(" << swap(inputs) << ") dtype " << dtype << " casting " << casting
                    << ": found " << found << ", expected " << swap(expected);
    }
  });
  EXPECT_EQ(ndifferent, 0U);
  EXPECT_GT(ncases, 40000U);
}

TEST(NamedTypes, TakePythonFloatsAsIntDoes) {
  TypedCall whole("add", "b.");
  ASSERT_EQ(whole.signature("_q_").weak_float(1, -2.5).choose(), GUF_OK);
  EXPECT_EQ(whole.loop(), "qqq");
  EXPECT_EQ(whole.value<int64_t>(1), -2);
  EXPECT_EQ(whole.operand(1).kind, GUF_OPERAND_WEAK_FLOAT);  // not changed by choose()

  TypedCall flag("add", "?.");
  ASSERT_EQ(flag.signature("_?_").weak_float(1, 0.5).choose(), GUF_OK);
  EXPECT_EQ(flag.value<uint8_t>(1), 1);
  TypedCall large("add", "?1");
  ASSERT_EQ(large.signature("_?_").huge_int(1, 0, 2).choose(), GUF_OK);
  EXPECT_EQ(large.value<uint8_t>(1), 1);
}

struct Refused {
  double value;
  char type;
  guf_status status;
  const char *message;
};

TEST(NamedTypes, RefuseFloatsThatIntRefuses) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Refused rows[] = {
      {infinity, 'q', GUF_E_OVERFLOW, "cannot convert float infinity to integer"},
      {std::nan(""), 'q', GUF_E_VALUE, "cannot convert float NaN to integer"},
      {1e30, 'h', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {1e30, 'Q', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {-1e30, 'q', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {1e19, 'I', GUF_E_OVERFLOW, "Python integer 10000000000000000000 out of bounds for uint32"},
      {-1.0, 'Q', GUF_E_OVERFLOW, "Python integer -1 out of bounds for uint64"},
      {300.5, 'b', GUF_E_OVERFLOW, "Python integer 300 out of bounds for int8"},
  };
  for (const Refused &row : rows) {
    const char signature[] = {'_', row.type, '_', 0};
    TypedCall call("add", "?.", GUF_CASTING_UNSAFE);
    EXPECT_EQ(call.signature(signature).weak_float(1, row.value).choose(), row.status);
    EXPECT_STREQ(call.error().message, row.message);
  }
  TypedCall edge("add", "?.");
  ASSERT_EQ(edge.signature("_Q_").weak_float(1, 0x1.8p63).choose(), GUF_OK);
  EXPECT_EQ(edge.value<uint64_t>(1), uint64_t{3} << 62);
}

TEST(NamedTypes, RefuseComplexForRealTypes) {
  TypedCall whole("add", "?j", GUF_CASTING_UNSAFE);
  EXPECT_EQ(whole.signature("_h_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(whole.error().message,
               "int() argument must be a string, a bytes-like object or a real number, not "
               "'complex'");
  TypedCall real("add", "hj", GUF_CASTING_UNSAFE);
  EXPECT_EQ(real.signature("_d_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(real.error().message,
               "float() argument must be a string or a real number, not 'complex'");
  EXPECT_EQ(TypedCall("add", "?j").signature("_?_").choose(), GUF_OK);
}

TEST(NamedTypes, MeetEquivWithoutAnotherType) {
  TypedCall whole("less", "q.", GUF_CASTING_EQUIV);
  EXPECT_EQ(whole.signature("_q_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(whole.error().message,
               "cannot cast Python float to int64 under the casting rule 'equiv'");
  // Logical functions convert any input to bool. The casting rule is checked only for a Python
  // scalar whose dtype is specified.
  TypedCall flag("logical_or", "d1", GUF_CASTING_EQUIV);
  EXPECT_EQ(flag.signature("_??").choose(), GUF_E_CASTING);
  EXPECT_STREQ(flag.error().message,
               "cannot cast Python int to bool under the casting rule 'equiv'");
  EXPECT_EQ(TypedCall("logical_or", "d1", GUF_CASTING_EQUIV).signature("__?").choose(), GUF_OK);
  // bool can never represent this value. The overflow is reported before the cast is checked.
  TypedCall large("add", "b1", GUF_CASTING_EQUIV);
  EXPECT_EQ(large.signature("__?").huge_int(1, 0, 2).choose(), GUF_E_OVERFLOW);
  EXPECT_EQ(TypedCall("add", "b1", GUF_CASTING_EQUIV).signature("__?").choose(), GUF_E_CASTING);
}

TEST(NamedTypes, CompareWithIntsByTheTypeNamed) {
  // The bool array is cast to int8, and the int is weak relative to int8.
  TypedCall beside("less", "?1", GUF_CASTING_SAFE);
  ASSERT_EQ(beside.signature("b__").choose(), GUF_OK);
  EXPECT_EQ(beside.loop(), "bb?");
  // The cast of the array is checked, although the comparison does not depend on the values of the
  // array.
  TypedCall cast("less", "b1");
  EXPECT_EQ(cast.signature("B__").weak_int(1, -1).choose(), GUF_E_CASTING);
  // Every uint8 is greater than -1, so the values of the array before the cast do not matter.
  TypedCall below("less", "b1", GUF_CASTING_UNSAFE);
  ASSERT_EQ(below.signature("B__").weak_int(1, -1).choose(), GUF_OK);
  EXPECT_EQ(below.loop(), "dd?");
  EXPECT_EQ(below.value<double>(1), -std::numeric_limits<double>::infinity());
  TypedCall above("less", "b1", GUF_CASTING_UNSAFE);
  ASSERT_EQ(above.signature("B__").weak_int(1, 256).choose(), GUF_OK);
  EXPECT_EQ(above.value<double>(1), std::numeric_limits<double>::infinity());
}

TEST(NamedTypes, OfLogicalFunctions) {
  const auto loop = [](const char *operands, const char *signature, int casting) {
    TypedCall call("logical_and", operands, casting);
    return call.signature(signature).choose() == GUF_OK ? call.loop() : call.error().message;
  };
  // Inputs are converted to bool under every casting rule.
  EXPECT_EQ(loop("BB", "??_", GUF_CASTING_SAFE), "???");
  EXPECT_EQ(loop("dd", "?__", GUF_CASTING_SAFE), "???");
  EXPECT_EQ(loop("ID", "_?_", GUF_CASTING_NO), "???");
  EXPECT_EQ(loop("HH", "Q__", GUF_CASTING_SAFE), "QQ?");  // without bool, an ordinary choice
  EXPECT_EQ(loop("qi", "_D_", GUF_CASTING_SAFE), "DD?");
}

// signature= may leave the dtype of the input unspecified only if it specifies the dtypes of all
// outputs. Here it specifies only one of two outputs.
TEST(NamedTypes, OfTwoOutputsMustBothBeNamed) {
  const auto ufunc = base::Ref<op::Ufunc>::adopt(new op::Ufunc);
  ufunc->name = ufunc->full_name = "both_parts";
  ASSERT_EQ(op::make_elementwise(1, 2, nullptr, 0, &ufunc->signature, nullptr), GUF_OK);
  ASSERT_EQ(op::Context::process().add(ufunc, nullptr), GUF_OK);
  for (const char letter : {'f', 'd'}) {
    auto loop = std::make_unique<op::Loop>();
    loop->types[0] = loop->types[1] = loop->types[2] = dtype::from_letter(letter);
    ASSERT_EQ(ufunc->add_loop(std::move(loop), nullptr), GUF_OK);
  }
  TypedCall both("both_parts", "d");
  ASSERT_EQ(both.signature("_ff").choose(), GUF_OK);
  EXPECT_EQ(both.loop(), "fff");
  for (const char *one : {"_f_", "__f"}) {
    TypedCall call("both_parts", "d");
    EXPECT_EQ(call.signature(one).choose(), GUF_E_NO_LOOP) << one;
  }
}

}  // namespace

}  // namespace gufunc::resolve

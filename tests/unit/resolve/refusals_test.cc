// SPDX-License-Identifier: Apache-2.0
// Tests that type resolution reports errors with the exact messages of NumPy 2.4.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gufunc::resolve

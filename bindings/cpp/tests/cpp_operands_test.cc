// SPDX-License-Identifier: Apache-2.0
// Tests the types from which gufunc.hpp makes an operand, and temporaries, which are rejected.
// Built as C++20, which has std::span.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <string>

namespace {

using gufunc::Operand;
using gufunc::Ufunc;
using Doubles = gufunc::TypedArray<double>;
using Values = std::vector<double>;

Values values(const gufunc::Array &array) {
  return Doubles::from(array).to_vector();
}

template <class T>
constexpr bool kTaken = std::is_convertible_v<T, Operand>;

// An operand must not refer to a temporary, because the temporary would be destroyed before the
// call reads the operand.
static_assert(kTaken<Values &> && kTaken<const Values &>);
static_assert(!kTaken<Values> && !kTaken<const Values>);
static_assert(kTaken<std::array<bool, 4> &> && !kTaken<std::array<bool, 4>>);
static_assert(!kTaken<std::array<const bool, 4>>);
static_assert(kTaken<std::span<double>> && kTaken<const std::span<double>>);
static_assert(kTaken<std::span<const double, 3>> && kTaken<std::span<double> &>);
static_assert(kTaken<double (&)[2]> && kTaken<const double (&)[2]> && !kTaken<double[2]>);
static_assert(kTaken<std::initializer_list<int> &> && !kTaken<std::initializer_list<int>>);
static_assert(!kTaken<std::string> && !kTaken<const char (&)[4]> && !kTaken<char (&)[4]>);
static_assert(!kTaken<std::vector<bool> &> && !kTaken<double *> && !kTaken<void *>);
static_assert(kTaken<Doubles> && kTaken<const Doubles &> && kTaken<gufunc::Array>);
static_assert(kTaken<std::complex<float>> && kTaken<std::complex<double>>);

TEST(CppOperands, SlicesOfSpans) {
  const Ufunc add("add");
  Values v{1, 2, 3, 4}, out(2);
  const std::span<double> all(v);
  EXPECT_EQ(values(add({all.first(2), all.last(2)})), (Values{4, 6}));
  add({std::span(v).subspan(2), 1.0}, {out});
  EXPECT_EQ(out, (Values{4, 5}));
  add({all.first<2>(), 10}, {std::span(v).last(2)});
  EXPECT_EQ(v, (Values{1, 2, 11, 12}));
  EXPECT_EQ(values(add.reduce(all.subspan(1, 2))), (Values{13}));
  const std::span<const double> locked(v);
  try {
    add({v, v}, {locked.first(4)});
    FAIL() << "elements that are const were written";
  } catch (const gufunc::Error &error) {
    EXPECT_EQ(error.status(), GUF_E_READ_ONLY);
  }
  const gufunc::Array wrapped = gufunc::Array::wrap(all.last(2));
  EXPECT_EQ(wrapped.address(), reinterpret_cast<uint64_t>(&v[2]));
  wrapped.copy_to_host(std::span(v).first(2));
  EXPECT_EQ(v, (Values{11, 12, 11, 12}));
}

TEST(CppOperands, CopiesGoIntoElementsOfTheirType) {
  std::vector<float> few = {1, 2};
  const gufunc::Array array = gufunc::Array::wrap(few);
  Values wide(2, -1);
  std::vector<int32_t> whole(2, -1);
  EXPECT_THROW(array.copy_to_host(wide), gufunc::Error);
  try {
    array.copy_to_host(whole);
    FAIL() << "bits of float32 were taken for numbers";
  } catch (const gufunc::Error &error) {
    EXPECT_EQ(error.status(), GUF_E_DTYPE);
    EXPECT_STREQ(error.what(), "dtype of the array: expected int32, got float32");
  }
  EXPECT_EQ(wide, Values(2, -1));
  std::vector<uint8_t> bytes(8);
  array.copy_to_host(bytes);
  EXPECT_EQ(bytes[3], 0x3f);
  int64_t days[2] = {3, 4}, read[2] = {};
  const gufunc::DType day = gufunc::DType::parse("datetime64[D]");
  gufunc::Array::wrap(gufunc::Operand(day, days, {2})).copy_to_host(read);
  EXPECT_EQ(read[1], 4);
}

TEST(CppOperands, ArraysOfC) {
  const Ufunc add("add");
  double x[2] = {1, 2}, out[2] = {};
  const int64_t locked[] = {10, 20};
  add({x, locked}, {out});
  EXPECT_EQ(out[0], 11);
  EXPECT_EQ(out[1], 22);
  EXPECT_EQ(values(add.reduce(x)), (Values{3}));
  const bool mask[] = {false, true};
  add({x, 1.0}, {out}, gufunc::CallKeywords().where(mask));
  EXPECT_EQ(out[0], 11);
  EXPECT_EQ(out[1], 3);
  Doubles::from(add({x, x})).copy_to_host(out);
  EXPECT_EQ(out[1], 4);
  const std::initializer_list<double> list = {5, 6};
  EXPECT_EQ(values(add({list, x})), (Values{6, 8}));
}

// A complex number adopts the dtype of the other operands, as other literals do.
TEST(CppOperands, ComplexNumbers) {
  const Ufunc add("add");
  std::vector<float> single{1, 2};
  const gufunc::Array sum = add({single, std::complex<float>(1, 2)});
  EXPECT_EQ(sum.dtype(), gufunc::DType(GUF_C64));
  EXPECT_EQ(gufunc::TypedArray<std::complex<float>>::from(sum).to_vector()[1],
            std::complex<float>(3, 2));
  Values wide{1};
  EXPECT_EQ(add({wide, std::complex<float>(1, 2)}).dtype(), gufunc::DType(GUF_C128));
  const std::complex<double> unit(0, 1);
  EXPECT_EQ(add({single, unit}).dtype(), gufunc::DType(GUF_C64));
}

// A copy of an operand owns or shares the data that it points to.
TEST(CppOperands, CopiesOutliveTheirSources) {
  Values v{1, 2, 3, 4};
  const bool flags[] = {false, true};
  const std::string name(40, 'n');
  auto first = std::make_unique<Operand>(v.data(), gufunc::Ints{1, 1, 1, 1, 2},
                                         gufunc::Ints{8, 8, 8, 8, 16});
  auto words = std::make_unique<gufunc::CallKeywords>();
  words->where(flags).dim("n", 3).dim(name, 4);
  auto reduced = std::make_unique<gufunc::ReduceKeywords>();
  reduced->where(flags).initial(v).all_axes().parameters({v, 2});
  const Operand copy(*first);
  Operand assigned(7);
  assigned = *first;
  const gufunc::CallKeywords same(*words);
  const gufunc::ReduceKeywords again(*reduced);
  first.reset(), words.reset(), reduced.reset();
  EXPECT_EQ(values(Ufunc("add").reduce(copy, gufunc::ReduceKeywords().all_axes())), (Values{4}));
  EXPECT_EQ(assigned.c_operand().tensor, &assigned.tensor());
  EXPECT_EQ(assigned.tensor().strides[4], 16);
  assigned = 7;
  EXPECT_EQ(values(Ufunc("add")({assigned, 1.0})), (Values{8}));
  guf_call_args args = {};
  same.write(args);
  EXPECT_STREQ(args.dims[0].name, "n");
  EXPECT_EQ(args.dims[1].name, name);
  EXPECT_EQ(args.where->tensor->shape[0], 2);
  guf_reduce_args folded = {};
  again.write(folded);
  EXPECT_EQ(folded.where->tensor->shape[0], 2);
  EXPECT_EQ(folded.initial->tensor->shape[0], 4);
  ASSERT_EQ(folded.nparameters, 2);
  EXPECT_EQ(folded.parameters[0].tensor->shape[0], 4);
  EXPECT_EQ(folded.parameters[1].kind, GUF_OPERAND_WEAK_INT);
  const Values x{1, 2, 6};
  EXPECT_EQ(values(Ufunc("var").reduce(x, gufunc::ReduceKeywords().parameters({1}))), (Values{7}));
}

}  // namespace

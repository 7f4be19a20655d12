// SPDX-License-Identifier: Apache-2.0
// Tests cached loop choices: calls that differ in a property that affects the choice have different
// entries, and a cached choice equals the result of a search.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

// Runs each call twice. The first run may fill the cache, and the second run reads it.
template <class Call>
void expect_choice(Call &&call, const char *loop, uint32_t cast_mask) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_EQ(call.choose(), GUF_OK) << call.error().message;
    EXPECT_EQ(call.loop(), loop);
    EXPECT_EQ(call.choice().cast_mask, cast_mask);
    EXPECT_EQ(call.view().ufunc->loops().loops[call.choice().index], call.choice().loop);
  }
}

TEST(Choose, DistinguishesCastingRules) {
  expect_choice(TypedCall("add", "id_", GUF_CASTING_UNSAFE), "ddd", 1);
  EXPECT_EQ(TypedCall("add", "id_", GUF_CASTING_NO).choose(), GUF_E_CASTING);
  expect_choice(TypedCall("add", "id_", GUF_CASTING_SAFE), "ddd", 1);
}

TEST(Choose, DistinguishesOutputs) {
  expect_choice(TypedCall("multiply", "ff_"), "fff", 0);
  expect_choice(TypedCall("multiply", "ffd"), "fff", 4);
  EXPECT_EQ(TypedCall("multiply", "ffi").choose(), GUF_E_CASTING);
  TypedCall missing("multiply", "ff_");
  ASSERT_EQ(missing.choose(), GUF_OK);
  EXPECT_EQ(missing.operand(2).layout.dtype, guf_dtype{GUF_F32});
}

TEST(Choose, DistinguishesForcedTypes) {
  expect_choice(TypedCall("subtract", "bb_"), "bbb", 0);
  expect_choice(TypedCall("subtract", "bb_").dtype('d'), "ddd", 3);
  expect_choice(TypedCall("subtract", "bb_").dtype('f'), "fff", 3);
  expect_choice(TypedCall("subtract", "bb_").signature("d__"), "ddd", 3);
  expect_choice(TypedCall("subtract", "bb_"), "bbb", 0);
}

TEST(Choose, DistinguishesScalars) {
  expect_choice(TypedCall("power", "fq_"), "ddd", 3);
  expect_choice(TypedCall("power", "f1_"), "fff", 0);
  expect_choice(TypedCall("power", "f._"), "fff", 0);
  expect_choice(TypedCall("power", "fj_"), "FFF", 1);
  expect_choice(TypedCall("power", "1f_"), "fff", 0);
}

TEST(Choose, DistinguishesAllTypes) {
  const std::string letters = "?bBhHiIqQeEfdFD";
  for (const char a : letters) {
    for (const char b : letters) {
      const guf_dtype both = dtype::promote(dtype::from_letter(a), dtype::from_letter(b));
      const std::string loop(3, dtype::letter(both));
      const uint32_t mask = (a == loop[0] ? 0U : 1U) | (b == loop[0] ? 0U : 2U);
      expect_choice(TypedCall("add", std::string{a, b}), loop.c_str(), mask);
    }
  }
}

TEST(Choose, SeesLoopsThatWereAdded) {
  const auto ufunc = base::Ref<op::Ufunc>::adopt(new op::Ufunc);
  ufunc->name = ufunc->full_name = "late";
  ASSERT_EQ(op::make_elementwise(1, 1, nullptr, 0, &ufunc->signature, nullptr), GUF_OK);
  ASSERT_EQ(op::Context::process().add(ufunc, nullptr), GUF_OK);
  EXPECT_EQ(TypedCall("late", "f").choose(), GUF_E_NO_LOOP);
  for (const char letter : {'d', 'f'}) {
    auto loop = std::make_unique<op::Loop>();
    loop->types[0] = loop->types[1] = dtype::from_letter(letter);
    ASSERT_EQ(ufunc->add_loop(std::move(loop), nullptr), GUF_OK);
    expect_choice(TypedCall("late", "f"), letter == 'd' ? "dd" : "ff", letter == 'd' ? 1 : 0);
  }
}

TEST(Choose, IsSafeFromManyThreads) {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([id] {
      const std::string letters = "bBhHiIqQefdFD";
      for (size_t i = 0; i < 2000; ++i) {
        const char a = letters[(i + static_cast<size_t>(id)) % letters.size()];
        const char b = letters[(i / letters.size()) % letters.size()];
        TypedCall call("maximum", std::string{a, b});
        ASSERT_EQ(call.choose(), GUF_OK);
        const guf_dtype both = dtype::promote(dtype::from_letter(a), dtype::from_letter(b));
        ASSERT_EQ(call.loop(), std::string(3, dtype::letter(both)));
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace gufunc::resolve

// SPDX-License-Identifier: Apache-2.0
// Tests integer division with all pairs of 8-bit values, and with the pairs for which the machine
// instruction traps.
#include <gtest/gtest.h>
#include <gufunc/kernel/math.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

// Compares all division functions with quotients and remainders that are computed in a wider type.
template <class T>
void check(T x, T y) {
  __extension__ typedef __int128 wide;
  const wide a = x, b = y;
  const wide truncated = b == 0 ? 0 : a / b, rest = b == 0 ? 0 : a % b;
  const bool lower = rest != 0 && (rest < 0) != (b < 0);
  const auto at = [&] { return std::to_string(x) + " by " + std::to_string(y); };
  EXPECT_EQ(guf::trunc_divide(x, y), static_cast<T>(truncated)) << at();
  EXPECT_EQ(guf::trunc_modulo(x, y), static_cast<T>(rest)) << at();
  EXPECT_EQ(guf::floor_divide(x, y), static_cast<T>(truncated - (lower ? 1 : 0))) << at();
  EXPECT_EQ(guf::floor_modulo(x, y), static_cast<T>(lower ? rest + b : rest)) << at();
  EXPECT_EQ(guf::floor_divmod(x, y).quotient, guf::floor_divide(x, y)) << at();
  EXPECT_EQ(guf::floor_divmod(x, y).remainder, guf::floor_modulo(x, y)) << at();
}

TEST(IntegerDivision, AllPairsOfEightBits) {
  for (int x = 0; x < 256; ++x) {
    for (int y = 0; y < 256; ++y) {
      check(static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y));
      check(static_cast<std::int8_t>(x - 128), static_cast<std::int8_t>(y - 128));
    }
  }
}

template <class T>
class IntegerCorners : public testing::Test {};
typedef testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                       std::uint64_t, long long, unsigned long long>
    Integers;
TYPED_TEST_SUITE(IntegerCorners, Integers);

TYPED_TEST(IntegerCorners, HaveResults) {
  typedef std::numeric_limits<TypeParam> L;
  std::vector<TypeParam> values;
  for (int i = -3; i <= 3; ++i) {
    values.push_back(static_cast<TypeParam>(i));
    values.push_back(static_cast<TypeParam>(L::min() + static_cast<TypeParam>(i < 0 ? -i : i)));
    values.push_back(static_cast<TypeParam>(L::max() - static_cast<TypeParam>(i < 0 ? -i : i)));
  }
  for (const TypeParam x : values) {
    for (const TypeParam y : values) check(x, y);
  }
}

}  // namespace

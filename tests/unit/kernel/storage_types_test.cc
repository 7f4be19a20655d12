// SPDX-License-Identifier: Apache-2.0
// Compares float16 and bfloat16 with a reference that rounds exactly: every value, every midpoint
// between two neighbours, and the numbers next to each midpoint.
#include <gtest/gtest.h>
#include <gufunc/kernel/types.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace {

template <class To, class From>
To bits_of(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// The parameters of a binary format. value() computes the number of a bit pattern with ldexp.
struct Format {
  int exponent_bits, mantissa_bits;

  uint32_t infinity() const { return ((1u << exponent_bits) - 1u) << mantissa_bits; }
  bool is_nan(uint32_t bits) const { return (bits & 0x7fffu) > infinity(); }
  double value(uint32_t bits) const {
    const uint32_t size = bits & 0x7fffu;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(size >> mantissa_bits);
    const double mantissa = size & ((1u << mantissa_bits) - 1u);
    double result = std::numeric_limits<double>::infinity();
    if (size < infinity()) {
      result = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                             : std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits),
                                          exponent - bias - mantissa_bits);
    }
    return (bits & 0x8000u) != 0 ? -result : result;
  }
};
constexpr Format kHalf{5, 10};
constexpr Format kBrain{8, 7};

// Calls check(x, bit pattern that x rounds to) for every finite number, for the midpoint between
// the number and the next larger number, and for the neighbours of this midpoint. For the largest
// number, the midpoint is half of the last step above the number.
template <class Check>
void for_midpoints(const Format &format, Check check) {
  for (uint32_t low = 0; low < format.infinity(); ++low) {
    const double below = format.value(low);
    const double step = low == 0 ? format.value(1) : below - format.value(low - 1);
    const double gap = low + 1 < format.infinity() ? format.value(low + 1) - below : step;
    const double middle = below + gap / 2;
    const uint32_t even = (low & 1u) == 0 ? low : low + 1;
    for (const double sign : {1.0, -1.0}) {
      const uint32_t mark = sign < 0 ? 0x8000u : 0u;
      check(sign * below, low | mark);
      check(sign * middle, even | mark);
      check(sign * std::nextafter(middle, 0.0), low | mark);
      check(sign * std::nextafter(middle, HUGE_VAL), (low + 1) | mark);
      const auto single = static_cast<float>(middle);
      if (static_cast<double>(single) == middle) {
        check(sign * std::nextafter(single, 0.0f), low | mark);
        check(sign * std::nextafter(single, HUGE_VALF), (low + 1) | mark);
      }
    }
  }
}

TEST(F16, EveryPatternWidensToItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const guf::f16 half{static_cast<uint16_t>(bits)};
    for (const float wide : {guf::to_f32(half), guf::detail::f16_to_f32_by_integers(half.bits)}) {
      if (kHalf.is_nan(bits)) {
        ASSERT_TRUE(std::isnan(wide)) << bits;
      } else {
        ASSERT_EQ(bits_of<uint64_t>(static_cast<double>(wide)),
                  bits_of<uint64_t>(kHalf.value(bits)))
            << bits;
      }
    }
  }
}

TEST(F16, EveryMidpointRoundsToEven) {
  size_t singles = 0;
  for_midpoints(kHalf, [&](double x, uint32_t expected) {
    ASSERT_EQ(guf::cast<guf::f16>(x).bits, expected) << x;
    const auto single = static_cast<float>(x);
    if (static_cast<double>(single) != x) return;
    ++singles;
    ASSERT_EQ(guf::to_f16(single).bits, expected) << x;
    ASSERT_EQ(guf::detail::f32_to_f16_by_integers(single), expected) << x;
  });
  EXPECT_GT(singles, 200'000u);
}

TEST(F16, EveryPatternSurvivesTheConversionThroughF32) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const guf::f16 half{static_cast<uint16_t>(bits)};
    const uint32_t back = guf::to_f16(guf::to_f32(half)).bits;
    ASSERT_TRUE(kHalf.is_nan(bits) ? kHalf.is_nan(back) : back == bits) << bits;
  }
}

TEST(F16, IntegerFormEqualsTheInstructions) {
  std::mt19937 random(1);
  for (int i = 0; i < 4'000'000; ++i) {
    const auto x = bits_of<float>(static_cast<uint32_t>(random()));
    if (std::isnan(x)) continue;
    ASSERT_EQ(guf::to_f16(x).bits, guf::detail::f32_to_f16_by_integers(x)) << x;
  }
}

TEST(BF16, EveryPatternWidensToItsValueAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const guf::bf16 brain{static_cast<uint16_t>(bits)};
    const float wide = guf::to_f32(brain);
    const uint32_t back = guf::to_bf16(wide).bits;
    if (kBrain.is_nan(bits)) {
      ASSERT_TRUE(std::isnan(wide) && kBrain.is_nan(back)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(wide), kBrain.value(bits)) << bits;
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(BF16, EveryMidpointRoundsToEven) {
  for_midpoints(kBrain, [&](double x, uint32_t expected) {
    ASSERT_EQ(guf::cast<guf::bf16>(x).bits, expected) << x;
    const auto single = static_cast<float>(x);
    if (static_cast<double>(single) == x) {
      ASSERT_EQ(guf::to_bf16(single).bits, expected) << x;
    }
  });
}

// A conversion through f32 rounds twice, and would return the neighbouring bit pattern for these
// integers.
TEST(BF16, IntegersRoundOnce) {
  EXPECT_EQ(guf::cast<guf::bf16>(int64_t{0x1010000000000001}).bits, 0x5d81);
  EXPECT_EQ(guf::cast<guf::bf16>(int64_t{0x1010000000000000}).bits, 0x5d80);
  EXPECT_EQ(guf::cast<guf::bf16>(int64_t{-0x1010000000000001}).bits, 0xdd81);
  EXPECT_EQ(guf::cast<guf::bf16>(uint64_t{0xfefffffffffffffe}).bits, 0x5f7f);
  EXPECT_EQ(guf::cast<guf::bf16>(uint64_t{0xff80000000000001}).bits, 0x5f80);
  EXPECT_EQ(guf::cast<guf::bf16>(int32_t{0x1010001}).bits, 0x4b81);
  EXPECT_EQ(guf::cast<guf::bf16>(std::numeric_limits<int64_t>::min()).bits, 0xdf00);
}

TEST(StorageTypes, NaNStaysNaN) {
  for (const uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xffffffffu, 0x7f8fffffu, 0x7f801fffu}) {
    EXPECT_TRUE(kHalf.is_nan(guf::to_f16(bits_of<float>(bits)).bits));
    EXPECT_TRUE(kHalf.is_nan(guf::detail::f32_to_f16_by_integers(bits_of<float>(bits))));
    EXPECT_TRUE(kBrain.is_nan(guf::to_bf16(bits_of<float>(bits)).bits));
  }
  EXPECT_TRUE(kHalf.is_nan(guf::cast<guf::f16>(std::nan("")).bits));
  EXPECT_TRUE(kBrain.is_nan(guf::cast<guf::bf16>(std::nan("")).bits));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Compares guf::random with the known answers that Random123 publishes for Philox4x32-10, and with
// the formulas in the header of guf::random.
#include <gtest/gtest.h>
#include <gufunc/kernel/random.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

struct Known {
  guf::u32 counter[4], key[2], words[4];
};

// Known answers of Random123, from the lines "philox4x32 10" of its file kat_vectors.
const Known kKnown[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Random, PhiloxHasThePublishedAnswers) {
  for (const Known &row : kKnown) {
    const guf::u32 *const c = row.counter;
    const guf::random_words direct = guf::philox(c[0], c[1], c[2], c[3], row.key[0], row.key[1]);
    // Converts counter and key to seed, sequence and position.
    const auto joined = [](guf::u32 low, guf::u32 high) { return (guf::u64{high} << 32) | low; };
    guf::random at(joined(row.key[0], row.key[1]), joined(c[2], c[3]), joined(c[0], c[1]));
    const guf::random_words words = at.words();
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(direct.word[i], row.words[i]);
      EXPECT_EQ(words.word[i], row.words[i]);
    }
    EXPECT_EQ(at.position(), joined(c[0], c[1]) + 1);
  }
}

TEST(Random, PositionsAreReachedDirectly) {
  guf::random walked(7, 3), jumped(7, 3);
  for (int i = 0; i < 1000; ++i) walked.words();
  jumped.seek(1000);
  EXPECT_EQ(walked.bits64(), jumped.bits64());
  guf::random other_sequence(7, 4, 1001), other_seed(8, 3, 1001);
  const guf::u64 next = walked.bits64();
  EXPECT_NE(next, other_sequence.bits64());
  EXPECT_NE(next, other_seed.bits64());
}

TEST(Random, UniformNumbersAreFractions) {
  double sum = 0, square = 0, smallest = 1, largest = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    guf::random words(11, 0, static_cast<guf::u64>(i)), f(11, 0, static_cast<guf::u64>(i));
    guf::random d(11, 0, static_cast<guf::u64>(i));
    const guf::random_words w = words.words();
    const float x = f.uniform_f32();
    const double y = d.uniform_f64();
    EXPECT_EQ(static_cast<double>(x), (w.word[0] >> 8) / 16777216.0);
    EXPECT_EQ(y, ((w.word[0] >> 5) * 67108864.0 + (w.word[1] >> 6)) / 9007199254740992.0);
    sum += y, square += y * y;
    smallest = std::min(smallest, y), largest = std::max(largest, y);
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.003);
  EXPECT_NEAR(square / kCount, 1.0 / 3, 0.003);
  EXPECT_GE(smallest, 0);
  EXPECT_LT(largest, 1);
}

// Returns the error in units of the last place of the result.
template <class T>
double ulps(T found, long double expected) {
  const T near = static_cast<T>(expected);
  const long double unit = std::nextafter(std::fabs(near), INFINITY) - std::fabs(near);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - expected) / unit);
}

template <class T>
struct Normals {
  double worst = 0, sum = 0, square = 0;

  void see(guf::normal_pair<T> pair, T u, T v) {
    const long double radius = std::sqrt(-2 * std::log1p(-static_cast<long double>(u)));
    // Reduces the argument before the multiplication, so that the reference follows the formula
    // without the rounding error of 2 pi v.
    const long double quarter = std::floor(4 * static_cast<long double>(v) + 0.5L);
    const long double angle =
        (static_cast<long double>(v) - quarter / 4) * 6.28318530717958647692528676655900577L;
    const long double c = std::cos(angle), s = std::sin(angle);
    const long double cosines[] = {c, -s, -c, s}, sines[] = {s, c, -s, -c};
    const auto turn = static_cast<size_t>(quarter) % 4;
    worst = std::max(worst, ulps(pair.first, radius * cosines[turn]));
    worst = std::max(worst, ulps(pair.second, radius * sines[turn]));
    sum += static_cast<double>(pair.first);
    square += static_cast<double>(pair.first) * static_cast<double>(pair.first);
  }
};

TEST(Random, NormalNumbersAreWithinTheirBar) {
  constexpr int kCount = 200000;
  Normals<float> f;
  Normals<double> d;
  for (int i = 0; i < kCount; ++i) {
    const auto at = static_cast<guf::u64>(i);
    guf::random a(5, 1, at), b(5, 1, at), c(5, 1, at);
    const guf::random_words w = a.words();
    const auto fraction = [](guf::u32 high, guf::u32 low) {
      return ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0;
    };
    f.see(b.normals_f32(), static_cast<float>(w.word[0] >> 8) / 16777216.0f,
          static_cast<float>(w.word[1] >> 8) / 16777216.0f);
    d.see(c.normals_f64(), fraction(w.word[0], w.word[1]), fraction(w.word[2], w.word[3]));
  }
  EXPECT_LE(f.worst, 5);
  EXPECT_LE(d.worst, 5);
  RecordProperty("worst_f32", std::to_string(f.worst));
  RecordProperty("worst_f64", std::to_string(d.worst));
  EXPECT_NEAR(f.sum / kCount, 0, 0.01);
  EXPECT_NEAR(d.sum / kCount, 0, 0.01);
  EXPECT_NEAR(f.square / kCount, 1, 0.02);
  EXPECT_NEAR(d.square / kCount, 1, 0.02);
}

}  // namespace

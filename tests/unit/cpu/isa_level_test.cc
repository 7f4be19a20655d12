// SPDX-License-Identifier: Apache-2.0
// Tests the ISA levels that are computed from the feature bits of several processors.
#include <gtest/gtest.h>

#include "backends/cpu/base/cpu_isa.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

constexpr unsigned kLeaf1V2 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;
constexpr unsigned kLeaf1V3 = kLeaf1V2 | 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
constexpr unsigned kLeaf7V3 = 1u << 3 | 1u << 5 | 1u << 8;
constexpr unsigned kLeaf7V4 = kLeaf7V3 | 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
constexpr unsigned kExtendedV2 = 1u, kExtendedV3 = 1u | 1u << 5;
constexpr unsigned long long kXmm = 3, kYmm = 7, kZmm = 0xe7;

struct Row {
  const char *name;
  CpuFeatures features;
  int level;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"Plain", {0, 0, 0, 0}, 1},
    {"Nehalem", {kLeaf1V2, 0, kExtendedV2, 0}, 2},
    {"WithoutLahf", {kLeaf1V2, 0, 0, 0}, 1},
    {"Haswell", {kLeaf1V3, kLeaf7V3, kExtendedV3, kYmm}, 3},
    {"WithoutF16c", {kLeaf1V3 & ~(1u << 29), kLeaf7V3, kExtendedV3, kYmm}, 2},
    {"SystemSavesNoYmm", {kLeaf1V3, kLeaf7V3, kExtendedV3, kXmm}, 2},
    {"Skylake512", {kLeaf1V3, kLeaf7V4, kExtendedV3, kZmm}, 4},
    {"SystemSavesNoZmm", {kLeaf1V3, kLeaf7V4, kExtendedV3, kYmm}, 3},
    {"WithoutVl", {kLeaf1V3, kLeaf7V4 & ~(1u << 31), kExtendedV3, kZmm}, 3},
    {"KnightsLanding", {kLeaf1V3, kLeaf7V3 | 1u << 16 | 1u << 28, kExtendedV3, kZmm}, 3},
};

class IsaLevel : public testing::TestWithParam<Row> {};

TEST_P(IsaLevel, FollowsTheFeatureBits) {
  EXPECT_EQ(isa_level_of(GetParam().features), GetParam().level);
}
INSTANTIATE_TEST_SUITE_P(Rows, IsaLevel, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(IsaName, ReadsLongAndShortSpellings) {
  EXPECT_EQ(parse_isa_level("x86-64"), 1);
  EXPECT_EQ(parse_isa_level("x86-64-v2"), 2);
  EXPECT_EQ(parse_isa_level("v4"), 4);
  for (const char *wrong : {"", "v0", "v5", "v33", "x86-64-", "x86-64v2", "avx2", "V3"}) {
    EXPECT_EQ(parse_isa_level(wrong), 0) << wrong;
  }
  EXPECT_EQ(parse_isa_level(nullptr), 0);
  for (int level = kLowestIsaLevel; level <= kHighestIsaLevel; ++level) {
    EXPECT_EQ(parse_isa_level(isa_target(level)), level);
  }
}

TEST(RequestedIsaLevel, OnlyLowersAndIsOtherwiseLoggedAndIgnored) {
  cpu();
  EXPECT_EQ(effective_isa_level(4, nullptr), 4);
  EXPECT_EQ(effective_isa_level(4, ""), 4);
  EXPECT_EQ(effective_isa_level(4, "x86-64-v3"), 3);
  EXPECT_EQ(effective_isa_level(3, "v2"), 2);
  EXPECT_EQ(effective_isa_level(3, "v3"), 3);
  test_host().log.clear();
  EXPECT_EQ(effective_isa_level(3, "v4"), 3);
  EXPECT_EQ(effective_isa_level(3, "avx2"), 3);
  // The library has no kernels for this level. If the request were granted, every function would
  // lack an image.
  EXPECT_EQ(effective_isa_level(3, "x86-64"), 3);
  EXPECT_EQ(effective_isa_level(3, "v1"), 3);
  ASSERT_EQ(test_host().log.size(), 4u);
  EXPECT_NE(test_host().log[0].find("x86-64-v3"), std::string::npos) << test_host().log[0];
  EXPECT_NE(test_host().log[1].find("'avx2'"), std::string::npos) << test_host().log[1];
  EXPECT_EQ(test_host().log[2],
            "GUFUNC_CPU_ISA 'x86-64' is ignored; expected one of x86-64-v2, x86-64-v3, x86-64-v4");
}

}  // namespace
}  // namespace gufunc::cpu

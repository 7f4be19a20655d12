// SPDX-License-Identifier: Apache-2.0
// Compares the overlap test of the library with a brute-force comparison of all byte addresses.
#include "core/array/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace gufunc::array {
namespace {

struct Owned {
  guf_dtype dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  uint64_t address;

  Layout layout() const {
    return {dtype, static_cast<int32_t>(shape.size()), shape.data(), strides.data(), address};
  }
};

void walk(const Owned &owned, size_t axis, uint64_t address, std::multiset<uint64_t> *bytes) {
  if (axis == owned.shape.size()) {
    for (uint32_t k = 0; k < dtype::itemsize(owned.dtype); ++k) bytes->insert(address + k);
    return;
  }
  for (int64_t n = 0; n < owned.shape[axis]; ++n) {
    walk(owned, axis + 1, address + static_cast<uint64_t>(n * owned.strides[axis]), bytes);
  }
}

std::multiset<uint64_t> bytes_of(const Owned &owned) {
  std::multiset<uint64_t> bytes;
  walk(owned, 0, owned.address, &bytes);
  return bytes;
}

Owned random_layout(std::mt19937 *engine) {
  const auto below = [&](int n) {
    return static_cast<int>((*engine)() % static_cast<unsigned>(n));
  };
  static constexpr guf_dtype kTypes[] = {GUF_I8, GUF_I16, GUF_F32, GUF_F64, GUF_C128};
  Owned owned = {kTypes[below(5)], {}, {}, 5000};
  const int ndim = below(4);
  for (int k = 0; k < ndim; ++k) {
    owned.shape.push_back(below(12) == 0 ? 0 : 1 + below(5));
    const int unit = below(2) == 0 ? 1 : static_cast<int>(dtype::itemsize(owned.dtype));
    owned.strides.push_back((below(41) - 20) * unit);
  }
  owned.address += static_cast<uint64_t>(below(200));
  return owned;
}

TEST(Overlap, SharingIsExactOnRandomLayouts) {
  std::mt19937 engine(3);
  int shared = 0;
  int interleaved = 0;
  for (int round = 0; round < 60000; ++round) {
    const Owned a = random_layout(&engine);
    const Owned b = random_layout(&engine);
    const std::multiset<uint64_t> bytes = bytes_of(a);
    bool expected = false;
    for (const uint64_t byte : bytes_of(b)) expected = expected || bytes.count(byte) != 0;
    ASSERT_EQ(shares_memory(a.layout(), b.layout()), expected) << "round " << round;
    shared += expected ? 1 : 0;
    interleaved += !expected && spans_overlap(span_of(a.layout()), span_of(b.layout())) ? 1 : 0;
  }
  EXPECT_GT(shared, 5000);
  EXPECT_GT(interleaved, 1000);  // pairs with overlapping address ranges but no common byte
}

TEST(Overlap, OverlappingItselfIsExactOnRandomLayouts) {
  std::mt19937 engine(4);
  int found = 0;
  for (int round = 0; round < 30000; ++round) {
    const Owned a = random_layout(&engine);
    const std::multiset<uint64_t> bytes = bytes_of(a);
    const bool expected = std::set<uint64_t>(bytes.begin(), bytes.end()).size() != bytes.size();
    ASSERT_EQ(overlaps_itself(a.layout()), expected) << "round " << round;
    found += expected ? 1 : 0;
  }
  EXPECT_GT(found, 3000);
  EXPECT_LT(found, 29000);
}

TEST(Overlap, InterleavedHalvesOfLargeArraysAreDisjoint) {
  const Owned even = {GUF_F32, {1 << 20, 1 << 10}, {1 << 13, 8}, 1 << 20};
  Owned odd = even;
  odd.address += 4;
  EXPECT_FALSE(shares_memory(even.layout(), odd.layout()));
  odd.address += 3;
  EXPECT_TRUE(shares_memory(even.layout(), odd.layout()));
}

TEST(Overlap, HardCasesAreAssumedToShareAndEnd) {
  Owned a = {GUF_I8, {}, {}, 1 << 20};
  Owned b = {GUF_I8, {}, {}, (1 << 20) + 7};
  for (int64_t k = 0; k < 12; ++k) {
    a.shape.push_back(40);
    a.strides.push_back(1'000'003 * 4 + 4 * k * k * 977);
    b.shape.push_back(40);
    b.strides.push_back(1'000'033 * 4 + 4 * k * 1009);
  }
  EXPECT_TRUE(shares_memory(a.layout(), b.layout()));
}

TEST(Overlap, SameViewIgnoresStridesOfSingleElements) {
  const Owned a = {GUF_F32, {3, 1}, {4, 99}, 64};
  const Owned b = {GUF_F32, {3, 1}, {4, 7}, 64};
  EXPECT_TRUE(same_view(a.layout(), b.layout()));
  const Owned shorter = {GUF_F32, {2, 1}, {4, 7}, 64};
  EXPECT_FALSE(same_view(a.layout(), shorter.layout()));
}

}  // namespace
}  // namespace gufunc::array

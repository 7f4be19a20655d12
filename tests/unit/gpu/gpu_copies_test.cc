// SPDX-License-Identifier: Apache-2.0
// Runs random copies, conversions and fills on the host, and compares every byte of the
// destination.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "backends/gpu/geometry/copy_commands.h"
#include "tests/support/fresh_error.h"
#include "tests/unit/gpu/host_sink.h"
#include "tests/unit/gpu/launch_case.h"

namespace gufunc::gpu::test {
namespace {

const std::vector<HostEntry> kNoLoop;

guf_dtype structured_of(uint32_t bytes) {
  return 0x82U | bytes << 8;
}
bool is_structured(guf_dtype dtype) {
  return (dtype & 0xFF) == 0x82;
}
uint32_t size_of(guf_dtype dtype) {
  return is_structured(dtype) ? dtype >> 8 & 0xFFF : bytes_of(dtype);
}

struct CopyCase {
  guf_launch_block block = {};
  std::vector<Extent> extents;
  ArrayLayout side[2];
  std::string text;
};

guf_dtype random_move_dtype(Random &random) {
  constexpr guf_dtype kAll[] = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                                GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                                GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};
  if (!chance(random, 20)) return kAll[below(random, std::size(kAll))];
  const uint32_t unit = 1 + static_cast<uint32_t>(below(random, 9));
  return (chance(random, 50) ? 0x80U : 0x81U) | unit << 8 | (chance(random, 30) ? 25U : 1U) << 16;
}

void fill_side(CopyCase *copied, int i, bool swapped, Random &random) {
  if (!is_structured(copied->block.dtype[i])) {
    fill_array(copied->block.dtype[i], swapped, Values::kAny, copied->extents, copied->side[i],
               random);
    return;
  }
  for (size_t k = 0; k < copied->side[i].memory.bytes(); ++k) {
    copied->side[i].memory.data()[k] = static_cast<char>(random());
  }
}

CopyCase make_copy(Random &random) {
  CopyCase copied;
  guf_launch_block &block = copied.block;
  block.noperands = 2;
  block.nin = 1;
  block.nloop = static_cast<int32_t>(below(random, chance(random, 70) ? 4 : 9));
  block.items = 1;
  block.size[0] = 1;
  constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 40, 64, 100, 257, 1025};
  for (int d = 0; d < block.nloop; ++d) {
    int64_t size = kSizes[below(random, std::size(kSizes))];
    if (block.items * static_cast<uint64_t>(size) > 6000) size = 1;
    if (chance(random, 1)) size = 0;
    (d == 0 ? block.size[0] : block.outer_size[d - 1]) = size;
    block.items *= static_cast<uint64_t>(size);
    copied.extents.push_back({size, false});
  }
  block.dtype[0] = random_move_dtype(random);
  block.dtype[1] = chance(random, 55) ? block.dtype[0] : random_move_dtype(random);
  const bool structured = chance(random, 12);
  if (structured)
    block.dtype[0] = block.dtype[1] = structured_of(1 + static_cast<uint32_t>(below(random, 70)));
  const bool immediate = chance(random, 12) && size_of(block.dtype[0]) <= 16;
  const std::vector<Extent> whole = copied.extents;
  for (int i = 0; i < 2; ++i) {
    copied.extents = whole;
    if (i == 0) {
      for (Extent &extent : copied.extents) extent.stretched = immediate || chance(random, 10);
    }
    const uint32_t bytes = size_of(block.dtype[i]);
    const bool swapped = !structured && bytes > 1 && chance(random, 20);
    const bool unaligned = bytes > 1 && chance(random, 12) && !(immediate && i == 0);
    const uint32_t alignment = structured ? bytes & (~bytes + 1) : unit_of(block.dtype[i]);
    copied.side[i] =
        lay_out_array(copied.extents, bytes, std::min(alignment, 8U),
                      chance(random, 50) ? Order::kDense : Order::kAny, unaligned, random);
    fill_side(&copied, i, swapped, random);
    block.address[i] = copied.side[i].address();
    for (size_t d = 0; d < copied.extents.size(); ++d) {
      (d == 0 ? block.step[i] : block.outer_step[d - 1][i]) = copied.side[i].step[d];
    }
    block.operand_flags[i] = i == 0 ? GUF_LAUNCH_OPERAND_READ : GUF_LAUNCH_OPERAND_WRITTEN;
    if (swapped) block.operand_flags[i] |= GUF_LAUNCH_OPERAND_SWAPPED;
    if (unaligned) block.operand_flags[i] |= GUF_LAUNCH_OPERAND_UNALIGNED;
    if (immediate && i == 0) block.operand_flags[i] |= GUF_LAUNCH_OPERAND_IMMEDIATE;
    copied.text += " dtype " + std::to_string(block.dtype[i]) + " flags " +
                   std::to_string(block.operand_flags[i]) + " steps";
    for (const int64_t step : copied.side[i].step) copied.text += " " + std::to_string(step);
    copied.text += ";";
  }
  for (const Extent &extent : copied.extents) copied.text += " " + std::to_string(extent.size);
  return copied;
}

void move_element(const guf_launch_block &block, const char *from, char *to) {
  if (is_structured(block.dtype[0])) {
    std::memcpy(to, from, size_of(block.dtype[0]));
    return;
  }
  char element[16], result[16];
  std::memcpy(element, from, bytes_of(block.dtype[0]));
  const auto swapped = [&](int i) {
    return (block.operand_flags[i] & GUF_LAUNCH_OPERAND_SWAPPED) != 0;
  };
  if (swapped(0)) swap_element(block.dtype[0], element);
  cast_plainly(block.dtype[0], element, block.dtype[1], result);
  if (swapped(1)) swap_element(block.dtype[1], result);
  std::memcpy(to, result, bytes_of(block.dtype[1]));
}

Memory evaluate_copy(const CopyCase &copied) {
  Memory result = copied.side[1].memory.copy();
  std::vector<int64_t> index(copied.extents.size(), 0);
  for (uint64_t n = 0; n < copied.block.items; ++n) {
    int64_t at[2] = {copied.side[0].first, copied.side[1].first};
    for (int i = 0; i < 2; ++i) {
      for (size_t d = 0; d < index.size(); ++d) at[i] += index[d] * copied.side[i].step[d];
    }
    move_element(copied.block, copied.side[0].memory.data() + at[0], result.data() + at[1]);
    for (size_t d = 0; d < index.size(); ++d) {
      if (++index[d] < copied.extents[d].size) break;
      index[d] = 0;
    }
  }
  return result;
}

TEST(GpuCopies, SameAsNaiveEvaluation) {
  EntryCounts used = {};
  for (uint64_t seed = 0; seed < 2500; ++seed) {
    Random random(seed);
    const CopyCase copied = make_copy(random);
    const Memory expected = evaluate_copy(copied);
    CountingSink commands(kNoLoop);
    guf_error error = fresh_error();
    ASSERT_EQ(queue_convert(copied.block, commands, &error), GUF_OK)
        << error.message << copied.text;
    ASSERT_EQ(std::memcmp(expected.data(), copied.side[1].memory.data(), expected.bytes()), 0)
        << "case " << seed << ":" << copied.text;
    ASSERT_FALSE(HasFailure()) << "case " << seed << ":" << copied.text;
    if (copied.block.items == 0) {
      EXPECT_EQ(commands.count, 0U);
    }
    for (size_t e = 0; e < used.size(); ++e) used[e] += commands.used[e];
  }
  for (size_t e = static_cast<size_t>(Entry::kLoopEntries); e < used.size(); ++e) {
    EXPECT_GT(used[e], 0U) << "no case needed entry " << e;
  }
}

TEST(GpuCopies, Fills) {
  Random random(11);
  for (int round = 0; round < 600; ++round) {
    const uint32_t bytes = 1 + static_cast<uint32_t>(below(random, chance(random, 70) ? 16 : 300));
    const uint64_t count = below(random, chance(random, 90) ? 100 : 9000);
    const size_t offset = below(random, 17);
    std::vector<char> pattern(bytes);
    for (char &byte : pattern) byte = static_cast<char>(random());
    Memory memory(bytes * count, offset);
    if (memory.bytes() != 0) std::memset(memory.data(), 0x11, memory.bytes());
    CountingSink commands(kNoLoop);
    guf_error error = {};
    const auto address = reinterpret_cast<uint64_t>(memory.data());
    ASSERT_EQ(queue_fill(address, pattern.data(), bytes, count, commands, &error), GUF_OK);
    for (size_t i = 0; i < memory.bytes(); ++i) {
      ASSERT_EQ(memory.data()[i], pattern[i % bytes]) << bytes << " x " << count << " at " << i;
    }
    EXPECT_EQ(commands.count == 0, count == 0);
  }
}

TEST(GpuCopies, Refusals) {
  guf_launch_block block = {};
  block.noperands = 2;
  block.nin = 1;
  block.items = 1;
  block.size[0] = 1;
  const auto refused = [&](guf_dtype from, guf_dtype to, uint32_t flags) {
    CountingSink commands(kNoLoop);
    guf_error error = fresh_error();
    block.dtype[0] = from;
    block.dtype[1] = to;
    block.operand_flags[1] = flags;
    EXPECT_EQ(queue_convert(block, commands, &error), GUF_E_DTYPE);
    EXPECT_NE(std::string(error.message).find("0x"), std::string::npos) << error.message;
    EXPECT_EQ(commands.count, 0U);
  };
  refused(structured_of(12), structured_of(16), 0);
  refused(structured_of(12), GUF_F32, 0);
  refused(structured_of(12), structured_of(12), GUF_LAUNCH_OPERAND_SWAPPED);
  refused(0x81 | 7 << 8 | 1 << 16, 0x81 | 1 << 16, 0);  // a cast from seconds to the generic unit
  refused(0x7F, 0x7F, 0);
}

}  // namespace
}  // namespace gufunc::gpu::test

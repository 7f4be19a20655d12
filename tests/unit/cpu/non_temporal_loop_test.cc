// SPDX-License-Identifier: Apache-2.0
// Tests which launches use non-temporal stores, and that every byte of the output is written.
#include "backends/cpu/loops/non_temporal_loop.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "backends/cpu/base/cpu_isa.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

template <class T>
void add_one(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    T value;
    std::memcpy(&value, args[0] + i * steps[0], sizeof value);
    value += T(1);
    std::memcpy(args[1] + i * steps[1], &value, sizeof value);
  }
}

// Runs a loop over `count` elements whose output starts `offset` bytes after the start of a cache
// line and has guard bytes on both sides.
template <class T>
void check_row(int64_t count, int64_t offset, int64_t stride) {
  SCOPED_TRACE(testing::Message() << count << " of " << sizeof(T) << " at " << offset);
  const auto size = static_cast<int64_t>(sizeof(T));
  const auto nbytes = static_cast<size_t>(count * std::max<int64_t>(std::abs(stride), 1) * size);
  std::vector<char> input(nbytes + 256, '\x11');
  std::vector<char> memory(static_cast<size_t>(count * size) + 512, '\x22');
  char *const line = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  char *const out = line + 64 + offset;
  char *const in = input.data() + (stride < 0 ? static_cast<int64_t>(nbytes) - size : 0);
  for (int64_t i = 0; i < count; ++i) {
    const T value = T(static_cast<float>(i));
    std::memcpy(in + i * stride * size, &value, sizeof value);
  }
  const guf_launch_block block =
      make_block({1, {count}, {in, out}, {{stride * size}, {size}}, {GUF_F32, GUF_F32}});
  guf_launch_block typed = block;
  typed.dtype[1] = sizeof(T) == 16 ? GUF_C128 : sizeof(T) == 8 ? GUF_F64 : GUF_F32;
  const HostLoop loop = {reinterpret_cast<void *>(add_one<T>), nullptr, LoopKind::kVoid, nullptr};
  {
    NonTemporalLoop non_temporal(typed, loop);
    char *const args[] = {in, out};
    ASSERT_EQ(non_temporal.run_row(args, count), GUF_OK);
  }
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, out + i * size, sizeof value);
    const int64_t source = stride == 0 ? count - 1 : i;
    ASSERT_EQ(value, T(static_cast<float>(source)) + T(1)) << i;
  }
  for (char *byte = memory.data(); byte < memory.data() + memory.size(); ++byte) {
    const bool outside = byte < out || byte >= out + count * size;
    ASSERT_TRUE(!outside || *byte == '\x22') << byte - out;
  }
}

TEST(NonTemporalLoop, WritesEveryElementAndNothingElse) {
  if (isa_level() < 3) GTEST_SKIP() << "no 32-byte stores at this ISA level";
  for (const int64_t count : {0, 1, 7, 15, 16, 17, 500, 512, 513, 1024, 5000}) {
    for (const int64_t offset : {0, 4, 16, 60}) check_row<float>(count, offset, 1);
    for (const int64_t offset : {0, 8, 56}) check_row<double>(count, offset, 1);
    for (const int64_t offset : {0, 8, 16, 24}) check_row<std::complex<double>>(count, offset, 1);
    check_row<float>(count, 4, 0);
    check_row<float>(count, 4, 3);
    check_row<float>(count, 4, -1);
  }
}

// Returns a launch block for inspection only. Its addresses are never dereferenced.
guf_launch_block large_block() {
  void *const a = reinterpret_cast<void *>(uintptr_t{1} << 32);
  void *const b = reinterpret_cast<void *>(uintptr_t{2} << 32);
  return make_block({1, {32 << 20}, {a, b}, {{4}, {4}}, {GUF_F32, GUF_F32}});
}

TEST(NonTemporalLoop, TakesLargeContiguousOutputsOnly) {
  if (isa_level() < 3) GTEST_SKIP() << "no 32-byte stores at this ISA level";
  guf_launch_block block = large_block();
  EXPECT_TRUE(uses_non_temporal_stores(block));
  block.items = 1 << 20;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "fits a cache";
  block = large_block();
  block.dtype[1] = GUF_BOOL;
  block.step[1] = 1;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "32 MB of output";
  block = large_block();
  block.step[1] = 8;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "strided";
  block = large_block();
  block.address[0] = block.address[1];
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "in place";
  block = large_block();
  block.operand_flags[0] |= GUF_LAUNCH_OPERAND_WRITTEN;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "an inout operand";
  for (const uint32_t flag : {GUF_LAUNCH_MASKED, GUF_LAUNCH_CAST, GUF_LAUNCH_SWAPPED}) {
    block = large_block();
    block.flags |= flag;
    EXPECT_FALSE(uses_non_temporal_stores(block)) << flag;
  }
  block = large_block();
  block.flags = 0;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "a loop that requires a single call";
  block = large_block();
  block.nloop = 2;
  block.size[0] = 100;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "short rows";
  block = large_block();
  block.ncore = 1;
  EXPECT_FALSE(uses_non_temporal_stores(block)) << "core dimensions";
}

}  // namespace
}  // namespace gufunc::cpu

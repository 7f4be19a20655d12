// SPDX-License-Identifier: Apache-2.0
// Tests device and host memory: sizes, invalid addresses, ends of allocations, and freed memory.
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

class SimMemory : public SimTest {
 protected:
  SimMemory() { EXPECT_EQ(driver_.stream(&stream_, false), 0); }

  void *stream_ = nullptr;
};

TEST_P(SimMemory, BytesAreCopiedToTheDeviceAndBack) {
  std::vector<uint32_t> in(100000), out(in.size());
  std::iota(in.begin(), in.end(), 7u);
  uint64_t a = 0, b = 0;
  const uint64_t bytes = in.size() * 4;
  SIM_OK(driver_.alloc(&a, bytes));
  SIM_OK(driver_.alloc(&b, bytes));
  EXPECT_EQ(a % 256, 0u);
  SIM_OK(driver_.to_device(a, in.data(), bytes, stream_));
  SIM_OK(driver_.on_device(b, a, bytes, stream_));
  SIM_OK(driver_.fill32(b + 4, 9, 1, stream_));
  SIM_OK(driver_.to_host(out.data(), b, bytes, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(out[1], 9u);
  out[1] = in[1];
  EXPECT_EQ(in, out);
  EXPECT_EQ(driver_.live("allocation"), 2u);
  SIM_OK(driver_.free(a));
  SIM_OK(driver_.free(b));
  EXPECT_EQ(driver_.live("allocation"), 0u);
}

TEST_P(SimMemory, NewMemoryIsNotZero) {
  uint64_t a = 0;
  unsigned char byte = 0;
  SIM_OK(driver_.alloc(&a, 1));
  SIM_OK(driver_.to_host(&byte, a, 1, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_NE(byte, 0);
}

TEST_P(SimMemory, EndsOfAllocationsAreExact) {
  std::vector<char> host(2000);
  uint64_t a = 0, b = 0;
  SIM_OK(driver_.alloc(&a, 1001));
  SIM_OK(driver_.alloc(&b, 2000));
  EXPECT_EQ(driver_.to_device(a, host.data(), 1001, stream_), 0);
  EXPECT_EQ(driver_.to_device(a, host.data(), 1002, stream_), 1);
  EXPECT_EQ(driver_.to_device(a + 1001, host.data(), 1, stream_), 1);
  EXPECT_EQ(driver_.to_host(host.data(), a + 500, 502, stream_), 1);
  EXPECT_EQ(driver_.on_device(b, a, 1002, stream_), 1);
  EXPECT_EQ(driver_.fill32(a, 0, 251, stream_), 1);
  EXPECT_EQ(driver_.fill32(a + 2, 0, 1, stream_), 1) << "not aligned";
  EXPECT_EQ(driver_.fill16(a + 2, 0, 1, stream_), 0);
  EXPECT_EQ(driver_.to_device(a, host.data(), 0, stream_), 0);
}

TEST_P(SimMemory, WrongAddressesAreRefused) {
  char host[16] = {};
  uint64_t a = 0;
  SIM_OK(driver_.alloc(&a, 16));
  EXPECT_EQ(driver_.to_device(reinterpret_cast<uint64_t>(host), host, 16, stream_), 1);
  EXPECT_EQ(driver_.to_host(host, reinterpret_cast<uint64_t>(host), 16, stream_), 1);
  EXPECT_EQ(driver_.to_host(reinterpret_cast<void *>(a), a, 16, stream_), 1);
  EXPECT_EQ(driver_.free(a + 1), 1);
  EXPECT_EQ(driver_.free(reinterpret_cast<uint64_t>(host)), 1);
  SIM_OK(driver_.free(a));
  EXPECT_EQ(driver_.free(a), 1) << "twice";
  EXPECT_EQ(driver_.to_host(host, a, 16, stream_), 1) << "freed";
}

TEST_P(SimMemory, MemoryRunsOutAndComesBack) {
  restart("MEMORY", "1048576");
  uint64_t a = 0, b = 0, free_bytes = 0, total = 0;
  SIM_OK(driver_.alloc(&a, 1000000));
  EXPECT_EQ(driver_.alloc(&b, 100000), 2);
  SIM_OK(driver_.memory_info(&free_bytes, &total));
  EXPECT_EQ(total, 1048576u);
  EXPECT_EQ(free_bytes, 48576u);
  SIM_OK(driver_.free(a));
  SIM_OK(driver_.alloc(&b, 1048576));
  EXPECT_EQ(driver_.alloc(&a, 1), 2);
  // Many rounds are needed, because freed addresses are reused only after their quarantine.
  SIM_OK(driver_.free(b));
  for (int i = 0; i < 600; ++i) {
    SIM_OK(driver_.alloc(&a, 1048576));
    SIM_OK(driver_.free(a));
  }
}

TEST_P(SimMemory, FreedAddressesRestBeforeTheyComeAgain) {
  uint64_t a = 0, b = 0;
  SIM_OK(driver_.alloc(&a, 4096));
  SIM_OK(driver_.free(a));
  SIM_OK(driver_.alloc(&b, 4096));
  EXPECT_NE(a, b);
}

TEST_P(SimMemory, HostMemoryOfEveryKind) {
  void *pinned = nullptr;
  uint64_t managed = 0, device = 0;
  std::vector<char> own(5000);
  SIM_OK(driver_.host_alloc(&pinned, 5000));
  SIM_OK(driver_.managed(&managed, 5000));
  SIM_OK(driver_.alloc(&device, 5000));
  EXPECT_EQ(driver_.live("pinned"), 1u);
  std::memset(pinned, 3, 5000);
  std::memset(reinterpret_cast<void *>(managed), 4, 5000);
  SIM_OK(driver_.to_device(device, pinned, 5000, stream_));
  SIM_OK(driver_.on_device(managed, device, 5000, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(*reinterpret_cast<char *>(managed + 4999), 3);

  SIM_OK(driver_.host_register(own.data(), own.size()));
  EXPECT_EQ(driver_.live("registered"), 1u);
  // HIP 6.4 reports no error for memory that is already registered.
  EXPECT_EQ(driver_.host_register(own.data() + 1, 1), driver_.is_cuda() ? 712 : 0);
  EXPECT_EQ(driver_.host_register(own.data() + 1, own.size()), 712);
  EXPECT_EQ(driver_.live("registered"), 1u);
  EXPECT_EQ(driver_.host_unregister(own.data() + 1), 713);
  SIM_OK(driver_.to_host(own.data(), device, own.size(), stream_));
  SIM_OK(driver_.stream_sync(stream_));
  SIM_OK(driver_.host_unregister(own.data()));
  EXPECT_EQ(driver_.host_unregister(own.data()), 713);
  EXPECT_EQ(own[4999], 3);

  EXPECT_EQ(driver_.host_free(own.data()), 1);
  SIM_OK(driver_.host_free(pinned));
  EXPECT_EQ(driver_.host_free(pinned), 1);
  SIM_OK(driver_.free(managed));
  SIM_OK(driver_.free(device));
}

// In lazy order, the driver reads pinned sources and large pageable sources as late as the
// documentation allows.
TEST_P(SimMemory, SourcesMustStayAsTheyAreUntilTheCopyRan) {
  restart("ORDER", "lazy");
  SIM_OK(driver_.stream(&stream_, false));
  uint64_t device = 0;
  constexpr uint64_t kBytes = 100000;
  SIM_OK(driver_.alloc(&device, kBytes));
  std::vector<char> small(60000, 1), large(kBytes, 1), out(kBytes);
  SIM_OK(driver_.to_device(device, small.data(), small.size(), stream_));
  small.assign(small.size(), 2);
  SIM_OK(driver_.to_host(out.data(), device, small.size(), stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(out[0], 1) << "a small pageable source is read at once";

  SIM_OK(driver_.to_device(device, large.data(), large.size(), stream_));
  large[77777] = 2;
  EXPECT_EQ(driver_.stream_sync(stream_), 719);
  EXPECT_NE(driver_.violation(0).find("changed while"), std::string::npos) << driver_.violation(0);
  driver_.clear_violations();
}

// The host must not change the source of a queued copy, but work that is queued before the
// copy may change it.
TEST_P(SimMemory, SourcesMayBeMadeByEarlierWork) {
  restart("ORDER", "lazy");
  SIM_OK(driver_.stream(&stream_, false));
  uint64_t a = 0, b = 0;
  void *pinned = nullptr;
  uint32_t out = 0;
  SIM_OK(driver_.alloc(&a, 64));
  SIM_OK(driver_.alloc(&b, 64));
  SIM_OK(driver_.host_alloc(&pinned, 64));
  SIM_OK(driver_.fill32(a, 77, 16, stream_));
  SIM_OK(driver_.to_host(pinned, a, 64, stream_));
  SIM_OK(driver_.to_device(b, pinned, 64, stream_));
  SIM_OK(driver_.to_host(&out, b, 4, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(out, 77u);
}

TEST_P(SimMemory, PinnedMemoryThatGoesWhileACopyIsQueued) {
  restart("ORDER", "lazy");
  SIM_OK(driver_.stream(&stream_, false));
  uint64_t device = 0;
  void *pinned = nullptr;
  SIM_OK(driver_.alloc(&device, 64));
  SIM_OK(driver_.host_alloc(&pinned, 64));
  SIM_OK(driver_.to_host(pinned, device, 64, stream_));
  SIM_OK(driver_.host_free(pinned));
  EXPECT_EQ(driver_.stream_sync(stream_), 700);
  EXPECT_NE(driver_.violation(0).find("freed"), std::string::npos) << driver_.violation(0);
  driver_.clear_violations();
}

#if defined(__SANITIZE_ADDRESS__)
class SimMemoryDeathTest : public SimMemory {
 protected:
  // A forked child lacks the streams' threads, so the test program starts again for each death
  // test.
  SimMemoryDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(SimMemoryDeathTest, TheHostMayNotTouchDeviceMemory) {
  uint64_t a = 0;
  SIM_OK(driver_.alloc(&a, 64));
  EXPECT_DEATH(*reinterpret_cast<volatile char *>(a) = 1, "use-after-poison");
}
SIM_BOTH(SimMemoryDeathTest);
#endif

SIM_BOTH(SimMemory);

}  // namespace
}  // namespace sim_test

// SPDX-License-Identifier: Apache-2.0
// Tests device and host memory: sizes, invalid addresses, ends of allocations, and freed memory.
// Tests stream-ordered memory: what pools reserve and release, and invalid uses of memory by
// streams that do not wait for the allocating stream.
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

TEST_P(SimMemory, RangesOfACopyMustNotOverlap) {
  SIM_OK(driver_.stream(&stream_, false));
  uint64_t managed = 0;
  SIM_OK(driver_.managed(&managed, 128));
  const auto *const host = reinterpret_cast<const char *>(managed);
  SIM_OK(driver_.to_device(managed + 64, host, 64, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  SIM_OK(driver_.to_device(managed + 63, host, 64, stream_));
  EXPECT_EQ(driver_.stream_sync(stream_), 719);
  EXPECT_NE(driver_.violation(0).find("overlap"), std::string::npos) << driver_.violation(0);
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

// CUmemPool_attribute and hipMemPoolAttr have the same numbers.
enum : int { kThreshold = 4, kReserved = 5, kUsed = 7, kUsedHigh = 8 };

class SimPool : public SimTest {
 protected:
  void prepare(const char *order) {
    driver_.set("MEMORY", "1048576");
    restart("ORDER", order);
    for (void *&stream : streams_) SIM_OK(driver_.stream(&stream, false));
    const std::string name =
        driver_.is_cuda() ? "cuDeviceGetDefaultMemPool" : "hipDeviceGetDefaultMemPool";
    SIM_OK(driver_.entry<int(void **, int)>(name)(&pool_, 0));
  }

  uint64_t attribute(int which) {
    uint64_t value = 0;
    const std::string name = driver_.is_cuda() ? "cuMemPoolGetAttribute" : "hipMemPoolGetAttribute";
    EXPECT_EQ((driver_.entry<int(void *, int, void *)>(name)(pool_, which, &value)), 0);
    return value;
  }

  void set_threshold(uint64_t bytes) {
    const std::string name = driver_.is_cuda() ? "cuMemPoolSetAttribute" : "hipMemPoolSetAttribute";
    EXPECT_EQ((driver_.entry<int(void *, int, void *)>(name)(pool_, kThreshold, &bytes)), 0);
  }

  uint64_t free_bytes() {
    uint64_t free = 0, total = 0;
    EXPECT_EQ(driver_.memory_info(&free, &total), 0);
    return free;
  }

  void *streams_[2] = {};
  void *pool_ = nullptr;
};

TEST_P(SimPool, MemoryStaysUntilAWait) {
  for (const char *order : {"eager", "lazy", "adversarial"}) {
    prepare(order);
    uint64_t a = 0;
    SIM_OK(driver_.alloc_async(&a, 600000, streams_[0]));
    EXPECT_EQ(attribute(kUsed), 600000u);
    SIM_OK(driver_.free_async(a, streams_[0]));
    EXPECT_EQ(attribute(kUsed), 0u);
    EXPECT_EQ(attribute(kReserved), 600000u);
    // The same stream can reuse freed bytes before any operation has run.
    SIM_OK(driver_.alloc_async(&a, 600000, streams_[0]));
    SIM_OK(driver_.free_async(a, streams_[0]));
    EXPECT_EQ(attribute(kReserved), 600000u);
    EXPECT_EQ(attribute(kUsedHigh), 600000u);
    EXPECT_EQ(free_bytes(), 448576u);
    SIM_OK(driver_.stream_sync(streams_[0]));
    EXPECT_EQ(attribute(kReserved), 0u) << order << ": no threshold";
    EXPECT_EQ(free_bytes(), 1048576u);
    EXPECT_EQ(driver_.live("allocation"), 0u);
  }
}

TEST_P(SimPool, ThresholdAndTrim) {
  prepare("eager");
  set_threshold(500000);
  uint64_t a = 0;
  SIM_OK(driver_.alloc_async(&a, 600000, streams_[0]));
  SIM_OK(driver_.free_async(a, streams_[0]));
  SIM_OK(driver_.stream_sync(streams_[0]));
  EXPECT_EQ(attribute(kReserved), 500000u);
  EXPECT_EQ(driver_.alloc(&a, 600000), 2) << "other allocations cannot use memory of a pool";
  const std::string name = driver_.is_cuda() ? "cuMemPoolTrimTo" : "hipMemPoolTrimTo";
  SIM_OK((driver_.entry<int(void *, size_t)>(name)(pool_, 1000)));
  EXPECT_EQ(attribute(kReserved), 1000u);
  SIM_OK(driver_.alloc(&a, 600000));
}

TEST_P(SimPool, OtherDevicesHaveTheAccessThatIsSet) {
  driver_.set("DEVICES", "2");
  prepare("eager");
  const std::string cuda = driver_.is_cuda() ? "cu" : "hip";
  struct Location {
    int type, id;
  };
  struct Expected {
    Location location;
    int flags;
  };
  const auto set = driver_.entry<int(void *, const Expected *, size_t)>(cuda + "MemPoolSetAccess");
  const auto get = driver_.entry<int(int *, void *, Location *)>(cuda + "MemPoolGetAccess");
  const auto access = [&](int device) {
    Location location = {1, device};
    int flags = -1;
    EXPECT_EQ(get(&flags, pool_, &location), 0);
    return flags;
  };
  EXPECT_EQ(access(0), 3);
  EXPECT_EQ(access(1), 0);
  Expected expected = {{1, 1}, 3};
  SIM_OK(set(pool_, &expected, 1));
  EXPECT_EQ(access(1), 3);
  for (const Expected &wrong :
       {Expected{{1, 0}, 0}, Expected{{1, 1}, 2}, Expected{{1, 7}, 3}, Expected{{2, 1}, 3}}) {
    EXPECT_EQ(set(pool_, &wrong, 1), 1);
  }
  EXPECT_EQ(set(pool_, nullptr, 1), 1);
  EXPECT_EQ(access(1), 3);
  driver_.set("DEVICES", "1");
}

TEST_P(SimPool, AnotherStreamWaitsForMemoryThatIsBeingFreed) {
  prepare("lazy");
  uint64_t a = 0, b = 0;
  uint32_t word = 0;
  SIM_OK(driver_.alloc_async(&a, 900000, streams_[0]));
  SIM_OK(driver_.fill32(a, 1, 1, streams_[0]));
  SIM_OK(driver_.free_async(a, streams_[0]));
  EXPECT_EQ(driver_.alloc_async(&b, 1100000, streams_[1]), 2);
  SIM_OK(driver_.alloc_async(&b, 900000, streams_[1]));
  SIM_OK(driver_.fill32(b, 2, 1, streams_[1]));
  SIM_OK(driver_.to_host(&word, b, 4, streams_[1]));
  SIM_OK(driver_.stream_sync(streams_[1]));
  EXPECT_EQ(word, 2u);
  EXPECT_EQ(driver_.stream_query(streams_[0]), 0) << "ran before";
}

TEST_P(SimPool, UseBeforeTheAllocationRan) {
  prepare("lazy");
  uint64_t a = 0;
  SIM_OK(driver_.alloc_async(&a, 64, streams_[0]));
  SIM_OK(driver_.fill32(a, 1, 16, streams_[1]));
  EXPECT_EQ(driver_.stream_sync(streams_[1]), 700);
  EXPECT_NE(driver_.violation(0).find("yet to allocate"), std::string::npos)
      << driver_.violation(0);
  driver_.clear_violations();
}

TEST_P(SimPool, UseBehindTheFree) {
  prepare("eager");
  uint64_t a = 0;
  char byte = 0;
  SIM_OK(driver_.alloc_async(&a, 64, streams_[0]));
  SIM_OK(driver_.stream_sync(streams_[0]));
  SIM_OK(driver_.free_async(a, streams_[0]));
  EXPECT_EQ(driver_.free_async(a, streams_[0]), 1) << "twice";
  SIM_OK(driver_.stream_sync(streams_[0]));
  EXPECT_EQ(driver_.to_host(&byte, a, 1, streams_[0]), 1);
}

SIM_BOTH(SimPool);

}  // namespace

}  // namespace sim_test

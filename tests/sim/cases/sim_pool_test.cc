// SPDX-License-Identifier: Apache-2.0
// Tests stream-ordered memory: what pools reserve and release, and invalid uses of memory by
// streams that do not wait for the allocating stream.
#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
// Tests the memory pool with a fake driver. The test decides when queued work of the driver is
// complete. No allocation may return memory that another stream still uses.
#include "backends/gpu/runtime/memory_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <random>

#include "backends/gpu/runtime/gpu_device.h"
#include "tests/support/fresh_error.h"
#include "tests/unit/gpu/fake_driver.h"

namespace gufunc::gpu {
namespace {

const guf_host_api *malloc_host() {
  static constexpr guf_host_api kHost = {
      sizeof(guf_host_api),
      GUF_BACKEND_ABI_MINOR,
      nullptr,
      [](void *, int32_t, const char *) {},
      [](void *, size_t size, size_t alignment) {
        return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
      },
      [](void *, void *memory) { std::free(memory); },
      [](void *, const char *) -> const char * { return nullptr; }};
  return &kHost;
}

const Vendor kNoVendor = {"fake", "0", nullptr, nullptr, nullptr, nullptr};

// A fixture with one device of the fake driver and any number of streams.
class Pool : public testing::TestWithParam<bool> {
 protected:
  void open() {
    set_host(malloc_host());
    driver.with_pools = GetParam();
    DeviceProperties properties = {};
    properties.memory_bytes = uint64_t{1} << 30;
    properties.pools = true;
    device = std::make_unique<Device>(driver, kNoVendor, properties, Context{nullptr, 0, false});
    ASSERT_EQ(device->start(nullptr), GUF_OK);
  }
  void TearDown() override {
    for (Stream *const stream : streams) device->close_stream(*stream);
    device->close();
    EXPECT_EQ(driver.used, 0u);
    EXPECT_TRUE(driver.live.empty());
  }
  Stream &add_stream() {
    Native native = nullptr;
    driver.stream_open(&native);
    Stream *stream = nullptr;
    EXPECT_EQ(device->open_stream(native, true, &stream, nullptr), GUF_OK);
    streams.push_back(stream);
    return *stream;
  }
  MemoryPool &pool() { return device->pool(Backing::kDevice); }
  static FakeStream &fake(Stream &stream) { return *static_cast<FakeStream *>(stream.native()); }

  FakeDriver driver;
  std::unique_ptr<Device> device;
  std::vector<Stream *> streams;
};

TEST(PoolClasses, CoverEverySizeWithLittleWaste) {
  uint64_t last = 0;
  for (int number = 0; number < kPoolClasses; ++number) {
    const uint64_t bytes = class_bytes(number);
    EXPECT_GT(bytes, last);
    EXPECT_EQ(bytes % 128, 0u);
    EXPECT_EQ(pool_class(bytes), number);
    EXPECT_EQ(pool_class(last + 1), number);
    if (number > 0) {
      EXPECT_LE((bytes - last - 1) * 4, last);
    }
    last = bytes;
  }
  EXPECT_EQ(pool_class(0), 0);
  EXPECT_EQ(pool_class(kLargestBlock + 1), -1);
  EXPECT_EQ(block_bytes(kLargestBlock + 1), kLargestBlock + 512);
  EXPECT_EQ(block_bytes(UINT64_MAX), 0u);
}

TEST_P(Pool, OtherStreamsGetMemoryWhenItsFenceIsSignalled) {
  open();
  Stream &a = add_stream(), &b = add_stream();
  Block *block = nullptr;
  ASSERT_EQ(pool().acquire_block(1000, a, &block, nullptr), GUF_OK);
  const uint64_t address = block->address;
  fake(a).queued = 1;  // stream `a` uses the block
  pool().release_block(block, a);
  ASSERT_EQ(pool().acquire_block(1000, b, &block, nullptr), GUF_OK);
  EXPECT_NE(block->address, address);
  EXPECT_EQ(driver.syncs, 0u);
  Block *other = nullptr;
  ASSERT_EQ(pool().acquire_block(1000, b, &other, nullptr), GUF_OK);
  EXPECT_NE(other->address, address);
  fake(a).done = 1;
  Block *third = nullptr;
  ASSERT_EQ(pool().acquire_block(1000, b, &third, nullptr), GUF_OK);
  EXPECT_EQ(third->address, address);
  for (Block *const used : {block, other, third}) pool().release_block(used, b);
}

TEST_P(Pool, ACapturedStreamCannotAllocateAndKeepsFreedMemory) {
  open();
  Stream &a = add_stream();
  Block *block = nullptr;
  ASSERT_EQ(pool().acquire_block(1000, a, &block, nullptr), GUF_OK);
  const uint64_t address = block->address;
  fake(a).capturing = true;
  pool().release_block(block, a);
  Block *none = nullptr;
  EXPECT_EQ(pool().acquire_block(1000, a, &none, nullptr), GUF_E_CAPTURE);
  fake(a).capturing = false;
  ASSERT_EQ(pool().acquire_block(1000, a, &block, nullptr), GUF_OK);
  EXPECT_NE(block->address, address);
  pool().release_block(block, a);
  pool().release_captured(pool().take_captured(a), a);
}

TEST_P(Pool, RepeatedQueriesRunOnce) {
  open();
  Stream &a = add_stream();
  driver.fail_next = kFakeNoMemory;
  Block *block = nullptr;
  ASSERT_EQ(pool().acquire_block(1000, a, &block, nullptr), GUF_OK);
  EXPECT_EQ(driver.requested, 2u);
  pool().release_block(block, a);
  driver.capacity = 0;
  driver.requested = 0;
  guf_error error = fresh_error();
  EXPECT_EQ(pool().acquire_block(1 << 20, a, &block, &error), GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(error.native_code, kFakeNoMemory);
  EXPECT_EQ(driver.requested, 2u);
}

TEST_P(Pool, CachesNothingWhereToolsLookForTheEndsOfBlocks) {
  open();
  pool().disable_cache();
  Stream &a = add_stream(), &b = add_stream();
  const uint64_t before = driver.used;
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{1000}, uint64_t{65} << 20}) {
    Block *block = nullptr, *again = nullptr;
    ASSERT_EQ(pool().acquire_block(bytes, a, &block, nullptr), GUF_OK);
    const uint64_t address = block->address;
    EXPECT_EQ(driver.sizes[address], bytes);
    pool().release_block(block, a);
    ASSERT_EQ(pool().acquire_block(bytes, b, &again, nullptr), GUF_OK);
    EXPECT_FALSE(driver.live.contains(address)) << "returned to the driver";
    pool().release_block(again, b);
  }
  uint64_t address = 0;
  ASSERT_EQ(pool().allocate(0, &a, &address, nullptr), GUF_OK);
  EXPECT_EQ(driver.sizes[address], 1u);
  EXPECT_EQ(pool().release(address, 0, &a, nullptr), GUF_OK);
  EXPECT_EQ(pool().trim(0, nullptr), GUF_OK);
  EXPECT_EQ(driver.used, before);
}

TEST_P(Pool, FreeingByAddressRequiresAnAllocation) {
  open();
  std::vector<uint64_t> addresses(5000);
  for (uint64_t &address : addresses) {
    ASSERT_EQ(pool().allocate(1000, nullptr, &address, nullptr), GUF_OK);
  }
  const uint64_t live = pool().statistics().live_bytes;
  EXPECT_EQ(pool().release(addresses[0] + 8, 1000, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(pool().release(addresses[0], 5000, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(pool().statistics().live_bytes, live);
  std::shuffle(addresses.begin(), addresses.end(), std::mt19937(3));
  for (const uint64_t address : addresses) {
    ASSERT_EQ(pool().release(address, 1000, nullptr, nullptr), GUF_OK);
    ASSERT_EQ(pool().release(address, 1000, nullptr, nullptr), GUF_E_ARG);  // double release
  }
  EXPECT_EQ(pool().statistics().live_bytes, 0u);
}

// If this many released bytes are pending behind fences, an allocation on the default stream waits.
constexpr uint64_t kTooMany = uint64_t{60} << 20;

TEST_P(Pool, OthersGoOnWhileOneWaits) {
  open();
  Stream &a = add_stream();
  uint64_t first = 0, second = 0, third = 0;
  ASSERT_EQ(pool().allocate(kTooMany, nullptr, &first, nullptr), GUF_OK);
  ASSERT_EQ(pool().allocate(kTooMany, nullptr, &second, nullptr), GUF_OK);
  fake(device->default_stream()).queued = 1;
  for (const uint64_t address : {first, second}) {
    ASSERT_EQ(pool().release(address, kTooMany, nullptr, nullptr), GUF_OK);
  }
  // An allocation on a stream does not wait for other streams, even if many bytes are pending
  // behind fences.
  Block *block = nullptr;
  ASSERT_EQ(pool().acquire_block(kTooMany, a, &block, nullptr), GUF_OK);
  EXPECT_EQ(driver.syncs, 0u);
  pool().release_block(block, a);
  bool went_on = false;
  driver.while_waiting = [&] {
    const auto other = std::async(std::launch::async, [&] {
      Block *taken = nullptr;
      EXPECT_EQ(pool().acquire_block(1 << 20, a, &taken, nullptr), GUF_OK);
      pool().release_block(taken, a);
    });
    went_on = other.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    if (!went_on) std::abort();  // the other thread waits for a lock of this thread
  };
  ASSERT_EQ(pool().allocate(kTooMany - (4 << 20), nullptr, &third, nullptr), GUF_OK);
  driver.while_waiting = nullptr;
  EXPECT_EQ(driver.syncs, 1u);
  EXPECT_TRUE(went_on);
  ASSERT_EQ(pool().release(third, kTooMany - (4 << 20), nullptr, nullptr), GUF_OK);
}

TEST_P(Pool, ATrimKeepsSoMuchInAll) {
  open();
  Stream &a = add_stream();
  for (const uint64_t bytes : {1 << 20, 2 << 20, 4 << 20}) {
    Block *block = nullptr;
    ASSERT_EQ(pool().acquire_block(bytes, a, &block, nullptr), GUF_OK);
    pool().release_block(block, a);
  }
  for (const uint64_t keep : {uint64_t{8} << 20, uint64_t{6} << 20, uint64_t{0}}) {
    EXPECT_EQ(pool().trim(keep, nullptr), GUF_OK);
    EXPECT_LE(pool().statistics().cached_bytes + driver.kept, keep);
  }
}

// Runs random operations. An address has one owner at a time, and passes to another stream only
// after the work that was queued before its release is complete.
TEST_P(Pool, NoStreamGetsMemoryInUse) {
  open();
  driver.capacity = uint64_t{64} << 20;
  std::mt19937 random(7);
  const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  for (int i = 0; i < 4; ++i) add_stream();
  struct Held {
    Block *block;
    Stream *stream;
  };
  struct Freed {
    Stream *stream;
    uint64_t queued;
  };
  std::vector<Held> held;
  std::map<uint64_t, Freed> freed;
  int reused = 0, passed = 0;
  for (int step = 0; step < 60000; ++step) {
    Stream &stream = *streams[draw(4)];
    FakeStream &state = fake(stream);
    switch (draw(4)) {
      case 0:
        ++state.queued;
        break;
      case 1:
        state.done += draw(static_cast<uint32_t>(state.queued - state.done) + 1);
        break;
      case 2: {
        Block *block = nullptr;
        const uint64_t bytes = draw(16) == 0 ? (65u << 20) : 1u << draw(22);
        if (pool().acquire_block(bytes, stream, &block, nullptr) != GUF_OK) break;
        ASSERT_GE(block->bytes, bytes);
        if (const auto found = freed.find(block->address); found != freed.end()) {
          ++reused;
          const Freed &before = found->second;
          if (before.stream != &stream) {
            ++passed;
            ASSERT_GE(fake(*before.stream).done, before.queued) << "step " << step;
          }
          freed.erase(found);
        }
        for (const Held &other : held) ASSERT_NE(other.block->address, block->address);
        held.push_back({block, &stream});
        break;
      }
      default:
        if (held.empty()) break;
        const size_t index = draw(static_cast<uint32_t>(held.size()));
        const Held gone = held[index];
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
        freed[gone.block->address] = {gone.stream, fake(*gone.stream).queued};
        pool().release_block(gone.block, *gone.stream);
    }
  }
  for (const Held &rest : held) pool().release_block(rest.block, *rest.stream);
  EXPECT_GT(reused, 5000);
  EXPECT_GT(passed, 100);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTheDriversPools, Pool, testing::Bool());

}  // namespace
}  // namespace gufunc::gpu

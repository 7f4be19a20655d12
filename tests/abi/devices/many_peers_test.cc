// SPDX-License-Identifier: Apache-2.0
// Tests eight devices of each vendor. A process can open at most 16 devices of all vendors
// together. Arrays are copied from device to device, and calls run on all devices at the same time.
#include <cmath>
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;

class ManyPeers : public Devices {
 protected:
  const int count_ = 8;
};

TEST_P(ManyPeers, PassAnArrayAround) {
  for (const bool streams : {false, true}) {
    guf_array travelling = filled(device(0), 500, 1);
    guf_stream current = streams ? stream(device(0)) : nullptr;
    for (int hop = 1; hop <= 2 * count_; ++hop) {
      const guf_device next = device(hop % count_);
      guf_array moved = nullptr;
      ASSERT_EQ(guf_array_to_device(travelling, next, current, &moved, &error_), GUF_OK)
          << error_.message;
      keep(moved);
      let_go(travelling);
      if (streams) {
        // The stream of the next device waits for the copy.
        const guf_event sent = event(device((hop - 1) % count_));
        const guf_stream later = stream(next);
        ASSERT_EQ(guf_event_record(sent, current, &error_), GUF_OK) << error_.message;
        ASSERT_EQ(guf_stream_wait_event(later, sent, &error_), GUF_OK) << error_.message;
        current = later;
      }
      ASSERT_EQ(call("add", {operand_of(moved), operand_of(moved)}, operand_of(moved), current),
                GUF_OK)
          << error_.message;
      travelling = moved;
    }
    if (streams) synchronize(current);
    EXPECT_THAT(values(travelling), Each(std::ldexp(1.0F, 2 * count_)));
  }
}

TEST_P(ManyPeers, SendToAllFromAll) {
  std::vector<guf_array> mine, sums;
  for (int i = 0; i < count_; ++i) {
    mine.push_back(filled(device(i), 300, static_cast<float>(1 << i)));
    sums.push_back(filled(device(i), 300, 0));
  }
  for (int to = 0; to < count_; ++to) {
    for (int from = 0; from < count_; ++from) {
      guf_array brought = nullptr;
      ASSERT_EQ(guf_array_to_device(mine[static_cast<size_t>(from)], device(to), nullptr, &brought,
                                    &error_),
                GUF_OK)
          << error_.message;
      const guf_array sum = sums[static_cast<size_t>(to)];
      ASSERT_EQ(call("add", {operand_of(sum), operand_of(brought)}, operand_of(sum), nullptr),
                GUF_OK)
          << error_.message;
      guf_array_release(brought, nullptr);
    }
  }
  for (const guf_array sum : sums) EXPECT_THAT(values(sum), Each(std::ldexp(1.0F, count_) - 1));
}

TEST_P(ManyPeers, ThreadsShareThem) {
  std::vector<std::thread> threads;
  std::vector<guf_array> from, to;
  for (int i = 0; i < 4; ++i) {
    from.push_back(filled(device(i), 400, static_cast<float>(i)));
    to.push_back(filled(device(count_ - 1 - i), 400, -1));
  }
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      guf_error error = fresh_error();
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(guf_array_assign(to[t], from[t], 0, nullptr, &error), GUF_OK) << error.message;
        EXPECT_EQ(guf_array_assign(from[t], to[t], 0, nullptr, &error), GUF_OK) << error.message;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_THAT(values(to[t]), Each(static_cast<float>(t)));
    EXPECT_THAT(values(from[t]), Each(static_cast<float>(t)));
  }
}

INSTANTIATE_TEST_SUITE_P(On, ManyPeers, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

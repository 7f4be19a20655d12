// SPDX-License-Identifier: Apache-2.0
// Tests copies between two GPUs with every layout, cast and stream. A copy between two GPUs of one
// backend does not pass through host memory.
#include <numeric>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

class PeerCopies : public Devices {
 protected:
  void SetUp() override {
    NEEDS_SIM();
    second_ = device(1);
    x_ = floats(first_, count_up(1000));
    y_ = filled(second_, 1000, 0);
  }
  uint64_t peer_calls() const {
    return sim().calls(backend_ == "cuda" ? "cuMemcpyPeerAsync" : "hipMemcpyPeerAsync");
  }
  // Returns the number of driver calls that copy between host and device. Copies of ordinary host
  // memory also use these calls, with page-locked staging memory.
  uint64_t host_copies() const {
    const bool cuda = backend_ == "cuda";
    return sim().calls(cuda ? "cuMemcpyDtoHAsync_v2" : "hipMemcpyDtoHAsync") +
           sim().calls(cuda ? "cuMemcpyHtoDAsync_v2" : "hipMemcpyHtoDAsync");
  }
  std::vector<float> count_up(size_t size) {
    std::vector<float> values(size);
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
  }
  void assign(guf_array to, guf_array from, guf_stream stream, int32_t casting = 0) {
    EXPECT_EQ(guf_array_assign(to, from, casting, stream, &error_), GUF_OK) << error_.message;
  }

  const guf_device first_ = device(0);
  guf_device second_ = nullptr;
  guf_array x_ = nullptr, y_ = nullptr;
};

TEST_P(PeerCopies, DoWithoutTheHost) {
  EXPECT_EQ(guf_device_synchronize(second_, UINT64_MAX, &error_), GUF_OK);
  const uint64_t peers = peer_calls(), hosts = host_copies();
  assign(y_, x_, nullptr);
  EXPECT_EQ(peer_calls(), peers + 1);
  EXPECT_EQ(host_copies(), hosts);
  EXPECT_THAT(values(y_), ElementsAreArray(count_up(1000)));
}

TEST_P(PeerCopies, IntoANewArray) {
  guf_array moved = nullptr;
  ASSERT_EQ(guf_array_to_device(x_, second_, nullptr, &moved, &error_), GUF_OK) << error_.message;
  keep(moved);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(moved, &info, &error_), GUF_OK);
  EXPECT_EQ(info.device, second_);
  EXPECT_THAT(values(moved), ElementsAreArray(count_up(1000)));
}

// A copy between two devices runs after the earlier work of both devices, and before the later work
// of both devices.
TEST_P(PeerCopies, KeepTheOrderOfBothDevices) {
  const std::vector<guf_stream> streams = {nullptr, stream(first_), stream(second_)};
  for (const guf_stream stream : streams) {
    guf_device of = nullptr;
    if (stream != nullptr) guf_stream_get_device(stream, &of, nullptr);
    const guf_stream here = of == first_ ? stream : nullptr,
                     there = of == second_ ? stream : nullptr;
    for (int round = 0; round < 5; ++round) {
      const auto number = static_cast<float>(round + 1);
      const guf_operand before = scalar_of(number), after = scalar_of(-1);
      EXPECT_EQ(guf_array_fill(x_, &before, here, &error_), GUF_OK) << error_.message;
      EXPECT_EQ(guf_array_fill(y_, &after, there, &error_), GUF_OK) << error_.message;
      assign(y_, x_, stream);
      EXPECT_EQ(guf_array_fill(x_, &after, here, &error_), GUF_OK) << error_.message;
      EXPECT_EQ(call("multiply", {operand_of(y_), scalar_of(10)}, operand_of(y_), there), GUF_OK)
          << error_.message;
    }
    if (stream != nullptr) synchronize(stream);
    for (const guf_device one : {first_, second_}) {
      EXPECT_EQ(guf_device_synchronize(one, UINT64_MAX, &error_), GUF_OK) << error_.message;
    }
    EXPECT_THAT(values(y_), Each(50.0F));
    EXPECT_THAT(values(x_), Each(-1.0F));
  }
}

TEST_P(PeerCopies, PackAndUnpack) {
  const guf_array backwards = view(x_, -1, -1), every_third = view(x_, 0, 3);
  const guf_array to_backwards = view(y_, -1, -1), to_third = view(y_, 0, 3);
  for (const guf_stream stream : {guf_stream{}, stream(first_), stream(second_)}) {
    assign(y_, backwards, stream);
    assign(to_third, every_third, stream);
    if (stream != nullptr) synchronize(stream);
    std::vector<float> expected(1000);
    for (size_t i = 0; i < 1000; ++i)
      expected[i] = static_cast<float>(i % 3 == 0 ? i + 1 : 1000 - i);
    EXPECT_THAT(values(y_), ElementsAreArray(expected));
    assign(to_backwards, x_, stream);
    if (stream != nullptr) synchronize(stream);
    for (size_t i = 0; i < 1000; ++i) expected[i] = static_cast<float>(1000 - i);
    EXPECT_THAT(values(y_), ElementsAreArray(expected));
  }
}

TEST_P(PeerCopies, CastAndBroadcast) {
  const guf_array one = floats(first_, {2.75F}), wide = empty(second_, {2, 500}, GUF_F64),
                  whole = empty(second_, {1000}, GUF_I32), back = filled(first_, 1000, 0);
  const uint64_t hosts = host_copies();
  assign(y_, one, nullptr);
  assign(whole, x_, nullptr, GUF_CASTING_UNSAFE);
  EXPECT_EQ(host_copies(), hosts);
  EXPECT_THAT(values(y_), Each(2.75F));
  assign(back, whole, nullptr, GUF_CASTING_UNSAFE);
  EXPECT_THAT(values(back), ElementsAreArray(count_up(1000)));
  guf_array row = nullptr;
  const int64_t zero = 0, half = 500, step = 1;
  ASSERT_EQ(guf_array_slice(x_, 1, &zero, &half, &step, &row, &error_), GUF_OK);
  keep(row);
  assign(wide, row, nullptr);
  std::vector<double> doubles(1000);
  EXPECT_EQ(guf_array_copy_to_host(wide, doubles.data(), 8000, GUF_ORDER_C, nullptr, &error_),
            GUF_OK);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(doubles[i], static_cast<double>(i % 500 + 1)) << i;
}

TEST_P(PeerCopies, OfNothing) {
  const guf_array none = empty(first_, {0, 3}), there = empty(second_, {0, 3});
  const uint64_t peers = peer_calls();
  assign(there, none, nullptr);
  assign(there, none, stream(first_));
  EXPECT_EQ(peer_calls(), peers);
}

// The test releases the source, its view and the destination while the copy is queued. The copy
// must keep these arrays and its temporary buffers alive.
TEST_P(PeerCopies, KeepTheirArraysAlive) {
  for (const guf_device of : {first_, second_}) {
    const guf_stream copy_stream = stream(of);
    guf_array kept = nullptr;
    {
      Gate gate(backend_, copy_stream);
      const guf_array from = floats(first_, count_up(1000)), transposed = view(from, -1, -1),
                      to = filled(second_, 2000, 0), odd = view(to, 1, 2);
      assign(odd, transposed, copy_stream);
      for (const guf_array array : {from, transposed, odd}) let_go(array);
      kept = to;
      reuse_memory(of == first_ ? second_ : first_, 1000);
      guf_poll(0, nullptr, nullptr);
    }
    reuse_memory(of, 1000);
    synchronize(copy_stream);
    const std::vector<float> found = values(kept);
    for (size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(found[2 * i + 1], static_cast<float>(1000 - i)) << i;
      ASSERT_EQ(found[2 * i], 0.0F) << i;
    }
  }
}

TEST_P(PeerCopies, KeepTheirArraysAliveWithoutAStream) {
  for (int round = 0; round < 5; ++round) {
    const guf_array from = floats(first_, count_up(1000)), transposed = view(from, -1, -1),
                    to = filled(second_, 2000, 0), odd = view(to, 1, 2);
    assign(odd, transposed, nullptr);
    for (const guf_array array : {from, transposed, odd}) let_go(array);
    reuse_memory(first_, 1000);
    reuse_memory(second_, 1000);
    EXPECT_EQ(values(to)[1], 1000.0F);
    let_go(to);
  }
}

TEST_P(PeerCopies, GoThroughTheHostWhereTheDriverDoesNot) {
  sim().fault(backend_ == "cuda" ? "cuMemcpyPeerAsync:0:217" : "hipMemcpyPeerAsync:0:217");
  const guf_array transposed = view(x_, -1, -1);
  for (const guf_stream stream : {guf_stream{}, stream(first_), stream(second_)}) {
    assign(y_, transposed, stream);
    if (stream != nullptr) synchronize(stream);
    EXPECT_EQ(values(y_)[0], 1000.0F);
    EXPECT_EQ(values(y_)[999], 1.0F);
    assign(y_, x_, nullptr);
  }
  sim().clear_faults();
}

// Makes each driver call of a copy fail once. The copy must report the error, and later copies must
// succeed.
TEST_P(PeerCopies, FailWithoutATrace) {
  const bool cuda = backend_ == "cuda";
  const guf_array transposed = view(x_, -1, -1), odd = view(y_, 1, 2), few = view(transposed, 0, 2);
  const std::vector<std::string> functions =
      cuda ? std::vector<std::string>{"cuMemcpyPeerAsync", "cuLaunchKernel", "cuEventCreate",
                                      "cuEventRecord", "cuStreamWaitEvent"}
           : std::vector<std::string>{"hipMemcpyPeerAsync", "hipModuleLaunchKernel",
                                      "hipEventCreateWithFlags", "hipEventRecord",
                                      "hipStreamWaitEvent"};
  for (const guf_stream stream : {guf_stream{}, stream(first_), stream(second_)}) {
    for (const std::string &function : functions) {
      for (int n = 1; n <= 4; ++n) {
        sim().fault((function + ":" + std::to_string(n) + ":1").c_str());
        const guf_status status = guf_array_assign(odd, few, 0, stream, &error_);
        sim().clear_faults();
        // The memory pool also calls the event functions of the driver, and tolerates their
        // failure.
        const bool pools_too = function.find("Event") != std::string::npos;
        if (n == 1 && !pools_too) {
          EXPECT_NE(status, GUF_OK) << function;
        }
        if (n == 1) reuse_memory(first_, 500);
        if (n == 1) reuse_memory(second_, 500);
        assign(odd, few, stream);
        if (stream != nullptr) synchronize(stream);
        ASSERT_EQ(values(y_)[1], 1000.0F) << function << n;
        ASSERT_EQ(values(y_)[999], 2.0F) << function << n;
      }
    }
  }
}

TEST_P(PeerCopies, StreamsOfNeitherAreRefused) {
  const guf_array here = filled(first_, 1000, 0);
  EXPECT_EQ(guf_array_assign(here, x_, 0, stream(second_), &error_), GUF_E_DEVICE_MISMATCH);
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  EXPECT_EQ(guf_array_assign(y_, x_, 0, stream(cpu), &error_), GUF_E_DEVICE_MISMATCH);
}

INSTANTIATE_TEST_SUITE_P(On, PeerCopies, testing::Values("cuda", "roc"), name_of);

// Copies between devices of different vendors use host memory.
class VendorCopies : public Devices {
 protected:
  void SetUp() override { NEEDS_SIM(); }
};

TEST_P(VendorCopies, GoThroughTheHost) {
  guf_device other = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, backend_ == "cuda" ? "roc:0" : "cuda:0", &other, &error_),
            GUF_OK)
      << error_.message;
  const guf_array x = floats(device(0), {1, 2, 3, 4}), transposed = view(x, -1, -1),
                  y = filled(other, 4, 0);
  for (const guf_stream stream : {guf_stream{}, stream(device(0)), stream(other)}) {
    ASSERT_EQ(guf_array_assign(y, transposed, 0, stream, &error_), GUF_OK) << error_.message;
    if (stream != nullptr) synchronize(stream);
    EXPECT_THAT(values(y), ElementsAre(4, 3, 2, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(On, VendorCopies, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

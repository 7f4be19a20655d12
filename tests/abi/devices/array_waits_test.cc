// SPDX-License-Identifier: Apache-2.0
// Tests that a wait for an array waits for all work that uses the memory of the array, on the
// default stream and on other streams, and for no other work. A read of an array on the host waits
// for the same work.
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;

constexpr int64_t kSize = 500;
constexpr uint64_t kShort = 2'000'000;  // nanoseconds

// Adds 1 to x in place.
guf_status add_one(guf_ufunc add, guf_array x, guf_device device, guf_stream stream,
                   guf_error *error) {
  const guf_operand inputs[] = {operand_of(x), scalar_of(1)};
  guf_operand output = operand_of(x);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  args.outputs = &output;
  args.noutputs = 1;
  args.options.device = device;
  args.options.stream = stream;
  return guf_call(add, &args, error);
}

class ArrayWaits : public Devices {
 protected:
  void increase(guf_array x, guf_stream stream) {
    ASSERT_EQ(add_one(find("add"), x, device_, stream, &error_), GUF_OK) << error_.message;
  }
  guf_status wait(guf_array array, uint64_t timeout_ns = UINT64_MAX) {
    return guf_array_synchronize(array, timeout_ns, &error_);
  }
  // Reads the elements on the host, without an explicit wait before the read.
  std::vector<float> read(guf_array array) {
    std::vector<float> elements(kSize);
    EXPECT_EQ(guf_array_copy_to_host(array, elements.data(), elements.size() * sizeof(float),
                                     GUF_ORDER_C, nullptr, &error_),
              GUF_OK)
        << error_.message;
    return elements;
  }
  // Runs `body`, which waits for the gate, while another thread opens the gate.
  template <class Body>
  void while_it_opens(std::unique_ptr<Gate> gate, const Body &body) {
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.reset();
    });
    body();
    opener.join();
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

TEST_P(ArrayWaits, ForStreamsThatUseIt) {
  const guf_array x = filled(device_, kSize, 1), other = filled(device_, kSize, 5);
  EXPECT_EQ(wait(x), GUF_OK) << error_.message;
  auto gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  if (sim_order() == "eager") {
    EXPECT_EQ(wait(x, 0), GUF_TIMEOUT);
    EXPECT_EQ(wait(x, kShort), GUF_TIMEOUT);
    EXPECT_EQ(wait(view(x, 0, 1), kShort), GUF_TIMEOUT);
  }
  EXPECT_EQ(wait(other), GUF_OK);
  while_it_opens(std::move(gate), [&] { EXPECT_EQ(wait(x), GUF_OK) << error_.message; });
}

TEST_P(ArrayWaits, BeforeTheHostReads) {
  const guf_array x = filled(device_, kSize, 1);
  auto gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] { EXPECT_THAT(read(x), Each(2.0F)); });
  gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] {
    guf_array here = nullptr;
    ASSERT_EQ(guf_array_to_device(x, nullptr, nullptr, &here, &error_), GUF_OK) << error_.message;
    EXPECT_THAT(read(keep(here)), Each(3.0F));
  });
  gate = std::make_unique<Gate>(backend_, stream_);
  increase(x, stream_);
  while_it_opens(std::move(gate), [&] {
    char text[4096];
    uint64_t length = sizeof text;
    ASSERT_EQ(guf_array_print(x, text, &length, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(std::string(text).substr(0, 4), "[4. ") << text;
  });
}

TEST_P(ArrayWaits, OfHostMemoryThatTheDeviceWrites) {
  for (const guf_stream stream : {stream_, guf_stream{nullptr}}) {
    guf_array mapped = nullptr;
    ASSERT_EQ(guf_array_alloc_host(device_, GUF_HOST_MAPPED, GUF_F32, 1, &kSize, nullptr,
                                   GUF_ORDER_C, &mapped, &error_),
              GUF_OK)
        << error_.message;
    const guf_operand one = scalar_of(1);
    ASSERT_EQ(guf_array_fill(keep(mapped), &one, nullptr, &error_), GUF_OK);
    ASSERT_EQ(add_one(find("add"), mapped, device_, stream, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(wait(mapped), GUF_OK) << error_.message;
    guf_array_info info = {};
    info.struct_size = sizeof info;
    guf_array_get_info(mapped, &info, nullptr);
    const auto *const first = reinterpret_cast<const float *>(info.address);
    EXPECT_THAT(std::vector<float>(first, first + kSize), Each(2.0F));
  }
}

TEST_P(ArrayWaits, LeaveAFailureToItsStream) {
  guf_error error = {};
  error.struct_size = sizeof error;
  const int64_t size = 3;
  guf_array powers = nullptr;
  ASSERT_EQ(guf_array_alloc(device_, GUF_I32, 1, &size, nullptr, GUF_ORDER_C, &powers, &error_),
            GUF_OK);
  guf_operand minus = {};
  minus.kind = GUF_OPERAND_WEAK_INT;
  minus.value[0] = static_cast<uint64_t>(int64_t{-1});
  ASSERT_EQ(guf_array_fill(keep(powers), &minus, nullptr, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
  ASSERT_EQ(call("power", {operand_of(powers), operand_of(powers)}, operand_of(powers), stream_),
            GUF_OK)
      << error_.message;
  EXPECT_EQ(wait(powers), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, &error), GUF_E_VALUE);
}

// A read of a cpu array on the host waits for the queued work of a stream that uses the array.
TEST(ArrayWaitsOfTheCpu, ForItsStreams) {
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  guf_array x = nullptr;
  guf_ufunc add = nullptr;
  const int64_t size = 1 << 20;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK);
  ASSERT_EQ(guf_array_alloc(cpu, GUF_F32, 1, &size, nullptr, GUF_ORDER_C, &x, &error), GUF_OK);
  const guf_operand start = scalar_of(0);
  ASSERT_EQ(guf_array_fill(x, &start, nullptr, &error), GUF_OK);
  ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, &error), GUF_OK);
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(add_one(add, x, cpu, stream, &error), GUF_OK) << error.message;
  }
  std::vector<float> elements(static_cast<size_t>(size));
  EXPECT_EQ(guf_array_copy_to_host(x, elements.data(), elements.size() * sizeof(float), GUF_ORDER_C,
                                   nullptr, &error),
            GUF_OK);
  EXPECT_THAT(elements, Each(static_cast<float>(kRounds)));
  guf_ufunc_release(add, nullptr);
  guf_array_release(x, nullptr);
  guf_stream_release(stream, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, ArrayWaits, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

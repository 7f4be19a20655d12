// SPDX-License-Identifier: Apache-2.0
// Tests devices that use a context of the program. A process can open a device only once, so each
// test uses different devices.
#include <dlfcn.h>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class AdoptedContext : public Devices {
 protected:
  static constexpr const char *kCreate = "cuCtxCreate_v2";

  void SetUp() override { device(0); }  // opening device 0 initializes the driver

  template <class Function>
  Function driver(const char *name) const {
    const auto found = reinterpret_cast<Function>(dlsym(sim().library, name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  std::string spec(int index) const { return backend_ + ":" + std::to_string(index); }
  guf_status adopt(const std::string &spec, uint64_t native, guf_device *out) {
    error_ = fresh_error();
    return guf_device_adopt(spec.c_str(), native, out, &error_);
  }
  // Makes a context in the same way as a program. The context is not current on any thread.
  uint64_t context(int index) {
    void *made = nullptr, *popped = nullptr;
    EXPECT_EQ((driver<int (*)(void **, unsigned, int)>(kCreate)(&made, 0, index)), 0);
    EXPECT_EQ((driver<int (*)(void **)>("cuCtxPopCurrent_v2")(&popped)), 0);
    EXPECT_EQ(popped, made);
    return reinterpret_cast<uint64_t>(made);
  }
  uint64_t primary(int index) {
    void *found = nullptr;
    EXPECT_EQ((driver<int (*)(void **, int)>("cuDevicePrimaryCtxRetain")(&found, index)), 0);
    EXPECT_EQ((driver<int (*)(int)>("cuDevicePrimaryCtxRelease_v2")(index)), 0);
    return reinterpret_cast<uint64_t>(found);
  }
  uint64_t current() {
    void *found = nullptr;
    EXPECT_EQ((driver<int (*)(void **)>("cuCtxGetCurrent")(&found)), 0);
    return reinterpret_cast<uint64_t>(found);
  }
  // Makes a stream in the context in the same way as a program.
  uint64_t stream_in(uint64_t native) {
    void *made = nullptr, *popped = nullptr;
    EXPECT_EQ((driver<int (*)(void *)>("cuCtxPushCurrent_v2")(reinterpret_cast<void *>(native))),
              0);
    EXPECT_EQ((driver<int (*)(void **, unsigned, int)>("cuStreamCreateWithPriority")(&made, 1, 0)),
              0);
    EXPECT_EQ((driver<int (*)(void **)>("cuCtxPopCurrent_v2")(&popped)), 0);
    return reinterpret_cast<uint64_t>(made);
  }
};

TEST_P(AdoptedContext, CarriesTheWorkOfTheDevice) {
  if (backend_ != "cuda") GTEST_SKIP() << "HIP has no contexts";
  const uint64_t native = context(1), retained = sim().live("context");
  guf_device there = nullptr, again = nullptr;
  ASSERT_EQ(adopt(spec(1), native, &there), GUF_OK) << error_.message;
  EXPECT_EQ(sim().live("context"), retained);  // no primary context was retained
  EXPECT_EQ(current(), 0U);
  EXPECT_EQ(device(1), there);
  EXPECT_EQ(adopt(spec(1), native, &again), GUF_OK) << error_.message;
  EXPECT_EQ(again, there);
  const guf_array x = filled(there, 1000, 4);
  guf_stream adopted = nullptr;
  ASSERT_EQ(guf_stream_adopt(there, stream_in(native), 0, &adopted, &error_), GUF_OK)
      << error_.message;
  streams_.push_back(adopted);
  for (const guf_stream on : {adopted, stream(there)}) {
    EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, operand_of(x), on), GUF_OK)
        << error_.message;
    synchronize(on);
  }
  EXPECT_THAT(values(x), Each(16.0F));
  EXPECT_EQ(current(), 0U);
  guf_stream foreign = nullptr;
  EXPECT_EQ(guf_stream_adopt(there, stream_in(primary(0)), 0, &foreign, &error_),
            GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(adopt(spec(1), context(1), &again), GUF_E_EXISTS);
  EXPECT_THAT(error_.message, HasSubstr("is open already, over the context"));
}

TEST_P(AdoptedContext, OfAnOpenDeviceIsItsOwnOrRefused) {
  guf_device found = nullptr;
  if (backend_ != "cuda") {
    EXPECT_EQ(adopt(spec(0), 4096, &found), GUF_E_UNSUPPORTED);
    EXPECT_THAT(error_.message, HasSubstr("has no context"));
    EXPECT_EQ(found, nullptr);
    return;
  }
  EXPECT_EQ(adopt(spec(0), primary(0), &found), GUF_OK) << error_.message;
  EXPECT_EQ(found, device(0));
  found = nullptr;
  EXPECT_EQ(adopt(spec(0), context(0), &found), GUF_E_EXISTS);
  EXPECT_EQ(found, nullptr);
}

// If a context is rejected, the device can still be opened without a context of the program.
TEST_P(AdoptedContext, WrongOnesOpenNothing) {
  guf_device found = nullptr;
  if (backend_ != "cuda") {
    EXPECT_EQ(adopt(spec(2), 4096, &found), GUF_E_UNSUPPORTED) << error_.message;
    EXPECT_EQ(error_.native_code, 801);
  } else {
    EXPECT_EQ(adopt(spec(2), context(3), &found), GUF_E_HANDLE) << error_.message;
    EXPECT_EQ(error_.native_code, 201);
    const uint64_t dead = context(2);
    ASSERT_EQ((driver<int (*)(void *)>("cuCtxDestroy_v2")(reinterpret_cast<void *>(dead))), 0);
    EXPECT_EQ(adopt(spec(2), dead, &found), GUF_E_HANDLE) << error_.message;
    sim().fault("cuCtxPushCurrent_v2:1:709");
    EXPECT_EQ(adopt(spec(2), context(2), &found), GUF_E_HANDLE) << error_.message;
    EXPECT_EQ(error_.native_code, 709);
  }
  EXPECT_EQ(found, nullptr);
  EXPECT_THAT(values(filled(device(2), 100, 1)), Each(1.0F));
}

TEST_P(AdoptedContext, Arguments) {
  guf_device found = nullptr;
  EXPECT_EQ(guf_device_adopt(nullptr, 1, &found, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_device_adopt("cuda:1", 1, nullptr, &error_), GUF_E_ARG);
  EXPECT_EQ(adopt(spec(0), 0, &found), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("native: expected a context"));
  for (const char *const bad : {"auto", "", "cuda:", "cuda:x"}) {
    EXPECT_EQ(adopt(bad, 1, &found), GUF_E_ARG) << bad;
  }
  EXPECT_EQ(adopt("nobody:0", 1, &found), GUF_E_NO_BACKEND);
  EXPECT_EQ(adopt(spec(77), 1, &found), GUF_E_NO_DEVICE);
  EXPECT_EQ(adopt("cpu", 1, &found), GUF_E_UNSUPPORTED);
  EXPECT_EQ(found, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, AdoptedContext, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

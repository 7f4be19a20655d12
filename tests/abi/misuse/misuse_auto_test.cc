// SPDX-License-Identifier: Apache-2.0
// Passes the handle of device "auto" as every parameter and every struct field that is a device.
// The result must be the same as for the handle of an ordinary device, and never GUF_E_HANDLE.
#include <gmock/gmock.h>

#include <cstring>

#include "misuse_fixture.h"

namespace misuse {
namespace {

class MisuseAuto : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(guf_device_get(nullptr, "auto", &auto_, nullptr), GUF_OK);
    ASSERT_NE(reinterpret_cast<uint64_t>(auto_), fixture_.live(kDevice));
  }
  void run(const Function &function, const Words &words, const std::string &what) {
    fixture_.prepare(function, words);
    const guf_status status = function.call(words);
    EXPECT_EQ(fixture_.good_statuses(function).count(status), 1U)
        << function.name << ", " << what << ": " << guf_status_name(status) << ", "
        << (status == GUF_OK ? "" : fixture_.error()->message);
    if (status == GUF_OK) fixture_.finish_call(function, words, status);
    ++cases_;
  }
  void run_fields(const Function &function, size_t index) {
    const Struct &structure = fixture_.structure(function.parameters[index].structure);
    for (const Field &field : structure.fields) {
      if (field.kind != Class::kHandle || field.handle != kDevice) continue;
      Words words = fixture_.good(function);
      unsigned char *const buffer = fixture_.struct_buffer(structure.name);
      std::memcpy(buffer + field.offset, &auto_, sizeof auto_);
      words[index] = reinterpret_cast<uint64_t>(buffer);
      run(function, words, std::string(structure.name) + "." + field.name);
    }
  }

  Fixture &fixture_ = Fixture::shared();
  guf_device auto_ = nullptr;
  size_t cases_ = 0;
};

TEST_F(MisuseAuto, IsADeviceToEveryParameter) {
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const Parameter &parameter = function.parameters[i];
      if (parameter.kind != Class::kHandle || parameter.handle != kDevice) continue;
      Words words = fixture_.good(function);
      words[i] = reinterpret_cast<uint64_t>(auto_);
      run(function, words, parameter.name);
    }
  }
  EXPECT_GE(cases_, 18U);
}

TEST_F(MisuseAuto, IsADeviceToEveryField) {
  for (const Function &function : kFunctions) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      if (function.parameters[i].kind == Class::kStructIn) run_fields(function, i);
    }
  }
  EXPECT_GE(cases_, 10U);
}

}  // namespace
}  // namespace misuse

// SPDX-License-Identifier: Apache-2.0
// Common code for tests of calls on null devices: access to the plugin's script, to devices and to
// arrays. The process crashes if the host accesses the memory of device 2 or 3.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_FIXTURE_H
#define GUFUNC_TESTS_PLUGINS_NULL_FIXTURE_H

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <utility>
#include <vector>

#include "tests/plugins/null_control.h"
#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

constexpr char kNullPlugin[] = GUFUNC_TEST_PLUGINS "/null/libgufunc_backend_null.so";

inline const null_control &control() {
  static const null_control *const table = [] {
    void *const library = dlopen(kNullPlugin, RTLD_NOW | RTLD_LOCAL);
    const auto open =
        reinterpret_cast<guf_backend_open_fn>(dlsym(library, "gufunc_backend_open_v1"));
    guf_backend_api api = {};
    guf_error error = fresh_error();
    const void *found = nullptr;
    EXPECT_EQ(open(nullptr, 0, &api, &error), GUF_OK);
    EXPECT_EQ(api.extension("null.control", 1, &found, &error), GUF_OK);
    return static_cast<const null_control *>(found);
  }();
  return *table;
}

inline guf_device find_device(const char *spec) {
  guf_device device = nullptr;
  guf_error error = fresh_error();
  EXPECT_EQ(guf_device_get(nullptr, spec, &device, &error), GUF_OK) << error.message;
  return device;
}

class NullDevices : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // The test suites of a program share the plugin and its devices.
    static bool ready = false;
    if (std::exchange(ready, true)) return;
    guf_error error = fresh_error();
    ASSERT_EQ(guf_backend_load(kNullPlugin, &error), GUF_OK) << error.message;
    control().script("devices=4");
    find_device("null:0");
    find_device("null:1");
    control().script("host_memory=0");
    find_device("null:2");
    find_device("null:3");
  }
  void SetUp() override {
    control().reset();
    ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add_, &error_), GUF_OK) << error_.message;
  }
  void TearDown() override {
    control().reset();
    for (const guf_array array : arrays_) guf_array_release(array, nullptr);
    guf_ufunc_release(add_, nullptr);
    guf_poll(0, nullptr, nullptr);
  }

  // Makes an operand over floats that the test owns.
  guf_operand view(const std::vector<float> &values, std::vector<int64_t> shape,
                   std::vector<int64_t> strides = {}, int64_t first = 0) {
    return *operands_.tensor(
        {GUF_F32, values.data() + first, std::move(shape), std::move(strides), 0});
  }
  guf_array keep(guf_array array) {
    arrays_.push_back(array);
    return array;
  }
  // Returns a one-dimensional array on a device. The values are copied from the cpu.
  template <class T>
  guf_array make(guf_device device, guf_dtype dtype, std::vector<T> values) {
    const guf_tensor *const tensor = operands_.tensor(gufunc::view(dtype, values))->tensor;
    guf_array host = nullptr, moved = nullptr;
    EXPECT_EQ(guf_array_wrap(tensor, nullptr, nullptr, 0, &host, &error_), GUF_OK)
        << error_.message;
    EXPECT_EQ(guf_array_to_device(host, device, nullptr, &moved, &error_), GUF_OK)
        << error_.message;
    guf_array_release(host, nullptr);
    return keep(moved);
  }
  guf_array floats(guf_device device, std::vector<float> values) {
    return make<float>(device, GUF_F32, std::move(values));
  }
  std::vector<float> values_of(guf_array array, size_t count) {
    std::vector<float> values(count, -1);
    EXPECT_EQ(
        guf_array_copy_to_host(array, values.data(), 4 * count, GUF_ORDER_C, nullptr, &error_),
        GUF_OK)
        << error_.message;
    return values;
  }

  guf_error error_ = fresh_error();
  const guf_device near_ = find_device("null:0");
  const guf_device far_ = find_device("null:2");
  const guf_device other_ = find_device("null:3");
  guf_ufunc add_ = nullptr;
  std::vector<guf_array> arrays_;
  gufunc::Operands operands_;
};

#endif  // GUFUNC_TESTS_PLUGINS_NULL_FIXTURE_H

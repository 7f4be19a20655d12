// SPDX-License-Identifier: Apache-2.0
// Provides helper functions for tests that make many arrays. The fixture releases all arrays at the
// end of a test.
#ifndef GUFUNC_TESTS_ABI_ARRAYS_ARRAY_FIXTURE_H
#define GUFUNC_TESTS_ABI_ARRAYS_ARRAY_FIXTURE_H

#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <string>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

class ArrayTest : public testing::Test {
 protected:
  ArrayTest() { expect(guf_device_get(nullptr, "cpu", &cpu_, &error_)); }
  ~ArrayTest() override {
    for (const guf_array array : made_) guf_array_release(array, nullptr);
    guf_poll(0, nullptr, nullptr);
  }

  void expect(guf_status status, guf_status expected = GUF_OK) {
    EXPECT_EQ(status, expected) << guf_status_name(status) << ": "
                                << (status >= 100 ? error_.message : "");
  }

  guf_array keep(guf_array array) {
    made_.push_back(array);
    return array;
  }

  guf_array wrap(void *data, guf_dtype dtype, const std::vector<int64_t> &shape,
                 const std::vector<int64_t> &strides = {}, uint32_t flags = 0) {
    gufunc::Operands operands;
    const guf_tensor *const tensor = operands.tensor({dtype, data, shape, strides, flags})->tensor;
    guf_array array = nullptr;
    expect(guf_array_wrap(tensor, nullptr, nullptr, 0, &array, &error_));
    return keep(array);
  }

  guf_array alloc(guf_dtype dtype, const std::vector<int64_t> &shape) {
    guf_array array = nullptr;
    expect(guf_array_alloc(nullptr, dtype, static_cast<int32_t>(shape.size()), shape.data(),
                           nullptr, GUF_ORDER_C, &array, &error_));
    return keep(array);
  }

  static guf_array_info info(guf_array array) {
    guf_array_info found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(guf_array_get_info(array, &found, nullptr), GUF_OK);
    return found;
  }

  template <class T>
  std::vector<T> values(guf_array array, int32_t order = GUF_ORDER_C) {
    std::vector<T> out(info(array).size);
    expect(
        guf_array_copy_to_host(array, out.data(), out.size() * sizeof(T), order, nullptr, &error_));
    return out;
  }

  guf_device cpu_ = nullptr;
  guf_error error_ = fresh_error();
  std::vector<guf_array> made_;
};

#endif  // GUFUNC_TESTS_ABI_ARRAYS_ARRAY_FIXTURE_H

// SPDX-License-Identifier: Apache-2.0
// Provides the raw kernels of the test modules. They run on the device that GUFUNC_TEST_DEVICE
// names.
#ifndef GUFUNC_TESTS_ABI_KERNELS_KERNEL_FIXTURE_H
#define GUFUNC_TESTS_ABI_KERNELS_KERNEL_FIXTURE_H

#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

using gufunc::kDtypeOf;

using Size = std::array<uint32_t, 3>;

class KernelTest : public testing::Test {
 protected:
  KernelTest() {
    const char *const named = std::getenv("GUFUNC_TEST_DEVICE");
    spec_ = named == nullptr ? "cpu" : named;
    expect(guf_device_get(nullptr, spec_.c_str(), &device_, &error_));
    expect(guf_stream_create(device_, 0, &stream_, &error_));
    module_ = load(module_path());
  }
  ~KernelTest() override {
    for (const guf_array array : arrays_) guf_array_release(array, nullptr);
    for (const guf_kernel kernel : kernels_) guf_kernel_release(kernel, nullptr);
    guf_module_release(module_, nullptr);
    guf_stream_release(stream_, nullptr);
    guf_poll(0, nullptr, nullptr);
  }

  bool on_cpu() const { return spec_ == "cpu"; }

  // Returns the path of the raw kernel module, which GUFUNC_TEST_RAW_MODULE may override.
  static const char *module_path() {
    const char *const named = std::getenv("GUFUNC_TEST_RAW_MODULE");
    return named == nullptr ? GUFUNC_RAW_MODULE : named;
  }

  void expect(guf_status status, guf_status expected = GUF_OK) {
    EXPECT_EQ(status, expected) << guf_status_name(status) << ": "
                                << (status >= 100 ? error_.message : "");
  }

  guf_module load(const char *path) {
    guf_module module = nullptr;
    expect(guf_module_load(nullptr, path, 0, &module, &error_));
    return module;
  }

  guf_kernel find(const char *name) {
    guf_kernel kernel = nullptr;
    expect(guf_kernel_find(module_, name, &kernel, &error_));
    kernels_.push_back(kernel);
    return kernel;
  }

  guf_array keep(guf_array array) {
    arrays_.push_back(array);
    return array;
  }

  // Copies host data to the device.
  template <class T>
  guf_array put(const std::vector<T> &data, std::vector<int64_t> shape = {},
                guf_dtype dtype = kDtypeOf<T>) {
    if (shape.empty()) shape = {static_cast<int64_t>(data.size())};
    gufunc::Operands operands;
    const gufunc::View view = {dtype, data.data(), std::move(shape), {}, 0};
    guf_array host = nullptr, there = nullptr;
    expect(guf_array_wrap(operands.tensor(view)->tensor, nullptr, nullptr, 0, &host, &error_));
    expect(guf_array_to_device(host, device_, stream_, &there, &error_));
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
    guf_array_release(host, nullptr);
    return keep(there);
  }

  template <class T>
  std::vector<T> get(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    expect(guf_array_get_info(array, &info, &error_));
    std::vector<T> data(info.nbytes / sizeof(T));
    expect(guf_array_copy_to_host(array, data.data(), info.nbytes, GUF_ORDER_C, stream_, &error_));
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
    return data;
  }

  guf_status launch(guf_kernel kernel, Size grid, Size block,
                    const std::vector<guf_operand> &arguments, uint32_t shared = 0) {
    return guf_kernel_launch(kernel, stream_, grid.data(), block.data(), shared,
                             static_cast<int32_t>(arguments.size()), arguments.data(), &error_);
  }
  // Launches a kernel and waits for it.
  void run(guf_kernel kernel, Size grid, Size block, const std::vector<guf_operand> &arguments,
           uint32_t shared = 0) {
    expect(launch(kernel, grid, block, arguments, shared));
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  }

  guf_error error_ = fresh_error();
  std::string spec_;
  guf_device device_ = nullptr;
  guf_stream stream_ = nullptr;
  guf_module module_ = nullptr;

 private:
  std::vector<guf_array> arrays_;
  std::vector<guf_kernel> kernels_;
};

#endif  // GUFUNC_TESTS_ABI_KERNELS_KERNEL_FIXTURE_H

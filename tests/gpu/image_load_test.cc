// SPDX-License-Identifier: Apache-2.0
// How the cuda plugin loads images: as libraries where the driver has them, else as modules.
#include <cstdlib>
#include <cstring>

#include "tests/gpu/device_calls.h"

namespace gufunc::gpu_test {
namespace {

constexpr char kPtx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry guf_ew_tiny_f_f_row(\n\t.param .align 8 .b8 guf_ew_tiny_f_f_row_param_0[272]\n"
    ")\n{\n\tret;\n}\n";

class ImageLoad : public DeviceCalls {
 protected:
  void SetUp() override {
    DeviceCalls::SetUp();
    if (!is_cuda()) GTEST_SKIP() << "HIP has modules";
    image_.format = GUF_IMAGE_PTX;
    image_.codec = GUF_CODEC_NONE;
    image_.target = "ptx_75";
    image_.data = kPtx;
    image_.size = std::strlen(kPtx);
  }
  // With the first kernel a device makes room for status words, and keeps it.
  void get_a_kernel(void *device) {
    void *module = nullptr, *kernel = nullptr;
    ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK)
        << error_.message;
    plugin().module_unload(module);
  }
  // The CMake test that sets this asks for a driver of CUDA 11.8.
  static bool is_old() { return secure_getenv("GUFUNC_SIM_VERSION") != nullptr; }

  guf_module_image image_ = {};
};

TEST_F(ImageLoad, IsALibraryWhereTheDriverHasThem) {
  OpenDevice device;
  get_a_kernel(device);
  const std::string before = live_objects();
  const uint64_t libraries = sim().live("library"), modules = sim().live("module");
  void *module = nullptr, *kernel = nullptr, *again = nullptr;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(sim().live("library") - libraries, is_old() ? 0u : 1u);
  EXPECT_EQ(sim().live("module") - modules, 1u) << "at once, before anything is launched";
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK)
      << error_.message;
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &again, &error_), GUF_OK);
  EXPECT_EQ(kernel, again);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_none_f_f", &again, &error_), GUF_E_NO_IMAGE);
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

TEST_F(ImageLoad, WhatTheDriverRefusesLaterIsRefusedAtOnce) {
  if (is_old()) GTEST_SKIP() << "modules are refused when they are loaded";
  OpenDevice device;
  const std::string before = live_objects();
  void *module = nullptr;
  sim().fault("cuLibraryGetModule:1:209");
  EXPECT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_E_NO_IMAGE);
  EXPECT_EQ(error_.native_code, 209);
  EXPECT_EQ(live_objects(), before) << "the library is given back";
  sim().clear_faults();
}

TEST_F(ImageLoad, AKernelThatCannotBeLoadedIsAFailureOfTheCall) {
  if (is_old()) GTEST_SKIP() << "without libraries there is no such step";
  OpenDevice device;
  get_a_kernel(device);
  const std::string before = live_objects();
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  sim().fault("cuKernelGetFunction:1:2");
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_),
            GUF_E_DEVICE_MEMORY);
  sim().clear_faults();
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK)
      << error_.message;
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

}  // namespace
}  // namespace gufunc::gpu_test

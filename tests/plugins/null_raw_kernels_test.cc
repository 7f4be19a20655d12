// SPDX-License-Identifier: Apache-2.0
// Tests raw kernels that cannot run, because the backend lacks the extension for raw kernels or
// because the module contains no code for the device.
#include <gmock/gmock.h>

#include "tests/plugins/null_fixture.h"

namespace {

using ::testing::HasSubstr;

void do_nothing(void *, const void *) {}

const guf_module_parameter kParameters[] = {{GUF_PARAMETER_POINTER, GUF_F32, 0, 0}};
const guf_module_parameters kAll = {1, sizeof(guf_kernel_head) + 8, kParameters};
const guf_module_kernel kKernels[] = {{"work", "guf_rk_work", nullptr, &kAll, 0, 0, 32, 0, 0, 0}};
void (*const kEntries[])(void) = {reinterpret_cast<void (*)(void)>(do_nothing)};
const guf_module_image kImages[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64", nullptr, 0, 0, kEntries}};
const guf_module_v1 kTable = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "raw_host", 0, 1, 1, 1, nullptr, kImages, kKernels};
const guf_module_v1 kWithoutCode = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "raw_none", 0, 0, 1, 1, nullptr, nullptr, kKernels};

class NullRawKernels : public NullDevices {
 protected:
  guf_status launch(const guf_module_v1 &table, guf_array array) {
    guf_module module = nullptr;
    guf_kernel kernel = nullptr;
    EXPECT_EQ(guf_module_register(nullptr, &table, &module, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_kernel_find(module, "work", &kernel, &error_), GUF_OK) << error_.message;
    const uint32_t one[] = {1, 1, 1};
    guf_operand argument = {};
    argument.kind = GUF_OPERAND_ARRAY;
    argument.array = array;
    const guf_status status =
        guf_kernel_launch(kernel, nullptr, one, one, 0, 1, &argument, &error_);
    guf_kernel_release(kernel, nullptr);
    guf_module_release(module, nullptr);
    return status;
  }
};

TEST_F(NullRawKernels, ABackendWithoutTheExtensionRefuses) {
  const guf_array near = keep(make(find_device("null:0"), GUF_F32, std::vector<float>{1, 2}));
  EXPECT_EQ(launch(kTable, near), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("null:0: backend null has no raw kernels"));
}

TEST_F(NullRawKernels, AModuleWithoutCodeForTheDeviceIsReported) {
  const guf_array here = keep(make(find_device("cpu"), GUF_F32, std::vector<float>{1, 2}));
  EXPECT_EQ(launch(kTable, here), GUF_OK) << error_.message;
  EXPECT_EQ(launch(kWithoutCode, here), GUF_E_NO_IMAGE);
  EXPECT_THAT(error_.message, HasSubstr("no code of the kernel 'raw_none:work' for device cpu"));
}

}  // namespace

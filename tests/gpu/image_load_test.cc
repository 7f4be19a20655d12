// SPDX-License-Identifier: Apache-2.0
// Tests how the cuda plugin loads images: as libraries if the driver supports them, otherwise as
// modules. If an image is PTX, the plugin loads only the part of the text that the requested kernel
// needs.
#include <cstdlib>
#include <cstring>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/small_module.h"

namespace gufunc::gpu_test {
namespace {

constexpr char kPtx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry guf_ew_tiny_f_f_row(\n\t.param .align 8 .b8 guf_ew_tiny_f_f_row_param_0[272]\n"
    ")\n{\n\tret;\n}\n"
    ".visible .entry guf_ew_other_f_f_row()\n{\n\tret;\n}\n"
    ".visible .entry guf_ew_other_f_f_nd()\n{\n\tret;\n}\n";

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
  // Loads a kernel. The first kernel of a device allocates status words, which the device keeps.
  void get_a_kernel(void *device) {
    void *module = nullptr, *kernel = nullptr;
    ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK)
        << error_.message;
    plugin().module_unload(module);
  }
  // Returns whether the simulated driver is a driver of CUDA 11.8. The CMake test gpu_cuda_11
  // selects this driver with the variable.
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
  EXPECT_EQ(sim().live("module") - modules, 1u) << "the probe; PTX waits for a kernel";
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK)
      << error_.message;
  EXPECT_EQ(sim().live("library") - libraries, is_old() ? 0u : 2u);
  EXPECT_EQ(sim().live("module") - modules, 2u) << "at once, before anything is launched";
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &again, &error_), GUF_OK);
  EXPECT_EQ(kernel, again);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_none_f_f", &again, &error_), GUF_E_NO_IMAGE);
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

TEST_F(ImageLoad, UnusableImagesAreRefusedAtOnce) {
  if (is_old()) GTEST_SKIP() << "modules are refused when they are loaded";
  OpenDevice device;
  const std::string before = live_objects();
  void *module = nullptr;
  sim().fault("cuLibraryGetModule:1:209");
  EXPECT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_E_NO_IMAGE);
  EXPECT_EQ(error_.native_code, 209);
  EXPECT_EQ(live_objects(), before) << "the library is unloaded";
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

// Counts the PTX that the driver has compiled since this object was made.
class Compiled {
 public:
  uint64_t entries() const { return sim().ptx("entries") - entries_; }
  uint64_t bytes() const { return sim().ptx("bytes") - bytes_; }

 private:
  const uint64_t entries_ = sim().ptx("entries"), bytes_ = sim().ptx("bytes");
};

TEST_F(ImageLoad, TheDriverCompilesOnlyTheRequiredPtx) {
  OpenDevice device;
  get_a_kernel(device);
  const std::string before = live_objects();
  const Compiled compiled;
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(compiled.entries(), 1u) << "a kernel that does nothing shows what the driver accepts";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK);
    EXPECT_EQ(compiled.entries(), 2u);
  }
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_other_f_f", &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), 4u);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_none_f_f", &kernel, &error_), GUF_E_NO_IMAGE);
  EXPECT_EQ(compiled.entries(), 4u);
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

// Two kernels that write to the same variable must be in one module of the driver, so the plugin
// loads the complete PTX once.
TEST_F(ImageLoad, OfPtxWithASharedVariableAllIsCompiledOnce) {
  const std::string text =
      ".version 6.3\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 counter;\n"
      ".visible .entry guf_rk_first()\n{\n\tst.global.u32 [counter], 1;\n\tret;\n}\n"
      ".visible .entry guf_rk_second()\n{\n\tst.global.u32 [counter], 2;\n\tret;\n}\n"
      ".visible .entry guf_rk_third()\n{\n\tret;\n}\n";
  image_.data = text.c_str();
  image_.size = text.size();
  OpenDevice device;
  const std::string before = live_objects();
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  const Compiled compiled;
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_rk_third", &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), 1u);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_rk_first", &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), 4u);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_rk_second", &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), 4u);
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

// If the driver rejects the excerpt of the PTX for one kernel, the plugin loads the complete PTX.
TEST_F(ImageLoad, OfPtxARefusedKernelIsLoadedWithTheWhole) {
  OpenDevice device;
  get_a_kernel(device);
  const std::string before = live_objects();
  const std::string load = is_old() ? "cuModuleLoadData" : "cuLibraryLoadData";
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  sim().fault((load + ":0:218").c_str());
  sim().clear_calls();
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_E_NO_IMAGE);
  EXPECT_EQ(error_.native_code, 218);
  EXPECT_EQ(sim().calls(load.c_str()), 2u) << "the excerpt, and the whole";
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_E_NO_IMAGE);
  EXPECT_EQ(sim().calls(load.c_str()), 3u) << "the whole is refused once";
  sim().clear_faults();
  plugin().module_unload(module);

  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  const Compiled compiled;
  sim().fault((load + ":1:218").c_str());
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_tiny_f_f", &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), 3u);
  EXPECT_EQ(plugin().kernel_get(module, 0, "guf_ew_other_f_f", &kernel, &error_), GUF_OK);
  plugin().module_unload(module);
  EXPECT_EQ(live_objects(), before);
}

TEST_F(ImageLoad, OfPtxThatIsNotUnderstoodAllIsCompiled) {
  const std::string text = std::string(kPtx) + ".file 1 \"tiny.cu\"\n";
  image_.data = text.c_str();
  image_.size = text.size();
  OpenDevice device;
  const Compiled compiled;
  get_a_kernel(device);
  EXPECT_EQ(compiled.entries(), 3u);
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The built-in image that contains `add` also contains hundreds of other kernels. The driver must
// compile only the kernels of the requested loop and one empty kernel, with which the plugin tests
// what the driver accepts.
TEST_F(ImageLoad, OfABuiltInFamilyOneFunctionIsCompiled) {
  const guf_module_v1 *const table = plugin().builtins();
  const guf_module_loop *loop = nullptr;
  const guf_module_image *image = nullptr;
  for (uint32_t i = 0; table != nullptr && i < table->nfunctions; ++i) {
    const guf_module_function &function = table->functions[i];
    for (uint32_t j = 0; std::strcmp(function.name, "add") == 0 && j < function.nloops; ++j) {
      if (std::strcmp(function.loops[j].name, "guf_ew_add_dd_d") == 0) loop = &function.loops[j];
    }
  }
  for (uint32_t i = 0; loop != nullptr && i < table->nimages; ++i) {
    const bool serves = table->images[i].family == 0 || table->images[i].family == loop->family;
    if (serves && table->images[i].format == GUF_IMAGE_PTX) image = &table->images[i];
  }
  if (image == nullptr) GTEST_SKIP() << "built without PTX";
  const std::string text = inflated(*image);
  image_.data = text.c_str();
  image_.size = text.size();
  const size_t own = count(text, ".entry guf_ew_add_dd_d_"), all = count(text, ".entry ");
  OpenDevice device;
  void *module = nullptr, *kernel = nullptr;
  const Compiled compiled;
  ASSERT_EQ(plugin().module_load(device, &image_, &module, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().kernel_get(module, 0, loop->name, &kernel, &error_), GUF_OK);
  EXPECT_EQ(compiled.entries(), own + 1);
  EXPECT_GT(own, 1u);
  EXPECT_GT(all, 20 * own);
  EXPECT_LT(compiled.bytes(), text.size() / 20);
  plugin().module_unload(module);
}

}  // namespace
}  // namespace gufunc::gpu_test

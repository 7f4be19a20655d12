// SPDX-License-Identifier: Apache-2.0
// Tests images, kernels and launches: which the driver accepts, which it rejects, and which code
// runs.
#include <numeric>
#include <vector>

#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

class SimModule : public SimTest {
 protected:
  SimModule() { prepare(); }

  void prepare() {
    EXPECT_EQ(driver_.stream(&stream_, false), 0);
    EXPECT_EQ(driver_.module_load(&module_, driver_.image().c_str()), 0);
  }

  void *function(const char *name) {
    void *found = nullptr;
    EXPECT_EQ(driver_.module_function(&found, module_, name), 0) << name;
    return found;
  }

  int load(const std::string &image) {
    void *module = nullptr;
    const int code = driver_.module_load(&module, image.c_str());
    if (code == 0) {
      EXPECT_EQ(driver_.module_unload(module), 0);
    }
    return code;
  }

  void *stream_ = nullptr, *module_ = nullptr;
};

TEST_P(SimModule, KernelsRun) {
  constexpr uint32_t kCount = 1000;
  std::vector<float> a(kCount), b(kCount), out(kCount);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  TestBlock block = {0, 0, 0, kCount, 0};
  for (uint64_t *memory : {&block.a, &block.b, &block.out})
    SIM_OK(driver_.alloc(memory, kCount * 4));
  SIM_OK(driver_.to_device(block.a, a.data(), kCount * 4, stream_));
  SIM_OK(driver_.to_device(block.b, b.data(), kCount * 4, stream_));
  SIM_OK(driver_.launch(function("sim_add"), 4, 256, 0, stream_, &block));
  SIM_OK(driver_.to_host(out.data(), block.out, kCount * 4, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(out[i], a[i] + b[i]);

  SIM_OK(driver_.launch(function("sim_sum"), 2, 512, 2048, stream_, &block));
  SIM_OK(driver_.to_host(out.data(), block.out, 8, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(out[0], 512 * 511 / 2);
  EXPECT_EQ(out[1], 999 * 1000 / 2 - 512 * 511 / 2);

  // The same launch also works with one buffer for all arguments.
  SIM_OK(driver_.launch_extra(function("sim_order"), stream_, &block, sizeof(block)));
  EXPECT_EQ(driver_.launch_extra(function("sim_order"), stream_, &block, 24), 1);
  EXPECT_NE(driver_.violation(0).find("takes 32 bytes of arguments and got 24"), std::string::npos);
  driver_.clear_violations();
  SIM_OK(driver_.stream_sync(stream_));
}

TEST_P(SimModule, NothingRunsWhereNothingShall) {
  uint32_t word = 0;
  TestBlock block = {};
  SIM_OK(driver_.alloc(&block.out, 4));
  SIM_OK(driver_.fill32(block.out, 7, 1, stream_));
  driver_.set("EXECUTE", "0");
  SIM_OK(driver_.launch(function("sim_order"), 1, 1, 0, stream_, &block));
  SIM_OK(driver_.to_host(&word, block.out, 4, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(word, 7u);
}

TEST_P(SimModule, LimitsOfLaunches) {
  const TestBlock block = {};
  const bool cuda = driver_.is_cuda();
  const int shape = cuda ? 1 : 9;
  void *add = function("sim_add"), *sum = function("sim_sum");
  EXPECT_EQ(driver_.launch(sum, 0, 32, 0, stream_, &block), shape);
  EXPECT_EQ(driver_.launch(sum, 1, 0, 0, stream_, &block), shape);
  EXPECT_EQ(driver_.launch(sum, 1, 1025, 0, stream_, &block), shape);
  EXPECT_EQ(driver_.launch(add, 1, 257, 0, stream_, &block), shape)
      << "the limit in the image is 256";
  EXPECT_EQ(driver_.launch(sum, 0x80000000u, 2, 0, stream_, &block), shape);
  EXPECT_EQ(driver_.launch(sum, 1, 32, cuda ? 49153 : 65537, stream_, &block), 1);
  EXPECT_EQ(driver_.launch(sum, 1, 32, 0, stream_, nullptr), 1);
  EXPECT_EQ(driver_.launch(stream_, 1, 32, 0, stream_, &block), 400) << "no function";
  if (!cuda) {
    EXPECT_EQ(driver_.launch(sum, 0x7FFFFFFFu, 4, 0, stream_, &block), 9) << "2^32 work-items";
  }
}

TEST_P(SimModule, InvalidKernelsAreReported) {
  const TestBlock block = {};
  const struct {
    const char *kernel, *text;
  } cases[] = {{"sim_missed", "1 work-items have returned, 63 wait"},
               {"sim_other", "40 bytes of arguments in its image and 32 in its emulation file"},
               {"sim_absent", "has no entry of this name"}};
  for (const auto &one : cases) {
    driver_.reset();
    SIM_OK(driver_.start());
    prepare();
    const TestBlock long_block[2] = {};
    void *const kernel = function(one.kernel), *const add = function("sim_add");
    const int queued = driver_.launch(kernel, 1, 64, 0, stream_, &long_block);
    EXPECT_EQ(queued == 0 ? driver_.stream_sync(stream_) : queued, 719);
    EXPECT_NE(driver_.violation(0).find(one.text), std::string::npos) << driver_.violation(0);
    EXPECT_EQ(driver_.launch(add, 1, 1, 0, stream_, &block), 719) << "sticks";
    driver_.clear_violations();
  }
}

TEST_P(SimModule, OtherOrdersOfItemsAreCompared) {
  driver_.set("ORDER", "lazy");
  restart("TWICE", "1");
  prepare();
  TestBlock block = {0, 0, 0, 64, 0};
  for (uint64_t *memory : {&block.a, &block.b, &block.out}) SIM_OK(driver_.alloc(memory, 256));
  SIM_OK(driver_.launch(function("sim_add"), 2, 32, 0, stream_, &block));
  SIM_OK(driver_.launch(function("sim_sum"), 1, 64, 256, stream_, &block));
  SIM_OK(driver_.stream_sync(stream_));
  SIM_OK(driver_.launch(function("sim_order"), 2, 32, 0, stream_, &block));
  EXPECT_EQ(driver_.stream_sync(stream_), 719);
  EXPECT_NE(driver_.violation(0).find("depends on the order of work-items"), std::string::npos)
      << driver_.violation(0);
  driver_.clear_violations();
}

TEST_P(SimModule, NamesAndHandles) {
  void *found = nullptr;
  EXPECT_EQ(driver_.module_function(&found, module_, "sim_nothing"), 500);
  EXPECT_EQ(function("sim_add"), function("sim_add"));
  SIM_OK(driver_.module_unload(module_));
  EXPECT_EQ(driver_.module_unload(module_), 400);
  EXPECT_EQ(driver_.module_function(&found, module_, "sim_add"), 400);
  EXPECT_EQ(driver_.live("module"), 0u);
}

// A CUDA library is loaded without a context. Each context that uses the library has its own module
// and functions.
TEST_P(SimModule, LibrariesWorkInEveryContext) {
  if (!driver_.is_cuda()) GTEST_SKIP() << "HIP has no library objects";
  const auto load_library =
      driver_.entry<int(void **, const void *, void *, void *, unsigned, void *, void *, unsigned)>(
          "cuLibraryLoadData");
  const auto unload = driver_.entry<int(void *)>("cuLibraryUnload");
  const auto get_module = driver_.entry<int(void **, void *)>("cuLibraryGetModule");
  const auto get_kernel = driver_.entry<int(void **, void *, const char *)>("cuLibraryGetKernel");
  const auto get_function = driver_.entry<int(void **, void *)>("cuKernelGetFunction");
  const auto set_current = driver_.entry<int(void *)>("cuCtxSetCurrent");
  void *library = nullptr, *kernel = nullptr, *function = nullptr, *other = nullptr;
  const auto load_image = [&](const std::string &image) {
    return load_library(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  EXPECT_EQ(load_image("junk, and nothing but junk, as long as a header is or longer than that"),
            200);
  SIM_OK(load_image(driver_.image()));
  const uint64_t modules = driver_.live("module");
  void *first = nullptr, *second = nullptr;
  SIM_OK(driver_.entry<int(void **)>("cuCtxGetCurrent")(&first));
  EXPECT_EQ(get_kernel(&kernel, library, "sim_nothing"), 500);
  SIM_OK(set_current(nullptr));
  SIM_OK(get_kernel(&kernel, library, "sim_add"));
  EXPECT_EQ(get_function(&function, kernel), 201) << "a function wants a context";
  SIM_OK(driver_.entry<int(void **, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0));
  SIM_OK(get_function(&other, kernel));
  SIM_OK(set_current(first));
  SIM_OK(get_function(&function, kernel));
  EXPECT_NE(function, other);
  EXPECT_EQ(driver_.live("module"), modules + 2);
  const TestBlock block = {};
  EXPECT_EQ(driver_.launch(other, 1, 1, 0, stream_, &block), 400) << "of another context";
  SIM_OK(driver_.launch(function, 1, 1, 0, stream_, &block));
  SIM_OK(driver_.stream_sync(stream_));
  void *module = nullptr, *named = nullptr;
  SIM_OK(get_module(&module, library));
  SIM_OK(driver_.module_function(&named, module, "sim_add"));
  EXPECT_EQ(named, function);
  SIM_OK(unload(library));
  EXPECT_EQ(driver_.live("module"), modules);
  EXPECT_EQ(get_function(&function, kernel), 400);
  EXPECT_EQ(get_kernel(&kernel, library, "sim_add"), 400);
  EXPECT_EQ(unload(library), 400);
}

TEST_P(SimModule, ImagesOfOthersAreRefused) {
  EXPECT_EQ(load("junk, and nothing but junk, for as long as it takes to look at a header"), 200);
  EXPECT_EQ(load(driver_.image()), 0);
  if (!driver_.is_cuda()) {
    EXPECT_EQ(load(amd_image(0x041)), 209) << "gfx1100";
    EXPECT_EQ(load(amd_image(0x54C)), 0) << "any xnack, any sramecc";
    EXPECT_EQ(load(amd_image(0xE4C)), 0) << "xnack off, sramecc on";
    EXPECT_EQ(load(amd_image(0xF4C)), 209) << "xnack on";
    EXPECT_EQ(load(amd_image(0xA4C)), 209) << "sramecc off";
    EXPECT_EQ(load(ptx_image("6.3", "sm_75")), 200);
    restart("ARCH", "gfx1101");
    EXPECT_EQ(load(amd_image(0x054)), 0) << "gfx11-generic";
    EXPECT_EQ(load(amd_image(0x059)), 209) << "gfx12-generic";
    return;
  }
  EXPECT_EQ(load(cubin_image(90)), 0);
  EXPECT_EQ(load(cubin_image(80)), 209);
  EXPECT_EQ(load(cubin_image(100)), 209);
  EXPECT_EQ(load(ptx_image("6.3", "sm_90")), 0);
  EXPECT_EQ(load(ptx_image("6.3", "sm_100")), 209);
  EXPECT_EQ(load(ptx_image("9.9", "sm_75")), 222);
  EXPECT_EQ(load(".version 6.3\n.target sm_75\n.visible .entry broken(.param .u64"), 218);
  EXPECT_EQ(load(amd_image(0x54C)), 200);
  restart("VERSION", "12080");
  EXPECT_EQ(load(cubin_image(90)), 200) << "written by ptxas 13";
  restart("VERSION", "11020");
  EXPECT_EQ(load(ptx_image("7.2", "sm_75")), 0);
  EXPECT_EQ(load(ptx_image("7.3", "sm_75")), 222);
}

// Sets bytes 4 to 31 of the ELF header, one at a time, to four values. The driver must accept or
// reject the image without a crash. The test does not change later bytes of the header, which
// contain offsets and counts that could then refer to data far beyond the buffer.
TEST_P(SimModule, BrokenImagesDoNoHarm) {
  const std::string whole = driver_.is_cuda() ? cubin_image(90) : amd_image(0x54C);
  for (size_t at = 4; at < 32; ++at) {
    for (const char value : {'\0', '\x01', '\x7F', '\xFF'}) {
      std::string image = whole;
      image[at] = value;
      // Modified headers can refer to data beyond the image, so the buffer is larger than the
      // image.
      image.resize(image.size() + (size_t{1} << 16));
      load(image);
    }
  }
}

TEST_P(SimModule, GraphsRunKernels) {
  TestBlock block = {};
  SIM_OK(driver_.alloc(&block.out, 4));
  void *graph = nullptr, *exec = nullptr, *order = function("sim_order");
  SIM_OK(driver_.capture_begin(stream_, 0));
  SIM_OK(driver_.launch(order, 1, 5, 0, stream_, &block));
  SIM_OK(driver_.capture_end(stream_, &graph));
  SIM_OK(driver_.graph_instantiate(&exec, graph));
  SIM_OK(driver_.fill32(block.out, 99, 1, stream_));
  SIM_OK(driver_.graph_launch(exec, stream_));
  uint32_t word = 0;
  SIM_OK(driver_.to_host(&word, block.out, 4, stream_));
  SIM_OK(driver_.stream_sync(stream_));
  EXPECT_EQ(word, 4u);
  // An update with another kernel in the same node is rejected.
  SIM_OK(driver_.capture_begin(stream_, 0));
  SIM_OK(driver_.launch(function("sim_add"), 1, 5, 0, stream_, &block));
  SIM_OK(driver_.capture_end(stream_, &graph));
  int result = 0;
  EXPECT_EQ(driver_.graph_update(exec, graph, &result), 910);
  EXPECT_EQ(result, 4);
}

#if defined(__SANITIZE_ADDRESS__)
class SimModuleDeathTest : public SimModule {
 protected:
  // A forked child lacks the streams' threads, so the test program starts again for each death
  // test.
  SimModuleDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// In a device-check run, kernels are instrumented and must not exceed the exact bounds of
// allocations.
TEST_P(SimModuleDeathTest, KernelsMayNotLeaveTheirMemory) {
  driver_.set("EMULATION", SIM_TEST_CHECKED_EMULATION);
  driver_.set("ORDER", "lazy");
  restart("DEVICE_CHECK", "1");
  prepare();
  TestBlock block = {0, 0, 0, 25, 0};
  for (uint64_t *memory : {&block.a, &block.b, &block.out}) SIM_OK(driver_.alloc(memory, 100));
  void *const add = function("sim_add");
  SIM_OK(driver_.launch(add, 1, 32, 0, stream_, &block));
  SIM_OK(driver_.stream_sync(stream_));
  block.n = 26;
  EXPECT_DEATH(
      {
        driver_.launch(add, 1, 32, 0, stream_, &block);
        driver_.stream_sync(stream_);
      },
      "use-after-poison");
}
SIM_BOTH(SimModuleDeathTest);
#endif

SIM_BOTH(SimModule);

}  // namespace
}  // namespace sim_test

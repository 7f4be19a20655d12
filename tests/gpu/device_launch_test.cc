// SPDX-License-Identifier: Apache-2.0
// Tests images and launches through the plugin's slots: which image the plugin chooses, which
// arguments kernels receive, and which errors launches report.
#include <cstring>
#include <set>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/small_module.h"

namespace gufunc::gpu_test {
namespace {

constexpr int64_t kItems = 100;
constexpr uint64_t kBytes = kItems * sizeof(double);

class DeviceLaunch : public DeviceCalls {
 protected:
  void SetUp() override {
    DeviceCalls::SetUp();
    if (small_images().empty()) GTEST_SKIP() << "built without a compiler for this vendor's images";
  }

  // Returns the image with the best score that is not in `refused`.
  const guf_module_image *best(void *device,
                               const std::set<const guf_module_image *> &refused = {}) {
    const guf_module_image *found = nullptr;
    int32_t best_score = 0;
    for (const PlainImage &one : small_images()) {
      const int32_t score = plugin().image_score(device, &one.image);
      if (score <= best_score || refused.contains(&one.image)) continue;
      best_score = score;
      found = &one.image;
    }
    return found;
  }
  void *load(void *device, const std::set<const guf_module_image *> &refused = {}) {
    const guf_module_image *const image = best(device, refused);
    void *module = nullptr;
    if (image == nullptr) {
      ADD_FAILURE() << "no image for the device";
      return nullptr;
    }
    EXPECT_EQ(plugin().module_load(device, image, &module, &error_), GUF_OK) << error_.message;
    return module;
  }
  void *kernel(void *module, const char *function) {
    void *found = nullptr;
    EXPECT_EQ(plugin().kernel_get(module, 0, small_stem(function), &found, &error_), GUF_OK)
        << error_.message;
    return found;
  }
  void send(void *device, uint64_t to, const std::vector<double> &elements) {
    copy(device, nullptr, to, address_of(elements), elements.size() * 8, GUF_COPY_HOST_TO_DEVICE);
  }
  // Expects that the module's function `plus` computes correct sums.
  void expect_sums(void *device, void *module) {
    const uint64_t memory = allocate(device, 3 * kBytes);
    std::vector<double> a(kItems), b(kItems, 0.5), sums(kItems);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
    send(device, memory, a);
    send(device, memory + kBytes, b);
    const guf_launch_block block =
        row_block({memory, memory + kBytes, memory + 2 * kBytes}, 2, kItems);
    const guf_backend_launch launch = launch_of(kernel(module, "plus"), nullptr, block);
    EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
    copy(device, nullptr, address_of(sums), memory + 2 * kBytes, kBytes, GUF_COPY_DEVICE_TO_HOST);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(sums[i], a[i] + 0.5);
    free(device, memory, 3 * kBytes);
  }
};

TEST_F(DeviceLaunch, ElementsAndRows) {
  OpenDevice device;
  void *const module = load(device);
  expect_sums(device, module);
  const uint64_t memory = allocate(device, 2 * kBytes);
  std::vector<double> a(kItems, 2), out(10);
  send(device, memory, a);
  const guf_launch_block block = dot_block(memory, memory, memory + kBytes, 10, 10);
  const guf_backend_launch launch = launch_of(kernel(module, "dot"), nullptr, block);
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  copy(device, nullptr, address_of(out), memory + kBytes, 80, GUF_COPY_DEVICE_TO_HOST);
  EXPECT_EQ(out, std::vector<double>(10, 40));
  free(device, memory, 2 * kBytes);
  plugin().module_unload(module);
}

// A launch can report floating-point flags or fail. Reported flags are OR-ed into a word of the
// caller. If a flag makes the launch fail, the stream of the launch reports the failure once, and
// events that were recorded after the launch also report it.
TEST_F(DeviceLaunch, FloatingPointFlags) {
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  void *const before = open_event(device);
  void *const behind = open_event(device);
  const uint64_t memory = allocate(device, 3 * kBytes);
  send(device, memory, std::vector<double>(kItems, 1));
  send(device, memory + kBytes, std::vector<double>(kItems, 0));
  const guf_launch_block block =
      row_block({memory, memory + kBytes, memory + 2 * kBytes}, 2, kItems);
  uint32_t fp_flags = GUF_FP_OVERFLOW;
  guf_fp_status fp_status = {"ratio",  GUF_FUNCTION_DIVIDES, GUF_FP_DIVIDE | GUF_FP_INVALID, 0, 0,
                             &fp_flags};
  guf_backend_launch launch = launch_of(kernel(module, "ratio"), stream, block);
  launch.fp_status = &fp_status;
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().event_record(before, stream, &error_), GUF_OK);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW | GUF_FP_DIVIDE});

  fp_status = {"ratio", GUF_FUNCTION_DIVIDES, 0, GUF_FP_DIVIDE, 0, nullptr};
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().event_record(behind, stream, &error_), GUF_OK);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(error_.message, "divide by zero encountered in ratio; launch 2 of the stream");
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(plugin().event_query(behind, &error_), GUF_E_FLOATING_POINT);
  EXPECT_EQ(plugin().event_query(before, &error_), GUF_OK);
  free(device, memory, 3 * kBytes);
  for (void *const event : {before, behind}) plugin().event_close(event);
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

TEST_F(DeviceLaunch, AFailingFunctionIsReported) {
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  const uint64_t memory = allocate(device, 2 * kBytes);
  std::vector<double> elements(kItems, 1);
  elements[70] = -1;
  send(device, memory, elements);
  guf_launch_block block = row_block({memory, memory + kBytes}, 1, kItems);
  block.flags |= GUF_LAUNCH_STATUS;
  guf_backend_launch launch = launch_of(kernel(module, "checked"), stream, block);
  launch.failure = "found a negative element";
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_E_VALUE);
  EXPECT_STREQ(error_.message, "found a negative element; launch 1 of the stream");
  elements[70] = 1;
  send(device, memory, elements);
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  free(device, memory, 2 * kBytes);
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

// A launch that fails before it is queued must release its status word, so that repeated failures
// do not use more memory.
TEST_F(DeviceLaunch, AFailingLaunchReleasesItsStatusWord) {
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  const uint64_t memory = allocate(device, 2 * kBytes);
  guf_launch_block block = row_block({memory, memory + kBytes}, 1, kItems);
  block.flags |= GUF_LAUNCH_STATUS;
  const guf_backend_launch launch = launch_of(kernel(module, "checked"), stream, block);
  sim().clear_calls();
  sim().fault(pick("cuMemsetD32Async:0:1", "hipMemsetD32Async:0:1"));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_E_ARG);
  }
  EXPECT_EQ(sim().calls(pick("cuMemHostAlloc", "hipHostMalloc")), 0u);  // no new status words
  free(device, memory, 2 * kBytes);
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

TEST_F(DeviceLaunch, AMethodDetectsFpFlags) {
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  const uint64_t memory = allocate(device, 2 * kBytes);
  send(device, memory, std::vector<double>(kItems, 1e308));
  const guf_method_block block = fold_block(GUF_METHOD_REDUCE, memory, memory + kBytes, kItems);
  guf_fp_status fp_status = {"plus", 0, 0, GUF_FP_OVERFLOW, 0, nullptr};
  guf_backend_method method = method_of(kernel(module, "plus"), stream, block);
  method.fp_status = &fp_status;
  EXPECT_EQ(plugin().method(device, &method, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(error_.message, "overflow encountered in plus; launch 1 of the stream");
  free(device, memory, 2 * kBytes);
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

// A driver may reject an image with any of several codes. The rejection affects only the rejected
// image: the plugin can use the image with the next best score, and a later attempt can load the
// rejected image.
TEST_F(DeviceLaunch, ImagesThatTheDriverRefuses) {
  static constexpr int kCodes[] = {200, 209, 218, 300};
  size_t usable = 0;
  {
    OpenDevice device;
    for (const PlainImage &one : small_images()) {
      usable += plugin().image_score(device, &one.image) > 0;
    }
  }
  OpenDevice device;
  std::set<const guf_module_image *> refused;
  for (;;) {
    const guf_module_image *const image = best(device, refused);
    EXPECT_EQ(image == nullptr, refused.size() == usable);
    if (image == nullptr) break;
    for (const int code : kCodes) {
      const std::string number = std::to_string(code);
      sim().fault((pick("cuLibraryLoadData:1:", "hipModuleLoadData:1:") + number).c_str());
      void *none = nullptr;
      EXPECT_EQ(plugin().module_load(device, image, &none, &error_), GUF_E_NO_IMAGE);
      EXPECT_EQ(error_.native_code, code);
      EXPECT_NE(std::strstr(error_.message, number.c_str()), nullptr) << error_.message;
      EXPECT_GT(plugin().image_score(device, image), 0);
      sim().clear_faults();
    }
    void *const module = load(device, refused);
    expect_sums(device, module);
    plugin().module_unload(module);
    refused.insert(image);
  }
  EXPECT_GE(usable, secure_getenv("GUFUNC_TEST_IMAGES") == nullptr ? 1u : 2u);
}

// If the status checks of a graph launch cannot be queued, the graph still runs. The graph's memory
// is freed after the run.
TEST_F(DeviceLaunch, AGraphWithFailedStatusChecksRuns) {
  if (secure_getenv("GUFUNC_SIM_MISSING") != nullptr) GTEST_SKIP() << "the driver has no graphs";
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  const guf_gpu_api &gpu = gpu_extension();
  const uint64_t memory = allocate(device, 2 * kBytes, GUF_MEMORY_DEVICE, stream);
  guf_launch_block block = row_block({memory, memory + kBytes}, 1, kItems);
  block.flags |= GUF_LAUNCH_STATUS;
  const guf_backend_launch launch = launch_of(kernel(module, "checked"), stream, block);
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_RELAXED, &error_), GUF_OK);
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  free(device, memory, 2 * kBytes, GUF_MEMORY_DEVICE, stream);
  void *graph = nullptr;
  EXPECT_EQ(gpu.capture_end(device, stream, &graph, &error_), GUF_OK) << error_.message;
  sim().fault(pick("cuMemcpyDtoHAsync_v2:1:999,cuEventRecord:1:999",
                   "hipMemcpyDtoHAsync:1:999,hipEventRecord:1:999"));
  EXPECT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_E_LAUNCH);
  EXPECT_NE(std::strstr(error_.message, "copying a status word"), nullptr) << error_.message;
  sim().clear_faults();
  sim().clear_calls();
  gpu.graph_destroy(graph);
  // One wait is for the run of the graph, and the other wait is for the status checks.
  EXPECT_EQ(sim().calls(pick("cuStreamWaitEvent", "hipStreamWaitEvent")), 2u);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

// A status check that could not be queued must release its status word.
TEST_F(DeviceLaunch, ManyFailedStatusChecksNeedNoMoreWords) {
  if (secure_getenv("GUFUNC_SIM_MISSING") != nullptr) GTEST_SKIP() << "the driver has no graphs";
  OpenDevice device;
  void *const module = load(device);
  void *const stream = open_stream(device);
  const guf_gpu_api &gpu = gpu_extension();
  const uint64_t memory = allocate(device, 2 * kBytes);
  send(device, memory, std::vector<double>(kItems, 1));
  guf_launch_block block = row_block({memory, memory + kBytes}, 1, kItems);
  block.flags |= GUF_LAUNCH_STATUS;
  const guf_backend_launch launch = launch_of(kernel(module, "checked"), stream, block);
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_RELAXED, &error_), GUF_OK);
  EXPECT_EQ(plugin().launch(device, &launch, &error_), GUF_OK) << error_.message;
  void *graph = nullptr;
  EXPECT_EQ(gpu.capture_end(device, stream, &graph, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_OK) << error_.message;
  const uint64_t pinned = sim().live("pinned");
  sim().fault(pick("cuMemcpyDtoHAsync_v2:0:999", "hipMemcpyDtoHAsync:0:999"));
  for (int run = 0; run < 600; ++run) {
    ASSERT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_E_LAUNCH);
  }
  sim().clear_faults();
  EXPECT_EQ(sim().live("pinned"), pinned);
  EXPECT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_OK) << error_.message;
  gpu.graph_destroy(graph);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  free(device, memory, 2 * kBytes);
  plugin().stream_close(stream);
  plugin().module_unload(module);
}

// If the driver has no graph functions, a request for a graph returns an error.
TEST_F(DeviceLaunch, ADriverWithoutGraphs) {
  const char *const missing = secure_getenv("GUFUNC_SIM_MISSING");
  if (missing == nullptr) GTEST_SKIP() << "the driver has graphs";
  OpenDevice device;
  void *const stream = open_stream(device);
  const guf_gpu_api &gpu = gpu_extension();
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_RELAXED, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(error_.native_code, 801);
  plugin().stream_close(stream);
}

}  // namespace
}  // namespace gufunc::gpu_test

// SPDX-License-Identifier: Apache-2.0
// Tests device memory through the plugin's slots: caching, stream order, limits and leaks.
#include <dlfcn.h>

#include <cstring>
#include <numeric>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {
namespace {

using DeviceMemory = DeviceCalls;

TEST_F(DeviceMemory, AStreamReusesMemoryThatItFreed) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t first = allocate(device, 1000, GUF_MEMORY_DEVICE, stream);
  free(device, first, 1000, GUF_MEMORY_DEVICE, stream);
  EXPECT_EQ(allocate(device, 900, GUF_MEMORY_DEVICE, stream), first);  // same size class
  free(device, first, 900, GUF_MEMORY_DEVICE, stream);
  plugin().stream_close(stream);
}

// Regression test. The cache of a stream must not return device memory if page-locked memory is
// requested.
TEST_F(DeviceMemory, KindsDoNotMixOnAStream) {
  OpenDevice device;
  void *const stream = open_stream(device);
  for (const int32_t kind : {GUF_MEMORY_PINNED, GUF_MEMORY_MAPPED}) {
    const uint64_t there = allocate(device, 2048, GUF_MEMORY_DEVICE, stream);
    free(device, there, 2048, GUF_MEMORY_DEVICE, stream);
    const uint64_t here = allocate(device, 2048, kind, stream);
    EXPECT_NE(here, there);
    std::memset(reinterpret_cast<void *>(here), 1, 2048);
    free(device, here, 2048, kind, stream);
  }
  plugin().stream_close(stream);
}

TEST_F(DeviceMemory, EveryKindIsAlignedAndUsable) {
  OpenDevice device;
  for (const int32_t kind :
       {GUF_MEMORY_DEVICE, GUF_MEMORY_PINNED, GUF_MEMORY_MAPPED, GUF_MEMORY_MANAGED}) {
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{4097}, uint64_t{65} << 20}) {
      const uint64_t address = allocate(device, bytes, kind);
      EXPECT_NE(address, 0u);
      EXPECT_EQ(address % 64, 0u);
      if (kind == GUF_MEMORY_PINNED || kind == GUF_MEMORY_MAPPED) {
        std::memset(reinterpret_cast<void *>(address), 1, bytes);
      }
      free(device, address, bytes, kind);
    }
  }
  EXPECT_EQ(plugin().memory_alloc(device, 8, 4, nullptr, nullptr, &error_), GUF_E_UNSUPPORTED);
}

TEST_F(DeviceMemory, ARoundTripKeepsTheBytes) {
  OpenDevice device;
  for (const uint64_t count : {uint64_t{1}, uint64_t{1000}, uint64_t{3} << 20}) {
    std::vector<int> sent(count), received(count);
    std::iota(sent.begin(), sent.end(), 7);
    const uint64_t bytes = count * sizeof(int);
    const uint64_t there = allocate(device, bytes);
    const auto from = reinterpret_cast<uint64_t>(sent.data());
    const auto to = reinterpret_cast<uint64_t>(received.data());
    EXPECT_EQ(plugin().copy(device, nullptr, there, from, bytes, GUF_COPY_HOST_TO_DEVICE, &error_),
              GUF_OK);
    EXPECT_EQ(plugin().copy(device, nullptr, to, there, bytes, GUF_COPY_DEVICE_TO_HOST, &error_),
              GUF_OK);
    EXPECT_EQ(sent, received);  // the copies are complete when they return
    free(device, there, bytes);
  }
}

// A copy to pageable memory is visible to a later copy on the same stream.
TEST_F(DeviceMemory, OrdinaryMemoryIsReadAndWrittenInTheStreamsOrder) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t count = 3000000, bytes = count * sizeof(int);  // three staging chunks
  std::vector<int> sent(count), between(count), received(count);
  std::iota(sent.begin(), sent.end(), 1);
  const uint64_t a = allocate(device, bytes, GUF_MEMORY_DEVICE, stream);
  const uint64_t b = allocate(device, bytes, GUF_MEMORY_DEVICE, stream);
  const auto copy = [&](uint64_t dst, uint64_t src, int32_t kind) {
    EXPECT_EQ(plugin().copy(device, stream, dst, src, bytes, kind, &error_), GUF_OK)
        << error_.message;
  };
  copy(a, reinterpret_cast<uint64_t>(sent.data()), GUF_COPY_HOST_TO_DEVICE);
  copy(reinterpret_cast<uint64_t>(between.data()), a, GUF_COPY_DEVICE_TO_HOST);
  copy(b, reinterpret_cast<uint64_t>(between.data()), GUF_COPY_HOST_TO_DEVICE);
  copy(reinterpret_cast<uint64_t>(received.data()), b, GUF_COPY_DEVICE_TO_HOST);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(sent, received);
  free(device, a, bytes, GUF_MEMORY_DEVICE, stream);
  free(device, b, bytes, GUF_MEMORY_DEVICE, stream);
  plugin().stream_close(stream);
}

TEST_F(DeviceMemory, MemoryOfNoStreamIsReadyForAll) {
  OpenDevice device;
  sim().clear_calls();
  const uint64_t first = allocate(device, 5000);
  free(device, first, 5000);
  const char *const wait = pick("cuStreamWaitEvent", "hipStreamWaitEvent");
  EXPECT_EQ(sim().calls(wait), 0u);
  guf_gpu_memory memory = {};
  memory.struct_size = sizeof(memory);
  EXPECT_EQ(gpu_extension().memory_statistics(device, GUF_MEMORY_DEVICE, &memory, &error_), GUF_OK);
  EXPECT_EQ(memory.live_bytes, 0u);
  EXPECT_EQ(memory.peak_bytes, 5120u);
  EXPECT_EQ(memory.cached_bytes, 5120u);
  EXPECT_EQ(gpu_extension().memory_trim(device, GUF_MEMORY_DEVICE, 0, &error_), GUF_OK);
  EXPECT_EQ(gpu_extension().memory_statistics(device, GUF_MEMORY_DEVICE, &memory, &error_), GUF_OK);
  EXPECT_EQ(memory.cached_bytes, 0u);
  EXPECT_LE(memory.device_free_bytes, memory.device_total_bytes);
}

// The driver fails to free the first of three blocks. The other two blocks are freed, and the
// caller receives the error.
TEST_F(DeviceMemory, TrimReportsDriverErrors) {
  const struct {
    int32_t kind;
    const char *function;
  } kCases[] = {{GUF_MEMORY_PINNED, pick("cuMemFreeHost", "hipHostFree")},
                {GUF_MEMORY_DEVICE, pick("cuMemFreeAsync", "hipFreeAsync")},
                {GUF_MEMORY_DEVICE, pick("cuMemPoolTrimTo", "hipMemPoolTrimTo")}};
  for (const auto &[kind, function] : kCases) {
    SCOPED_TRACE(function);
    OpenDevice device;
    uint64_t blocks[3] = {};
    for (uint64_t &block : blocks) block = allocate(device, 5000, kind);
    for (const uint64_t block : blocks) free(device, block, 5000, kind);
    sim().clear_calls();
    ASSERT_EQ(sim().fault((std::string(function) + ":1:801").c_str()), 0);
    EXPECT_EQ(gpu_extension().memory_trim(device, kind, 0, &error_), GUF_E_UNSUPPORTED);
    EXPECT_EQ(error_.native_code, 801);
    EXPECT_STREQ(error_.message, pick("returning memory to the driver failed: "
                                      "CUDA_ERROR_NOT_SUPPORTED (801)",
                                      "returning memory to the driver failed: "
                                      "hipErrorNotSupported (801)"));
    sim().clear_faults();
    EXPECT_GE(sim().calls(function), std::strstr(function, "Trim") == nullptr ? 3U : 1U);
    guf_gpu_memory memory = {};
    memory.struct_size = sizeof(memory);
    EXPECT_EQ(gpu_extension().memory_statistics(device, kind, &memory, &error_), GUF_OK);
    EXPECT_EQ(memory.cached_bytes, 0U);
    EXPECT_EQ(gpu_extension().memory_trim(device, kind, 0, &error_), GUF_OK) << "reported once";
  }
}

TEST_F(DeviceMemory, ShutdownLogsErrorsOfTheDriver) {
  OpenDevice device;
  free(device, allocate(device, 5000, GUF_MEMORY_PINNED), 5000, GUF_MEMORY_PINNED);
  test_host().log.clear();
  EXPECT_EQ(plugin().shutdown(UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(test_host().log, std::vector<std::string>());
  free(device, allocate(device, 5000, GUF_MEMORY_PINNED), 5000, GUF_MEMORY_PINNED);
  sim().fault(pick("cuMemFreeHost:0:801", "hipHostFree:0:801"));
  EXPECT_EQ(plugin().shutdown(UINT64_MAX, &error_), GUF_OK);
  sim().clear_faults();
  ASSERT_EQ(test_host().log.size(), 1U);
  EXPECT_EQ(test_host().log[0], pick("cuda:0: at shutdown: returning memory to the driver failed: "
                                     "CUDA_ERROR_NOT_SUPPORTED (801)",
                                     "roc:0: at shutdown: returning memory to the driver failed: "
                                     "hipErrorNotSupported (801)"));
}

TEST_F(DeviceMemory, OutOfMemoryIsTriedAgainOnceAfterReclaiming) {
  OpenDevice device;
  const std::string function = sim().calls(pick("cuMemPoolCreate", "hipMemPoolCreate")) != 0
                                   ? pick("cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync")
                                   : pick("cuMemAlloc_v2", "hipMalloc");
  const uint64_t cached = allocate(device, 1 << 20);
  free(device, cached, 1 << 20);
  sim().clear_calls();
  sim().fault((function + ":1:2").c_str());
  const uint64_t address = allocate(device, 4 << 20);
  EXPECT_EQ(sim().calls(function.c_str()), 2u);
  free(device, address, 4 << 20);
  sim().clear_faults();
  sim().fault((function + ":0:2").c_str());
  sim().clear_calls();
  uint64_t none = 0;
  EXPECT_EQ(plugin().memory_alloc(device, 8 << 20, GUF_MEMORY_DEVICE, nullptr, &none, &error_),
            GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(error_.native_code, 2);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(sim().calls(function.c_str()), 2u);
}

TEST_F(DeviceMemory, ALimitHolds) {
  OpenDevice device;
  EXPECT_EQ(gpu_extension().memory_limit(device, GUF_MEMORY_DEVICE, 1 << 20, &error_), GUF_OK);
  const uint64_t half = allocate(device, 1 << 19);
  uint64_t none = 0;
  EXPECT_EQ(plugin().memory_alloc(device, 1 << 20, GUF_MEMORY_DEVICE, nullptr, &none, &error_),
            GUF_E_DEVICE_MEMORY);
  free(device, half, 1 << 19);
  const uint64_t whole = allocate(device, 1 << 20);  // requires that cached blocks are freed
  free(device, whole, 1 << 20);
}

TEST_F(DeviceMemory, FillsByTheDriver) {
  OpenDevice device;
  const uint64_t bytes = 96;
  const uint64_t there = allocate(device, bytes);
  unsigned char seen[96];
  const auto to = reinterpret_cast<uint64_t>(seen);
  const unsigned char pattern[16] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  EXPECT_EQ(plugin().fill(device, nullptr, there, pattern, 16, 6, &error_), GUF_OK)
      << error_.message;
  EXPECT_EQ(plugin().copy(device, nullptr, to, there, bytes, GUF_COPY_DEVICE_TO_HOST, &error_),
            GUF_OK);
  for (size_t i = 0; i < bytes; ++i) EXPECT_EQ(seen[i], pattern[i % 16]);
  EXPECT_EQ(plugin().fill(device, nullptr, there, pattern, 17, 1, &error_), GUF_E_UNSUPPORTED);
  free(device, there, bytes);
}

// The plugin must reject memory that the program has registered. HIP 6.4 would return success for a
// second registration, and the first unregistration would end both registrations.
TEST_F(DeviceMemory, MemoryThatTheProgramRegisteredIsRefused) {
  OpenDevice device;
  std::vector<int> memory(1000);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  if (is_cuda()) GTEST_SKIP() << "the driver of CUDA refuses it itself";
  const auto hip_register =
      reinterpret_cast<int (*)(void *, size_t, unsigned)>(dlsym(sim().library, "hipHostRegister"));
  const auto hip_unregister =
      reinterpret_cast<int (*)(void *)>(dlsym(sim().library, "hipHostUnregister"));
  ASSERT_EQ(hip_register(memory.data(), 4000, 0), 0);
  EXPECT_EQ(gpu_extension().host_register(device, address, 4000, &error_), GUF_E_EXISTS);
  EXPECT_EQ(error_.native_code, 712);
  EXPECT_EQ(gpu_extension().host_register(device, address + 400, 400, &error_), GUF_E_EXISTS);
  EXPECT_EQ(hip_unregister(memory.data()), 0) << "still registered";
  EXPECT_EQ(gpu_extension().host_register(device, address, 4000, &error_), GUF_OK)
      << error_.message;
  EXPECT_EQ(gpu_extension().host_unregister(device, address, &error_), GUF_OK);
}

// HIP would accept each of these ranges, and one unregistration would end two registrations.
TEST_F(DeviceMemory, RangesThatOverlapARegisteredRangeAreRefused) {
  OpenDevice device;
  std::vector<int> memory(1000);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  const auto add = [&](uint64_t offset, uint64_t bytes) {
    return gpu_extension().host_register(device, address + offset, bytes, &error_);
  };
  ASSERT_EQ(add(1000, 400), GUF_OK) << error_.message;
  for (const auto &[offset, bytes] : std::vector<std::pair<uint64_t, uint64_t>>{
           {1000, 400}, {1000, 4}, {1396, 4}, {0, 1004}, {1396, 400}, {1100, 100}, {0, 4000}}) {
    EXPECT_EQ(add(offset, bytes), GUF_E_EXISTS) << offset << ", " << bytes;
    EXPECT_EQ(error_.native_code, 712);
  }
  EXPECT_EQ(add(0, 1000), GUF_OK) << "ends where the first begins";
  EXPECT_EQ(add(1400, 400), GUF_OK) << "begins where the first ends";
  for (const uint64_t offset : {0, 1000, 1400})
    EXPECT_EQ(gpu_extension().host_unregister(device, address + offset, &error_), GUF_OK);
  EXPECT_EQ(add(0, 4000), GUF_OK) << "nothing is registered any more";
  EXPECT_EQ(gpu_extension().host_unregister(device, address, &error_), GUF_OK);
}

TEST_F(DeviceMemory, RegisteredMemoryNeedsNoStaging) {
  OpenDevice device;
  void *const stream = open_stream(device);
  std::vector<int> sent(1000, 5), received(1000);
  const auto from = reinterpret_cast<uint64_t>(sent.data());
  EXPECT_EQ(gpu_extension().host_register(device, from, 4000, &error_), GUF_OK) << error_.message;
  const uint64_t there = allocate(device, 4000, GUF_MEMORY_DEVICE, stream);
  sim().clear_calls();
  EXPECT_EQ(plugin().copy(device, stream, there, from, 4000, GUF_COPY_HOST_TO_DEVICE, &error_),
            GUF_OK);
  EXPECT_EQ(sim().calls(pick("cuLaunchHostFunc", "hipLaunchHostFunc")), 0u);
  EXPECT_EQ(plugin().copy(device, stream, reinterpret_cast<uint64_t>(received.data()), there, 4000,
                          GUF_COPY_DEVICE_TO_HOST, &error_),
            GUF_OK);
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(gpu_extension().host_unregister(device, from, &error_), GUF_OK);
  free(device, there, 4000, GUF_MEMORY_DEVICE, stream);
  plugin().stream_close(stream);
}

}  // namespace
}  // namespace gufunc::gpu_test

// SPDX-License-Identifier: Apache-2.0
// Implements the host table that the tests pass to the cpu backend.
#include "tests/unit/cpu/cpu_fixture.h"

#include <cstdlib>
#include <mutex>

#include "backends/cpu/runtime/cpu_table.h"

namespace gufunc::cpu {
namespace {

std::mutex log_lock;

void host_log(void *, int32_t, const char *message) {
  const std::lock_guard lock(log_lock);
  test_host().log.emplace_back(message);
}

void *host_alloc(void *, size_t size, size_t alignment) {
  if (test_host().alloc_fails) return nullptr;
  ++test_host().allocations;
  ++test_host().live;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void host_free(void *, void *pointer) {
  if (pointer != nullptr) --test_host().live;
  std::free(pointer);
}

const char *host_config(void *, const char *name) {
  const auto &config = test_host().config;
  const auto found = config.find(name);
  return found == config.end() ? nullptr : found->second.c_str();
}

}  // namespace

TestHost &test_host() {
  static TestHost host;
  return host;
}

const guf_backend_api &cpu() {
  static const guf_backend_api api = [] {
    static const guf_host_api host = {sizeof(guf_host_api), 0,         nullptr,    host_log,
                                      host_alloc,           host_free, host_config};
    guf_backend_api table = {};
    table.struct_size = sizeof(table);
    guf_error error = fresh_error();
    EXPECT_EQ(gufunc_backend_cpu_open(&host, 0, &table, &error), GUF_OK) << error.message;
    return table;
  }();
  return api;
}

void *cpu_device() {
  static void *device = [] {
    void *opened = nullptr;
    guf_backend_device_info info = {};
    info.struct_size = sizeof(info);
    guf_error error = fresh_error();
    EXPECT_EQ(cpu().device_open(0, 0, &opened, &info, &error), GUF_OK) << error.message;
    return opened;
  }();
  return device;
}

guf_launch_block make_block(const BlockRow &row) {
  guf_launch_block block = {};
  block.noperands = static_cast<int32_t>(row.addresses.size());
  block.nin = row.nin;
  block.nloop = static_cast<int32_t>(row.sizes.size());
  block.flags = row.flags;
  block.items = 1;
  for (const int64_t size : row.sizes) block.items *= static_cast<uint64_t>(size);
  block.size[0] = row.sizes.empty() ? 1 : row.sizes[0];
  for (size_t d = 1; d < row.sizes.size(); ++d) block.outer_size[d - 1] = row.sizes[d];
  for (size_t i = 0; i < row.addresses.size(); ++i) {
    block.address[i] = reinterpret_cast<uint64_t>(row.addresses[i]);
    block.dtype[i] = block.loop_dtype[i] = row.dtypes[i];
    const bool input = static_cast<int>(i) < row.nin;
    block.operand_flags[i] = input ? GUF_LAUNCH_OPERAND_READ : GUF_LAUNCH_OPERAND_WRITTEN;
    for (size_t d = 0; d < row.sizes.size(); ++d) {
      (d == 0 ? block.step[i] : block.outer_step[d - 1][i]) = row.steps[i][d];
    }
  }
  return block;
}

guf_status launch_block(const guf_launch_block &block, void (*loop)(void), guf_error *error,
                        void *stream, void *user, uint32_t max_threads, const char *failure) {
  const guf_backend_launch launch = {sizeof(guf_backend_launch),
                                     max_threads,
                                     reinterpret_cast<void *>(loop),
                                     stream,
                                     user,
                                     &block,
                                     failure};
  return cpu().launch(cpu_device(), &launch, error);
}

void add_f32(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    *reinterpret_cast<float *>(args[2]) =
        *reinterpret_cast<const float *>(args[0]) + *reinterpret_cast<const float *>(args[1]);
    for (int k = 0; k < 3; ++k) args[k] += steps[k];  // a loop may modify its args
  }
}

guf_status checked_add_f32(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (*reinterpret_cast<const float *>(args[1] + i * steps[1]) < 0) return GUF_E_VALUE;
  }
  add_f32(args, dims, steps, user);
  return GUF_OK;
}

}  // namespace gufunc::cpu

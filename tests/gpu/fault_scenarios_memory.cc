// SPDX-License-Identifier: Apache-2.0
// Scenarios with memory of every kind, copies in every direction, and fills.
#include "tests/gpu/fault_scenarios.h"

namespace gufunc::gpu_test {
namespace {

constexpr uint64_t kMemoryBytes = 4096;

unsigned char *host_bytes() {
  static unsigned char bytes[2 * kMemoryBytes];
  return bytes;
}
uint64_t host_address() {
  return reinterpret_cast<uint64_t>(host_bytes());
}

void allocate_every_kind(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  for (const int32_t kind :
       {GUF_MEMORY_DEVICE, GUF_MEMORY_PINNED, GUF_MEMORY_MAPPED, GUF_MEMORY_MANAGED}) {
    const RunMemory any_stream(run, owner, kMemoryBytes, kind);
    GUF_TEST_TRY(any_stream.status());
    const RunMemory streams(run, owner, kMemoryBytes, kind, stream.get());
    GUF_TEST_TRY(streams.status());
  }
}

// Frees memory on one stream, so that another stream can reuse it, and then returns cached memory
// to the driver.
void pass_memory_on(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  RunStream first(run, owner);
  GUF_TEST_TRY(first.status());
  const RunStream second(run, owner);
  GUF_TEST_TRY(second.status());
  for (int round = 0; round < 2; ++round) {
    RunMemory small(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, first.get());
    GUF_TEST_TRY(small.status());
    small.free();
    // This block has the same size class as the block that the first stream has freed. The freed
    // block waits for a fence, so a later allocation reuses it.
    RunMemory same(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, second.get());
    GUF_TEST_TRY(same.status());
  }
  RunMemory large(run, owner, uint64_t{80} << 20, GUF_MEMORY_DEVICE, first.get());
  GUF_TEST_TRY(large.status());
  large.free();
  first.close();
  for (const int32_t kind : {GUF_MEMORY_DEVICE, GUF_MEMORY_PINNED}) {
    GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_trim, owner, kind, 0));
  }
}

void run_out_of_memory(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  {
    const RunMemory some(run, owner, uint64_t{1} << 20);
    GUF_TEST_TRY(some.status());
  }
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_limit, owner, GUF_MEMORY_DEVICE, 3 << 19));
  const RunMemory more(run, owner, uint64_t{5} << 18);  // requires that cached memory is freed
  GUF_TEST_TRY(more.status());
  guf_gpu_memory memory = {};
  memory.struct_size = sizeof(memory);
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_statistics, owner, GUF_MEMORY_DEVICE, &memory));
  EXPECT_EQ(memory.live_bytes, uint64_t{5} << 18);
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_limit, owner, GUF_MEMORY_DEVICE, UINT64_MAX));
}

// Copies from the host to the device, on the device, and from the device to the host. The host
// memory is pageable or page-locked, and pageable memory is staged.
void copy_all_directions(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory a(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(a.status());
  const RunMemory b(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(b.status());
  const RunMemory pinned(run, owner, kMemoryBytes, GUF_MEMORY_PINNED);
  GUF_TEST_TRY(pinned.status());
  struct Way {
    uint64_t to, from;
    int32_t kind;
  };
  const Way ways[] = {{a.get(), host_address(), GUF_COPY_HOST_TO_DEVICE},
                      {b.get(), a.get(), GUF_COPY_DEVICE_TO_DEVICE},
                      {pinned.get(), b.get(), GUF_COPY_DEVICE_TO_HOST},
                      {host_address() + kMemoryBytes, b.get(), GUF_COPY_DEVICE_TO_HOST}};
  guf_status status = GUF_OK;
  for (const Way &way : ways) {
    if (status != GUF_OK) break;
    status =
        GUF_TEST_CALL(run, owner, copy, owner, stream.get(), way.to, way.from, kMemoryBytes, way.kind);
  }
  // Queued copies may write to host memory until wait_for returns, even if a call has failed.
  wait_for(run, owner, stream.get());
}

void register_memory(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, host_register, owner, host_address(), kMemoryBytes));
  struct Registration {
    Trial &run;
    void *owner;
    ~Registration() { GUF_TEST_GPU_CALL(run, owner, host_unregister, owner, host_address()); }
  } const registration = {run, owner};
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kMemoryBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, copy, owner, stream.get(), there.get(), host_address(),
                             kMemoryBytes, GUF_COPY_HOST_TO_DEVICE));
  wait_for(run, owner, stream.get());
}

// Fills memory with patterns of 1, 2 and 4 bytes, which the driver writes, and with patterns of
// other sizes, which a kernel writes.
void fill_all_sizes(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kMemoryBytes);
  GUF_TEST_TRY(there.status());
  static constexpr unsigned char kPattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const uint32_t size : {1u, 2u, 4u, 3u, 8u}) {
    GUF_TEST_TRY(
        GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kPattern, size, 16));
  }
  wait_for(run, owner, stream.get());
}

void reach_a_peer(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  const RunDevice peer(run, 1);
  GUF_TEST_TRY(peer.status());
  const RunMemory here(run, device.get(), kMemoryBytes);
  GUF_TEST_TRY(here.status());
  const RunMemory there(run, peer.get(), kMemoryBytes);
  GUF_TEST_TRY(there.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_enable, owner, peer.get()));
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_enable, owner, peer.get()));
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, peer_copy, owner, stream.get(), there.get(),
                                 peer.get(), here.get(), owner, kMemoryBytes));
  int32_t index = -1;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, memory_device, owner, there.get(), &index));
  wait_for(run, owner, stream.get());
}

}  // namespace

std::vector<Scenario> memory_scenarios() {
  return {{"allocate every kind", allocate_every_kind},
          {"pass memory on", pass_memory_on},
          {"run out of memory", run_out_of_memory},
          {"copy all directions", copy_all_directions},
          {"register memory", register_memory},
          {"fill all sizes", fill_all_sizes},
          {"reach a peer", reach_a_peer}};
}

}  // namespace gufunc::gpu_test

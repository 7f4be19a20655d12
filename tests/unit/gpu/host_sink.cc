// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gpu/host_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/emulator/emulator.h"
#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {
namespace {

void *host_memory(void *, size_t size, size_t alignment) {
  return ::operator new(size, std::align_val_t{std::max(alignment, sizeof(void *))});
}
void free_host_memory(void *, void *memory) {
  ::operator delete(memory, std::align_val_t{sizeof(void *)});
}

constexpr guf_host_api kHost = {sizeof(guf_host_api),
                                0,
                                nullptr,
                                [](void *, int32_t, const char *) {},
                                host_memory,
                                free_host_memory,
                                [](void *, const char *) -> const char * { return nullptr; }};

}  // namespace

HostSink::HostSink(const std::vector<HostEntry> &entries) : entries_(entries) {
  set_host(&kHost);
}

bool HostSink::has(Entry entry) const {
  const auto i = static_cast<size_t>(entry);
  return entry >= Entry::kLoopEntries || (i < entries_.size() && entries_[i].run != nullptr);
}

guf_status HostSink::run(const Command &command, guf_error *) {
  const bool copies = command.entry >= Entry::kLoopEntries;
  const HostEntry &entry =
      (copies ? copy_entries() : entries_).at(static_cast<size_t>(command.entry));
  EXPECT_NE(entry.run, nullptr);
  EXPECT_EQ(command.block_bytes, entry.block_bytes);
  EXPECT_LE(command.threads, entry.max_threads);
  EXPECT_LT(uint64_t{command.blocks} * command.threads, uint64_t{1} << 31);
  EXPECT_LE(command.shared_bytes, traits_.max_shared_bytes);
  const std::vector<char> block(static_cast<const char *>(command.block),
                                static_cast<const char *>(command.block) + command.block_bytes);
  emulator::Launch launch = {};
  launch.entry = entry.run;
  launch.arguments = block.data();
  for (int i = 0; i < 3; ++i) launch.blocks[i] = launch.threads[i] = 1;
  launch.blocks[0] = command.blocks;
  launch.threads[0] = command.threads;
  launch.shared_bytes = command.shared_bytes;
  launch.synchronizes = entry.synchronizes;
  launch.descending = launches_++ % 2 != 0;
  const emulator::Result result = emulator::run(launch);
  char text[256] = {};
  emulator::describe(result, text, sizeof(text));
  EXPECT_EQ(result.outcome, emulator::Outcome::kDone) << text;
  return result.outcome == emulator::Outcome::kDone ? GUF_OK : GUF_E_INTERNAL;
}

guf_status HostSink::scratch(uint64_t bytes, uint64_t *out_address, guf_error *) {
  EXPECT_NE(bytes, 0U);
  memory_.emplace_back(::operator new(bytes, std::align_val_t{256}));
  std::memset(memory_.back().get(), 0xC3, bytes);
  *out_address = reinterpret_cast<uint64_t>(memory_.back().get());
  return GUF_OK;
}

guf_status HostSink::upload(const void *source, uint64_t bytes, uint64_t *out_address,
                            guf_error *error) {
  const guf_status status = scratch(bytes, out_address, error);
  std::memcpy(reinterpret_cast<void *>(*out_address), source, bytes);
  return status;
}

guf_status HostSink::status_word(uint64_t *out_address, guf_error *) {
  *out_address = reinterpret_cast<uint64_t>(&status_);
  return GUF_OK;
}

}  // namespace gufunc::gpu

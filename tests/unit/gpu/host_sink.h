// SPDX-License-Identifier: Apache-2.0
// Provides a CommandSink that runs each command immediately on the host, one call per work-item.
// The sink receives the commands that a device would receive, and sanitizers check each memory
// access.
#ifndef GUFUNC_TESTS_UNIT_GPU_HOST_SINK_H
#define GUFUNC_TESTS_UNIT_GPU_HOST_SINK_H

#include <gufunc/kernel/device_block.hpp>
#include <gufunc/kernel/work_item.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// A device entry that was compiled for the host, and its declared properties.
struct HostEntry {
  guf::device::item_entry run = nullptr;
  uint32_t block_bytes = 0, max_threads = 0;
  bool synchronizes = false;
};

// Returns the entries of the copy and cast kernels, indexed by Entry. Entries that belong to loops
// are empty.
const std::vector<HostEntry> &copy_entries();

class HostSink final : public CommandSink {
 public:
  // `entries` are the entries of the loop, indexed by Entry. The sink borrows them.
  explicit HostSink(const std::vector<HostEntry> &entries);

  const DeviceTraits &traits() const override { return traits_; }
  bool has(Entry entry) const override;
  uint32_t local_bytes(Entry) const override { return 0; }
  guf_status run(const Command &command, guf_error *error) override;
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override;
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override;
  guf_status status_word(uint64_t *out_address, guf_error *error) override;

  uint32_t status() const { return status_; }
  uint64_t launches() const { return launches_; }

  DeviceTraits traits_ = {132, 2, 48 * 1024, 0};

 private:
  struct Free {
    void operator()(void *memory) const { ::operator delete(memory, std::align_val_t{256}); }
  };
  const std::vector<HostEntry> &entries_;
  std::vector<std::unique_ptr<void, Free>> memory_;
  uint32_t status_ = 0;
  uint64_t launches_ = 0;
};

}  // namespace gufunc::gpu

namespace gufunc::gpu::test {

// Number of commands per entry, indexed by Entry.
using EntryCounts = std::array<uint64_t, static_cast<size_t>(Entry::kEntries)>;

// A HostSink that counts commands per entry and can simulate a lack of scratch memory.
class CountingSink final : public CommandSink {
 public:
  explicit CountingSink(const std::vector<HostEntry> &entries) : host_(entries) {
    host_.traits_ = {1, guf::device::kRowVectors, 64 * 1024, 4 << 20};
  }

  const DeviceTraits &traits() const override { return host_.traits(); }
  bool has(Entry entry) const override { return entry != missing && host_.has(entry); }
  uint32_t local_bytes(Entry entry) const override { return entry == spilling ? 16384 : 0; }
  guf_status run(const Command &command, guf_error *error) override {
    ++count;
    ++used[static_cast<size_t>(command.entry)];
    if (command.entry == Entry::kRow) {
      guf::device::row_head head;
      std::memcpy(&head, command.block, sizeof head);
      if ((head.flags & guf::device::kVectors) != 0) ++vectors;
    }
    return host_.run(command, error);
  }
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override {
    if (no_scratch) return GUF_E_DEVICE_MEMORY;
    return host_.scratch(bytes, out_address, error);
  }
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override {
    return host_.upload(source, bytes, out_address, error);
  }
  guf_status status_word(uint64_t *out_address, guf_error *error) override {
    return host_.status_word(out_address, error);
  }
  uint32_t status() const { return host_.status(); }

  uint64_t count = 0;
  uint64_t vectors = 0;  // number of commands for Entry::kRow that use vectors
  EntryCounts used = {};
  bool no_scratch = false;
  Entry missing = Entry::kEntries;   // entry that the kernel lacks, if any
  Entry spilling = Entry::kEntries;  // entry that uses much local memory, if any

 private:
  HostSink host_;
};

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_HOST_SINK_H

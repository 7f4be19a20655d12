// SPDX-License-Identifier: Apache-2.0
// Provides a HostSink that counts commands per entry and can simulate a lack of scratch memory.
#ifndef GUFUNC_TESTS_UNIT_GPU_COUNTING_SINK_H
#define GUFUNC_TESTS_UNIT_GPU_COUNTING_SINK_H

#include <gufunc/kernel/device_block.hpp>

#include <array>
#include <cstring>
#include <vector>

#include "tests/unit/gpu/host_sink.h"

namespace gufunc::gpu::test {

// Number of commands per entry, indexed by Entry.
using EntryCounts = std::array<uint64_t, static_cast<size_t>(Entry::kEntries)>;

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

#endif  // GUFUNC_TESTS_UNIT_GPU_COUNTING_SINK_H

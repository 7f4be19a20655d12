// SPDX-License-Identifier: Apache-2.0
// Chooses how many threads compute one item, from the size, number and layout of the items.
#include <algorithm>
#include <gufunc/kernel/group.hpp>

#include "backends/gpu/geometry/block_writer.h"
#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_parts.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

// The shared memory of a block in which rows may be staged. Every device supports this size.
constexpr uint32_t kStagedShared = 48 * 1024;
// The maximum number of resident blocks on a multiprocessor.
constexpr uint64_t kUnitBlocks = 2048 / dev::kItemThreads;
constexpr int64_t kLaneElements = 32, kBlockElements = 1024, kFewItemsElements = 256;

using GeneralizedWriter =
    BlockWriter<dev::generalized_head, sizeof(dev::staged_block<kMaxOperands>) + 8>;

// The core dimensions of the operands of a launch.
struct CoreShape {
  int64_t stride[kMaxOperands][dev::kCoreStrides];
  int64_t elements[kMaxOperands];  // number of elements of an item
  uint32_t bytes[kMaxOperands];    // size of an element
  bool packed[kMaxOperands];       // whether the elements of an item are contiguous
  int64_t most;                    // largest number of elements of an item in any operand
};

void take_core(const guf_launch_block &block, CoreShape *out) {
  out->most = 1;
  int place = 0;
  for (int i = 0; i < block.noperands; ++i) {
    const int ndim = block.core_ndim[i];
    out->bytes[i] = dtype_size(block.loop_dtype[i]);
    int64_t elements = 1;
    bool packed = true;
    for (int j = ndim - 1; j >= 0; --j) {
      const int64_t size = block.size[1 + block.core_name[place + j]];
      const int64_t stride = block.step[block.noperands + place + j];
      out->stride[i][j] = stride;
      packed = packed && (size == 1 || stride == elements * out->bytes[i]);
      elements *= size;
    }
    for (int j = ndim; j < dev::kCoreStrides; ++j) out->stride[i][j] = 0;
    place += ndim;
    out->elements[i] = elements;
    out->packed[i] = packed;
    out->most = std::max(out->most, elements);
  }
}

// Assigns shared memory to the rows of `items` items. A row consists of the elements of one item in
// one operand. Returns the number of bytes, or 0 if no row is staged or the rows do not fit.
uint32_t place_rows(const guf_launch_block &block, const LaunchShape &shape, const CoreShape &core,
                    uint32_t items, dev::staged_row *rows) {
  uint64_t used = 0;
  for (int i = 0; i < shape.count; ++i) {
    rows[i] = {{0, 0, 0}, 0, 0, 0};
    const int64_t row_bytes = core.elements[i] * core.bytes[i];
    const bool follows = shape.ndim == 1 && shape.step[0][i] == row_bytes;
    if (core.elements[i] < 2 || !core.packed[i] || !follows) continue;
    const auto elements = static_cast<uint64_t>(core.elements[i]);
    const uint64_t pitch = elements | 1;
    if (pitch * core.bytes[i] > kStagedShared) return 0;
    const bool written = (block.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
    // Rows that the mask excludes are written back unchanged, so they must be read first.
    const bool read =
        i < block.nin || shape.mask != 0 || (block.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0;
    rows[i].elements = divisor_of(static_cast<uint32_t>(elements));
    rows[i].pitch = static_cast<uint32_t>(pitch);
    rows[i].at = static_cast<uint32_t>(used);
    if (read) rows[i].copies |= dev::kStagedIn;
    if (written) rows[i].copies |= dev::kStagedOut;
    if (shape.address[i] % 16 == 0) rows[i].copies |= dev::kStagedWords;
    used += (items * pitch * core.bytes[i] + 15) & ~uint64_t{15};
    if (used > kStagedShared) return 0;
  }
  return static_cast<uint32_t>(used);
}

struct Mapping {
  Entry entry;
  uint32_t items;   // number of items of a block
  uint32_t shared;  // bytes of shared memory
  uint64_t limit;   // maximum number of items of a launch
};

// Returns whether there is an operand in which corresponding elements of neighbouring items are
// adjacent in memory. With one thread per item, neighbouring threads then access adjacent elements.
bool is_by_columns(const LaunchShape &shape, const CoreShape &core) {
  if (shape.ndim == 0) return false;
  for (int i = 0; i < shape.count; ++i) {
    if (core.elements[i] > 1 && shape.step[0][i] == static_cast<int64_t>(core.bytes[i])) {
      return true;
    }
  }
  return false;
}

Mapping by_block(const CommandSink &commands) {
  // A kernel that requests shared memory has the entry `block` but no entry `lanes`, and the launch
  // must provide the memory.
  const uint32_t own = commands.has(Entry::kLanes) ? 0 : uint32_t{guf::kSharedBytes};
  return {Entry::kBlock, 1, dev::kGroupScratch + own, kMaxBlocks};
}

Mapping choose_mapping(const guf_launch_block &block, const LaunchShape &shape,
                       const CoreShape &core, const LaunchStatus &status,
                       const CommandSink &commands, dev::staged_row *rows) {
  const Mapping by_thread = {Entry::kThread, dev::kItemThreads, 0, kMaxItems};
  const bool has_block = commands.has(Entry::kBlock);
  if (!commands.has(Entry::kThread)) return by_block(commands);
  if (status.fp_flags != 0) return by_thread;
  const bool few = shape.items < uint64_t{commands.traits().multiprocessors} * 16;
  if (has_block && (core.most >= kBlockElements || (few && core.most >= kFewItemsElements))) {
    return by_block(commands);
  }
  if (is_by_columns(shape, core)) return by_thread;
  if (commands.has(Entry::kLanes) && core.most >= kLaneElements) {
    return {Entry::kLanes, dev::kSubgroups, 0, kMaxItems / dev::kLanes * 2};
  }
  if (!commands.has(Entry::kStaged)) return by_thread;
  for (uint32_t items = dev::kItemThreads; items >= dev::kLanes; items /= 2) {
    const uint32_t shared = place_rows(block, shape, core, items, rows);
    if (shared != 0) return {Entry::kStaged, items, shared, kMaxItems};
  }
  return by_thread;
}

guf_status queue_mapped(const guf_launch_block &block, const LaunchShape &shape,
                        const CoreShape &core, const LaunchStatus &status, const Mapping &mapping,
                        const dev::staged_row *rows, CommandSink &commands, guf_error *error) {
  GeneralizedWriter writer;
  dev::generalized_head &head = writer.head();
  write_items(shape, &head);
  head.status = status.address;
  head.fp_flags = status.fp_flags;
  head.options = mapping.items;
  std::copy_n(block.size + 1, block.ncore, head.core_size);
  write_strides(shape, &writer);
  writer.add(core.stride[0], shape.count * int{dev::kCoreStrides});
  if (mapping.entry == Entry::kStaged) writer.add(rows, shape.count);
  const uint32_t bytes = writer.size();
  return commands.run({mapping.entry, ceil_div(shape.items, mapping.items), dev::kItemThreads,
                       mapping.shared, writer.data(), bytes},
                      error);
}

// Returns the maximum number of items of a launch. Some drivers allocate local
// memory for all blocks of a launch that can be resident at the same time.
// Kernels with much local memory are therefore launched with fewer blocks.
uint64_t items_of_launch(const Mapping &mapping, const CommandSink &commands) {
  const uint64_t block_bytes = uint64_t{commands.local_bytes(mapping.entry)} * dev::kItemThreads;
  const uint64_t most_bytes = commands.traits().multiprocessor_local_bytes;
  if (most_bytes == 0 || block_bytes * kUnitBlocks <= most_bytes) return mapping.limit;
  const uint64_t blocks = std::max<uint64_t>(most_bytes / block_bytes, 1);
  return std::min(mapping.limit, blocks * commands.traits().multiprocessors * mapping.items);
}

}  // namespace

guf_status queue_generalized(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error) {
  LaunchShape shape;
  CoreShape core;
  init_shape(block, &shape);
  for (int i = 0; i < block.noperands; ++i) {
    if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) == 0) continue;
    GUF_BACKEND_TRY(place_immediate(block, i, true, &shape.address[i], commands, error));
  }
  take_core(block, &core);
  dev::staged_row rows[kMaxOperands];
  const Mapping mapping = choose_mapping(block, shape, core, status, commands, rows);
  if (!commands.has(mapping.entry)) return fail_no_entry(error, "block");
  if (mapping.shared > commands.traits().max_shared_bytes) {
    return fail(
        error, GUF_E_UNSUPPORTED,
        "the function needs %u bytes of shared memory, a block of the device has at most %u",
        mapping.shared, commands.traits().max_shared_bytes);
  }
  return for_each_part(shape, items_of_launch(mapping, commands), [&](const LaunchShape &part) {
    return queue_mapped(block, part, core, status, mapping, rows, commands, error);
  });
}

}  // namespace gufunc::gpu

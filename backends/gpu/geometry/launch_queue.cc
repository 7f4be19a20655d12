// SPDX-License-Identifier: Apache-2.0
// Checks a launch, determines the operands to stage and queues the launch, or describes its
// commands as text.
#include "backends/gpu/geometry/launch_queue.h"

#include <gufunc/kernel/group.hpp>

#include <algorithm>
#include <cstring>

#include "backends/gpu/geometry/block_writer.h"
#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/geometry/command_text.h"
#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_row.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

// The status word of a launch and the floating-point flags that the launch must check.
struct LaunchStatus {
  uint64_t address;   // 0: no status word
  uint32_t fp_flags;  // flags of guf_fp_flag
};

// The operands that must first be copied to scratch memory in the loop's dtypes, as bit masks.
// Copying the `optional` operands only makes the launch faster.
struct StagedOperands {
  uint32_t needed, optional;
};

// Reports GUF_E_NO_IMAGE.
[[gnu::cold]] guf_status fail_no_entry(guf_error *error, const char *entry) {
  return fail(error, GUF_E_NO_IMAGE,
              "the kernel's image lacks the entry '%s', which the launch requires", entry);
}

// Converts an immediate operand to the loop's dtype. Writes the bits of the element to *out_address
// or, if the element has 16 bytes or `in_memory` is set, the address of the element in device
// memory.
guf_status place_immediate(const guf_launch_block &block, int operand, bool in_memory,
                           uint64_t *out_address, CommandSink &commands, guf_error *error) {
  const guf_dtype from = block.dtype[operand], to = block.loop_dtype[operand];
  ElementCast cast = {};
  if (!choose_cast(from, to, &cast)) return fail_no_cast(error, operand, from, to);
  const auto *const host = reinterpret_cast<const void *>(block.address[operand]);
  const guf::device::raw_element raw =
      cast_on_host(host, from, block.operand_flags[operand], to, cast);
  *out_address = raw.lo;
  if (!in_memory && dtype_size(to) <= 8) return GUF_OK;
  return commands.upload(&raw, sizeof raw, out_address, error);
}

// ---- Elementwise launches use the entry `row` if the operands have the loop's dtypes and the rows
// are long, and the entry `nd` otherwise.

using NdWriter = BlockWriter<dev::items_head, sizeof(dev::nd_block<kMaxOperands>) + 8>;

// The operands of a launch in the representation that the entries require.
struct LoopOperands {
  uint32_t bytes[kMaxOperands];  // element sizes of the loop's dtypes
  uint32_t form[kMaxOperands];   // set only if `forms` is true or `immediates` is not 0
  uint32_t immediates;           // bit mask of immediate operands
  bool forms;                    // some operand needs a conversion or is not aligned
};

guf_status queue_nd_part(const LaunchShape &shape, const LoopOperands &operands,
                         const LaunchStatus &status, CommandSink &commands, guf_error *error) {
  NdWriter writer;
  dev::items_head &head = writer.head();
  write_items(shape, &head);
  head.status = status.address;
  head.fp_flags = status.fp_flags;
  head.options = operands.forms ? uint32_t{dev::kForms} : 0U;
  write_strides(shape, &writer);
  if (operands.forms) {
    writer.add(operands.form, shape.count);
  } else {
    writer.skip(static_cast<size_t>(shape.count) * sizeof(uint32_t));
  }
  const auto elements = static_cast<uint64_t>(dev::nd_elements(shape.count));
  const uint32_t blocks = ceil_div(shape.items, elements * dev::kThreads);
  const uint32_t bytes = writer.size();
  return commands.run({Entry::kNd, blocks, dev::kThreads, 0, writer.data(), bytes}, error);
}

// Determines the forms of the operands and replaces the addresses of immediate operands.
guf_status take_operands(const guf_launch_block &block, LaunchShape *shape, LoopOperands *out,
                         CommandSink &commands, guf_error *error) {
  constexpr uint32_t kStored = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;
  out->immediates = 0;
  out->forms = false;
  bool odd = false;
  for (int i = 0; i < block.noperands; ++i) {
    out->bytes[i] = dtype_size(block.loop_dtype[i]);
    const uint32_t flags = block.operand_flags[i];
    if (__builtin_expect((flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0, 0)) {
      GUF_BACKEND_TRY(place_immediate(block, i, false, &shape->address[i], commands, error));
      if (out->bytes[i] <= 8) out->immediates |= 1U << i;
    } else {
      odd = odd || block.dtype[i] != block.loop_dtype[i] || (flags & kStored) != 0;
    }
  }
  if (!odd && out->immediates == 0) return GUF_OK;
  for (int i = 0; i < block.noperands; ++i) {
    const bool given = (block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0;
    const uint32_t own = form_of(block.loop_dtype[i], 0);
    out->form[i] = given ? own : form_of(block.dtype[i], block.operand_flags[i]);
    out->forms = out->forms || out->form[i] != own;
    if ((out->immediates >> i & 1U) != 0) out->form[i] |= dev::kFormImmediate;
  }
  return GUF_OK;
}

// Requires operands of the loop's dtypes, except for casts that the entry `nd` supports.
guf_status queue_elementwise(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error) {
  LaunchShape shape;
  LoopOperands operands;
  init_shape(block, &shape);
  GUF_BACKEND_TRY(take_operands(block, &shape, &operands, commands, error));
  const bool plain = !operands.forms && shape.mask == 0 && status.fp_flags == 0;
  if (plain && row_supports(shape) && commands.has(Entry::kRow) &&
      (prefers_row(shape) || !commands.has(Entry::kNd))) {
    const RowLoop loop = {Entry::kRow,         block.nin,      commands.traits().vectors,
                          operands.immediates, operands.bytes, status.address};
    return queue_row(shape, loop, commands, error);
  }
  if (!commands.has(Entry::kNd)) return fail_no_entry(error, "nd");
  operands.forms = operands.forms || operands.immediates != 0;
  return for_each_part(shape, kMaxItems, [&](const LaunchShape &part) {
    return queue_nd_part(part, operands, status, commands, error);
  });
}

// ---- Generalized launches. The number of threads that compute one item is chosen from the size,
// number and layout of the items.

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

// Requires operands of the loop's dtypes that are native and aligned, or immediate.
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

// ---- Staging of operands that an entry cannot access directly. Inputs are copied to scratch
// memory before the launch, and results are copied back after the launch.

// Transposing an operand costs two passes over it. Without transposing,
// `row` reads a memory sector for each element.
constexpr uint64_t kMinTransposedItems = uint64_t{1} << 16;  // number of items
constexpr int64_t kTransposedSide = 16;

// Returns whether an input should be transposed. Transposing is useful if the input is contiguous
// along a dimension other than 0, while all outputs are contiguous along dimension 0.
bool is_transposed(const guf_launch_block &block, int operand) {
  const uint64_t bytes = dtype_size(block.dtype[operand]);
  if (abs_step(block.step[operand]) < 4 * bytes || block.size[0] < kTransposedSide) return false;
  bool along = false;
  for (int d = 1; d < block.nloop; ++d) {
    const int64_t step = block.outer_step[d - 1][operand];
    // The operand is broadcast, so a copy would not reduce the work.
    if (step == 0) return false;
    along = along ||
            (step == static_cast<int64_t>(bytes) && block.outer_size[d - 1] >= kTransposedSide);
  }
  for (int i = block.nin; i < block.noperands; ++i) {
    along = along && block.step[i] == static_cast<int64_t>(dtype_size(block.dtype[i]));
  }
  return along;
}

// The copy of one operand to or from scratch memory.
struct StagedOperand {
  int operand;
  LaunchShape shape;  // operand 0 is the launch's operand, operand 1 the scratch memory
};

// Computes the operand's steps in scratch memory, writes
// them to `inner` and returns the size of the scratch memory.
// A dimension with step 0 is left out, because all its elements are the same. An empty dimension is
// kept, so that nothing is copied.
uint64_t lay_out(const guf_launch_block &block, int operand, guf_launch_block *inner,
                 StagedOperand *out) {
  out->operand = operand;
  LaunchShape &shape = out->shape;
  shape.count = 2;
  shape.ndim = 0;
  shape.items = 1;
  // The mask of results must be set first, because merging dimensions uses the steps of the mask.
  shape.mask = block.mask;
  if ((block.flags & GUF_LAUNCH_MASKED) == 0) shape.mask = 0;
  int64_t next = dtype_size(block.loop_dtype[operand]);
  const auto add = [&](int64_t size, int64_t step, int64_t mask_step) -> int64_t {
    if (size == 1 || (step == 0 && size != 0)) return 0;
    const int64_t steps[2] = {step, next};
    add_dimension(&shape, size, steps, mask_step);
    shape.items *= static_cast<uint64_t>(size);
    next *= size;
    return steps[1];
  };
  int first = block.noperands;
  for (int i = 0; i < operand; ++i) first += block.core_ndim[i];
  for (int j = block.core_ndim[operand] - 1; j >= 0; --j) {
    const int place = first + j - block.noperands;
    inner->step[first + j] = add(block.size[1 + block.core_name[place]], block.step[first + j], 0);
  }
  if (block.nloop > 0) {
    inner->step[operand] = add(block.size[0], block.step[operand], block.mask_step[0]);
  }
  for (int d = 1; d < block.nloop; ++d) {
    inner->outer_step[d - 1][operand] =
        add(block.outer_size[d - 1], block.outer_step[d - 1][operand], block.mask_step[d]);
  }
  return static_cast<uint64_t>(next == 0 ? 1 : next);
}

guf_status stage_in(const guf_launch_block &block, guf_launch_block *inner, StagedOperand *out,
                    CommandSink &commands, guf_error *error) {
  const int i = out->operand;
  const bool read = i < block.nin || (block.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0;
  out->shape.address[0] = block.address[i];
  out->shape.address[1] = inner->address[i];
  inner->dtype[i] = block.loop_dtype[i];
  inner->operand_flags[i] &= ~kStoredFlags;
  if (!read) return GUF_OK;
  LaunchShape whole = out->shape;
  whole.mask = 0;
  return queue_copy(&whole, {block.dtype[i], block.operand_flags[i]}, {block.loop_dtype[i], 0},
                    commands, error);
}

guf_status stage_out(const guf_launch_block &block, const StagedOperand &staged,
                     CommandSink &commands, guf_error *error) {
  const int i = staged.operand;
  if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) == 0) return GUF_OK;
  LaunchShape back = staged.shape;
  std::swap(back.address[0], back.address[1]);
  for (int d = 0; d < back.ndim; ++d) std::swap(back.step[d][0], back.step[d][1]);
  return queue_copy(&back, {block.loop_dtype[i], 0},
                    {block.dtype[i], block.operand_flags[i] & kStoredFlags}, commands, error);
}

guf_status find_staged(const guf_launch_block &block, const CommandSink &commands,
                       StagedOperands *out, guf_error *error) {
  *out = {0, 0};
  const bool generalized = (block.flags & GUF_LAUNCH_GENERALIZED) != 0;
  const bool may_transpose = !generalized && block.items >= kMinTransposedItems &&
                             block.nloop >= 2 && (block.flags & GUF_LAUNCH_MASKED) == 0 &&
                             commands.has(Entry::kRow);
  for (int i = 0; i < block.noperands; ++i) {
    const uint32_t flags = block.operand_flags[i];
    if ((flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0) continue;
    const bool stored = (flags & kStoredFlags) != 0;
    bool needed = generalized && stored;
    if (__builtin_expect(block.dtype[i] != block.loop_dtype[i], 0)) {
      ElementCast in = {}, back = {};
      const guf_dtype from = block.dtype[i], to = block.loop_dtype[i];
      const bool written = (flags & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
      const bool read = !written || (flags & GUF_LAUNCH_OPERAND_READ) != 0;
      if (read && !choose_cast(from, to, &in)) return fail_no_cast(error, i, from, to);
      if (written && !choose_cast(to, from, &back)) return fail_no_cast(error, i, to, from);
      needed = needed || in.kind != guf::device::kRecast || back.kind != guf::device::kRecast;
      needed = needed || (generalized && !((!read || in.same) && (!written || back.same)));
    } else if (may_transpose && i < block.nin && !stored && is_transposed(block, i)) {
      out->optional |= 1U << i;
    }
    if (needed) out->needed |= 1U << i;
  }
  return GUF_OK;
}

guf_status queue_staged(const guf_launch_block &block, const StagedOperands &staged,
                        const LaunchStatus &status, CommandSink &commands, guf_error *error) {
  guf_launch_block inner = block;
  StagedOperand operands[kMaxOperands];
  int nstaged = 0;
  for (int i = 0; i < block.noperands; ++i) {
    const bool needed = (staged.needed >> i & 1U) != 0;
    if (!needed && (staged.optional >> i & 1U) == 0) continue;
    guf_launch_block tried = inner;
    const uint64_t bytes = lay_out(block, i, &tried, &operands[nstaged]);
    const guf_status allocated = commands.scratch(bytes, &tried.address[i], error);
    if (allocated != GUF_OK && needed) return allocated;
    if (allocated != GUF_OK) continue;
    inner = tried;
    GUF_BACKEND_TRY(stage_in(block, &inner, &operands[nstaged++], commands, error));
  }
  GUF_BACKEND_TRY((block.flags & GUF_LAUNCH_GENERALIZED) != 0
                      ? queue_generalized(inner, status, commands, error)
                      : queue_elementwise(inner, status, commands, error));
  for (int k = 0; k < nstaged; ++k) GUF_BACKEND_TRY(stage_out(block, operands[k], commands, error));
  return GUF_OK;
}

// ---- The check of a launch.

constexpr uint32_t kLaunchFlags = GUF_LAUNCH_GENERALIZED | GUF_LAUNCH_ANY_THREAD |
                                  GUF_LAUNCH_STATUS | GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST |
                                  GUF_LAUNCH_SWAPPED;

guf_status check_launch(const guf_launch_block &block, guf_error *error) {
  const uint32_t unknown = block.flags & ~kLaunchFlags;
  if (__builtin_expect(unknown != 0, 0)) {
    return fail(error, GUF_E_UNSUPPORTED, "launch flags: 0x%x is not known to this plugin",
                unknown);
  }
  if (__builtin_expect(block.noperands > kMaxOperands, 0)) {
    return fail(error, GUF_E_UNSUPPORTED,
                "the loop has %d operands; on a device it may have at most %d", block.noperands,
                kMaxOperands);
  }
  if ((block.flags & GUF_LAUNCH_GENERALIZED) == 0) return GUF_OK;
  if (block.ncore > guf::device::kCoreNames) {
    return fail(error, GUF_E_UNSUPPORTED,
                "the signature has %d core dimensions; on a device it may have at most %d",
                block.ncore, int{guf::device::kCoreNames});
  }
  for (int i = 0; i < block.noperands; ++i) {
    if (block.core_ndim[i] <= guf::device::kCoreStrides) continue;
    return fail(error, GUF_E_UNSUPPORTED,
                "operand %d has %d core dimensions; on a device it may have at most %d", i,
                block.core_ndim[i], int{guf::device::kCoreStrides});
  }
  return GUF_OK;
}

// Returns the requested floating-point flags that the function can raise (docs/fp-flags.md).
uint32_t requested_fp_flags(const guf_launch_block &block, const guf_fp_status *fp_status) {
  if (fp_status == nullptr) return 0;
  uint32_t fp_flags = fp_status->report | fp_status->fail;
  if ((fp_status->function_flags & GUF_FUNCTION_UNDERFLOWS) == 0) {
    fp_flags &= ~uint32_t{GUF_FP_UNDERFLOW};
  }
  if ((fp_status->function_flags & GUF_FUNCTION_DIVIDES) == 0 || block.ncore != 0) {
    fp_flags &= ~uint32_t{GUF_FP_INTEGER_DIVIDE};
  }
  return fp_flags;
}

}  // namespace

guf_status queue_launch(const guf_backend_launch &launch, CommandSink &commands, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  GUF_BACKEND_TRY(check_launch(block, error));
  if (block.items == 0) return GUF_OK;
  StagedOperands staged;
  GUF_BACKEND_TRY(find_staged(block, commands, &staged, error));
  LaunchStatus status = {0, requested_fp_flags(block, launch.fp_status)};
  if (status.fp_flags != 0 || (block.flags & GUF_LAUNCH_STATUS) != 0) {
    GUF_BACKEND_TRY(commands.status_word(&status.address, error));
  }
  if (__builtin_expect((staged.needed | staged.optional) != 0, 0)) {
    return queue_staged(block, staged, status, commands, error);
  }
  return (block.flags & GUF_LAUNCH_GENERALIZED) != 0
             ? queue_generalized(block, status, commands, error)
             : queue_elementwise(block, status, commands, error);
}

guf_status describe_launch_commands(const guf_backend_launch &launch, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error) {
  static constexpr unsigned char kElement[16] = {};  // a placeholder for immediate operands
  guf_launch_block block = *launch.block;
  for (int i = 0; i < block.noperands; ++i) {
    if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) == 0) continue;
    block.address[i] = reinterpret_cast<uint64_t>(&kElement);
  }
  guf_backend_launch described = launch;
  described.block = &block;
  CommandText commands(device, out_text, text_size);
  return queue_launch(described, commands, error);
}

}  // namespace gufunc::gpu

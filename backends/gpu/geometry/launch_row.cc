// SPDX-License-Identifier: Apache-2.0
// A block of the entry `row` has 2^log2_row_threads threads along the inner dimension. The block
// processes as many rows at a time as it has groups of 2^log2_row_threads threads.
#include "backends/gpu/geometry/launch_row.h"

#include <algorithm>

#include "backends/gpu/geometry/block_writer.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

constexpr size_t kRowBytes = sizeof(dev::row_block<kMaxOperands>);
using RowWriter = BlockWriter<dev::row_head, kRowBytes + 8>;

// Returns the number of elements in a vector, which a thread accesses in one operation. The vector
// of the widest operand has 16 bytes.
uint32_t vector_of(const LaunchShape &shape, const RowLoop &loop) {
  uint32_t widest = 1;
  for (int i = 0; i < shape.count; ++i) widest = std::max(widest, loop.bytes[i]);
  return widest >= 16 ? 1 : 16 / widest;
}

// Determines the kinds of all operands. Sets *out_vectors if all operands that are not constant can
// use vector accesses.
uint32_t kinds_of(const LaunchShape &shape, const RowLoop &loop, uint32_t vector,
                  bool *out_vectors) {
  uint32_t kinds = 0;
  uint64_t misaligned = 0;
  bool contiguous = true;
  for (int i = 0; i < shape.count; ++i) {
    const int64_t step = shape.ndim == 0 ? 0 : shape.step[0][i];
    uint32_t kind = dev::kStrided;
    if ((loop.immediates >> i & 1U) != 0) {
      kind = dev::kImmediate;
    } else if (step == 0 && i < loop.nin) {
      kind = dev::kScalar;
    } else {
      const bool packed = step == static_cast<int64_t>(loop.bytes[i]);
      kind = packed ? dev::kContiguous : dev::kStrided;
      contiguous = contiguous && packed;
      uint64_t bits = shape.address[i];
      for (int d = 1; d < shape.ndim; ++d) bits |= static_cast<uint64_t>(shape.step[d][i]);
      misaligned |= bits & (vector * loop.bytes[i] - 1);
    }
    kinds |= kind << (2 * i);
  }
  *out_vectors = contiguous && misaligned == 0;
  return kinds;
}

guf_status queue_row_part(const LaunchShape &shape, const RowLoop &loop, uint32_t vector,
                          CommandSink &commands, guf_error *error) {
  RowWriter writer;
  dev::row_head &head = writer.head();
  bool vectors = false;
  head.kinds = kinds_of(shape, loop, vector, &vectors);
  head.flags = vectors ? uint32_t{dev::kVectors} : 0U;
  head.status = loop.status;
  head.inner = shape.ndim == 0 ? 1 : static_cast<uint64_t>(shape.size[0]);
  head.nouter = shape.ndim <= 1 ? 0 : static_cast<uint32_t>(shape.ndim - 1);
  head.reserved = 0;
  const uint64_t elements = uint64_t{vector} * loop.vectors;  // elements of a thread
  uint32_t log2_row_threads = 8, blocks = 0;
  if (head.nouter == 0) {
    head.nrows = 1;
    head.chunks = divisor_of(1);
    blocks = ceil_div(head.inner, elements << log2_row_threads);
  } else {
    log2_row_threads = 0;
    while (log2_row_threads < 8 && elements << log2_row_threads < head.inner) ++log2_row_threads;
    head.nrows = static_cast<uint32_t>(shape.items / head.inner);
    const uint32_t chunks = ceil_div(head.inner, elements << log2_row_threads);
    head.chunks = divisor_of(chunks);
    blocks = chunks * ceil_div(head.nrows, uint64_t{dev::kThreads} >> log2_row_threads);
  }
  head.log2_row_threads = log2_row_threads;
  for (uint32_t d = 0; d < head.nouter; ++d) {
    head.dim[d] = divisor_of(static_cast<uint32_t>(shape.size[d + 1]));
  }
  writer.add(shape.address, shape.count);
  static constexpr int64_t kNone[kMaxOperands] = {};
  writer.add(shape.ndim == 0 ? kNone : shape.step[0], shape.count);
  for (int d = 1; d < shape.ndim; ++d) writer.add(shape.step[d], shape.count);
  const uint32_t unused = static_cast<uint32_t>(dev::kOuter) - head.nouter;
  writer.skip(size_t{unused} * static_cast<size_t>(shape.count) * sizeof(int64_t));
  const uint32_t bytes = writer.size();
  return commands.run({loop.entry, blocks, dev::kThreads, 0, writer.data(), bytes}, error);
}

}  // namespace

bool row_supports(const LaunchShape &shape) {
  return shape.ndim <= 1 + static_cast<int>(dev::kOuter);
}

guf_status queue_row(const LaunchShape &shape, const RowLoop &loop, CommandSink &commands,
                     guf_error *error) {
  const uint32_t vector = vector_of(shape, loop);
  // Launches with at most one dimension are limited only by the size of the grid; other launches
  // must also not exceed kMaxItems.
  const uint64_t width = uint64_t{vector} * loop.vectors * dev::kThreads;
  const uint64_t limit = shape.ndim <= 1 ? kMaxBlocks * width : kMaxItems;
  return for_each_part(shape, limit, [&](const LaunchShape &part) {
    return queue_row_part(part, loop, vector, commands, error);
  });
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// Implements accumulate: computes the total of each tile, scans the totals in the same way, and
// then scans each tile. The total of all preceding tiles is the left operand of each result of a
// tile. Functions that are not reduced as a tree use a single tile.
#include <algorithm>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/launch_shape.h"
#include "backends/gpu/geometry/method_passes.h"

namespace gufunc::gpu {
namespace {

constexpr uint64_t kTileElements = GUF_SCAN_TILE;
// The shared memory that the entry `scan` needs for the state of each row.
constexpr uint32_t kScanRowBytes = 3 * 8;

// The axis to scan, for all lanes.
struct Scan {
  LaneDims lanes;  // each lane writes its results at output + lane.output
  FoldSource from;
  int64_t size, step, output_step;
  uint64_t output;
};

// Returns whether tiles are staged in shared memory. Staging is useful if the elements of a lane
// are closer to each other than neighbouring lanes are. Otherwise, neighbouring threads read
// neighbouring elements even without staging.
bool is_staged(const MethodJob &job, const Scan &scan, uint32_t shared_bytes) {
  return scan.size > 1 && abs_step(scan.step) < scan.lanes.min_abs_stride() &&
         shared_bytes <= job.commands.traits().max_shared_bytes;
}

// Scans all tiles. If `totals` is not 0, writes only the totals of all tiles except the last to
// this address, with the layout [tile][lane]. If `totals` is 0, writes all results. `offsets` is 0,
// or the address of the totals before each tile except the first.
guf_status launch_scan(MethodJob &job, const Scan &scan, uint64_t tile, uint64_t totals,
                       uint64_t offsets) {
  const auto size = static_cast<uint64_t>(scan.size);
  const auto value = static_cast<uint64_t>(job.value_bytes());
  const uint32_t shared =
      dev::kScanThreads *
      (kScanRowBytes + (dev::kScanRun + 1) * partial_bytes(job.block.loop_dtype));
  dev::scan_block block = {};
  block.status = job.status();
  block.fp_flags = job.fp_flags();
  block.extent = size;
  block.tile = tile;
  block.output_step = scan.output_step;
  const bool staged = is_staged(job, scan, shared);
  if (staged) block.flags |= dev::kScanStaged;
  if (totals != 0) block.flags |= dev::kScanTotals;
  const uint64_t tiles = (size + tile - 1) / tile - (totals != 0 ? 1 : 0);
  const uint64_t some = std::min(tiles, kMaxItems);
  LanePartition partition(scan.lanes, kMaxItems / some);
  LaneRange range;
  while (partition.next(&range)) {
    block.lanes = range.dims;
    block.by_lanes = divisor_of(range.dims.lanes);
    block.from.input = scan.from.address + static_cast<uint64_t>(range.input);
    block.from.step = scan.step;
    block.from.form = scan.from.form;
    block.output = totals != 0 ? totals + range.first * value
                               : scan.output + static_cast<uint64_t>(range.output);
    block.offsets = offsets == 0 ? 0 : offsets + range.first * value;
    for (uint64_t first = 0; first < tiles; first += some) {
      const uint64_t items = std::min(some, tiles - first) * range.dims.lanes;
      block.first_tile = first;
      block.items = static_cast<uint32_t>(items);
      GUF_BACKEND_TRY(job.run(Entry::kScan, (items + dev::kScanThreads - 1) / dev::kScanThreads,
                              dev::kScanThreads, staged ? shared : 0, &block, sizeof(block)));
    }
  }
  return GUF_OK;
}

// Scans all lanes. The totals of the tiles are scanned recursively, log256(size) levels deep.
guf_status run_scan(MethodJob &job, const Scan &scan) {
  const auto size = static_cast<uint64_t>(scan.size);
  if (!job.tree() || size <= kTileElements) return launch_scan(job, scan, size, 0, 0);
  const uint64_t count = (size + kTileElements - 1) / kTileElements - 1;
  const uint64_t lanes = scan.lanes.total();
  uint64_t totals = 0, none = 0;
  GUF_BACKEND_TRY(job.scratch(count * lanes, job.value_bytes(), false, &totals, &none));
  GUF_BACKEND_TRY(launch_scan(job, scan, kTileElements, totals, 0));
  Scan above = scan;
  above.lanes.make_dense(job.value_bytes());
  for (int i = 0; i < above.lanes.count(); ++i) above.lanes[i].output = above.lanes[i].input;
  above.from = {totals, 0, dev::kFormLoopType};
  above.size = static_cast<int64_t>(count);
  above.step = above.output_step = static_cast<int64_t>(lanes) * job.value_bytes();
  above.output = totals;
  GUF_BACKEND_TRY(run_scan(job, above));
  return launch_scan(job, scan, kTileElements, 0, totals);
}

}  // namespace

guf_status queue_accumulate(MethodJob &job) {
  const guf_method_block &block = job.block;
  if (block.fold_size[0] == 0) return GUF_OK;
  GUF_BACKEND_TRY(job.open_output(block.fold_size[0]));
  // The axis is added first, so that its index is known when it is removed.
  LaneDims all;
  all.add({block.fold_size[0], block.fold_input_step[0], 0, job.slot_step(), 0});
  for (int d = 0; d < block.nkept; ++d) {
    all.add({block.kept_size[d], block.kept_input_step[d], 0, job.output_step(d), -1});
  }
  Scan scan = {};
  GUF_BACKEND_TRY(job.open_source(&all, &scan.from));
  scan.size = block.fold_size[0];
  if (scan.size != 1) {
    const LaneDim axis = all.remove(0);
    scan.step = axis.input;
    scan.output_step = axis.output;
  }
  all.sort_and_merge();
  scan.lanes = all;
  scan.output = job.output();
  GUF_BACKEND_TRY(run_scan(job, scan));
  return job.close_output();
}

}  // namespace gufunc::gpu

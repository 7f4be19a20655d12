// SPDX-License-Identifier: Apache-2.0
// Implements reduceat. Each slice of the axis is a separate reduction, whose tree begins at the
// first element of the slice.
#include "backends/cpu/methods/method_elements.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/methods/method_share.h"
#include "backends/cpu/methods/method_tree.h"

namespace gufunc::cpu {
namespace {

// PERF  One call for each slice of 10 elements costs ten times as much as its additions. Several
//       slices of equal length are therefore computed together.
constexpr int64_t kTogether = 128;

// Returns the number of elements that are combined into result `k`.
int64_t stretch(const guf_method_block &block, int64_t k) {
  const int64_t end = k + 1 < block.nindices ? block.indices[k + 1] : block.fold_size[0];
  return std::max<int64_t>(end - block.indices[k], 1);
}

// Returns the total number of elements that are combined into the results of an item. If the
// indices are unknown, assumes that the indices ascend.
uint64_t stretched_elements(const guf_method_block &block) {
  if (block.indices == nullptr)
    return static_cast<uint64_t>(std::max(block.nindices, block.fold_size[0]));
  uint64_t elements = 0;  // slices may overlap
  for (int64_t k = 0; k < block.nindices; ++k) elements += static_cast<uint64_t>(stretch(block, k));
  return elements;
}

struct ReduceAt {
  const guf_method_block &block;
  const Fold &fold;
  Source source;
  Sink sink;
  FoldShape shape;

  // Computes pieces of work. A piece is a pair of a unit and an index,
  // numbered with the index fastest.
  guf_status run(const ItemUnits &units, uint64_t first, uint64_t last) const;

 private:
  LaneRun at(int64_t unit_input, int64_t k) const {
    LaneRun lanes;
    lanes.base =
        reinterpret_cast<const char *>(block.input) + unit_input + block.indices[k] * shape.step[0];
    return lanes;
  }
  int64_t equal_slices(int64_t first, int64_t last) const;
  guf_status run_item(TreeFolder *folder, const ItemUnit &unit, int64_t first, int64_t last,
                      Lanes results, MethodScratch &scratch) const;
};

// Returns the number of consecutive slices from `first` on that have equal lengths and do not
// overlap.
int64_t ReduceAt::equal_slices(int64_t first, int64_t last) const {
  const int64_t length = stretch(block, first);
  if (length > GUF_LEAF_SIZE) return 1;
  const int64_t *const begin = block.indices + first;
  int64_t count = 1;
  while (first + count < last && begin[count] - begin[count - 1] == length) ++count;
  // All slices but the last one have this length, because each ends where the next one begins.
  return count > 1 && stretch(block, first + count - 1) != length ? count - 1 : count;
}

// Computes the slices [first, last) of one item. Neighbouring slices of equal length are computed
// side by side, and several results are stored together.
guf_status ReduceAt::run_item(TreeFolder *folder, const ItemUnit &unit, int64_t first, int64_t last,
                              Lanes results, MethodScratch &scratch) const {
  char *const to = reinterpret_cast<char *>(block.output) + unit.output;
  const int64_t most = folder->most_lanes();
  for (int64_t k = first; k < last;) {
    const int64_t begin = k;
    while (k < last && k - begin < kTogether) {
      LaneRun lanes = at(unit.input, k);
      const int64_t length = stretch(block, k);
      lanes.count = equal_slices(k, std::min({last, begin + kTogether, k + most}));
      lanes.step = length * shape.step[0];
      GUF_BACKEND_TRY(folder->run_range(0, lanes, length, fold.at(results, k - begin)));
      k += lanes.count;
    }
    GUF_BACKEND_TRY(sink.put(fold, results, nullptr, to + begin * block.fold_output_step,
                             block.fold_output_step, k - begin, scratch));
  }
  return GUF_OK;
}

guf_status ReduceAt::run(const ItemUnits &units, uint64_t first, uint64_t last) const {
  MethodScratch scratch;
  TreeFolder folder(fold, &source, shape, false, scratch);
  const Lanes results = fold.allocate(scratch, std::max(units.lanes(), kTogether), false);
  if (results.value == nullptr) return GUF_E_NO_MEMORY;
  const auto indices = static_cast<uint64_t>(block.nindices);
  for (uint64_t i = first, end; i < last; i = end) {
    const ItemUnit unit = units.unit(i / indices);
    end = std::min(last, i / indices * indices + indices);
    auto k = static_cast<int64_t>(i % indices);
    const auto stop = static_cast<int64_t>(k + static_cast<int64_t>(end - i));
    if (unit.lanes == 1) {
      GUF_BACKEND_TRY(run_item(&folder, unit, k, stop, results, scratch));
      continue;
    }
    for (; k < stop; ++k) {
      LaneRun lanes = at(unit.input, k);
      lanes.count = unit.lanes;
      lanes.step = units.input_step();
      GUF_BACKEND_TRY(folder.run_range(0, lanes, stretch(block, k), results));
      char *const to =
          reinterpret_cast<char *>(block.output) + unit.output + k * block.fold_output_step;
      GUF_BACKEND_TRY(
          sink.put(fold, results, nullptr, to, units.output_step(), unit.lanes, scratch));
    }
  }
  return GUF_OK;
}

}  // namespace

guf_status reduceat(const guf_backend_method &method, const Fold &fold,
                    MethodTraversal *traversal) {
  const guf_method_block &block = *method.block;
  if (block.items == 0 || block.nindices == 0) return GUF_OK;
  ReduceAt job = {block, fold, {}, {}, {}};
  if (!job.source.open(block) || !job.sink.open(block)) return GUF_E_DTYPE;
  job.shape.ndim = 1;
  job.shape.size[0] = block.fold_size[0];
  job.shape.step[0] = block.fold_input_step[0];
  MethodScratch scratch;
  const int64_t most = TreeFolder(fold, &job.source, job.shape, false, scratch).most_lanes();
  const uint64_t work = weigh(method, saturating_mul(stretched_elements(block), block.items));
  const uint32_t threads = method_threads(method, work);
  // If there are only a few slices, items must be divided as well, so that every thread gets work.
  const ItemUnits units(block, most, (units_for(threads) - 1) / block.nindices + 1,
                        lane_multiple(method, threads));
  const uint64_t count = saturating_mul(units.count(), static_cast<uint64_t>(block.nindices));
  if (traversal != nullptr) {
    const bool staged = job.source.staged() || !job.sink.direct();
    const uint64_t chunks = chunks_of(count, threads).count;
    *traversal = {MethodWalk::kSlices, work, threads, chunks, units.lanes(), 0, staged};
    return GUF_OK;
  }
  return parallel_for(count, work, threads,
                      [&](uint64_t first, uint64_t last) { return job.run(units, first, last); });
}

}  // namespace gufunc::cpu

// SPDX-License-Identifier: Apache-2.0
// reduceat: each stretch of the axis is a reduction of its own, its tree begins at its first
// element.
#include "backends/cpu/method_items.h"
#include "backends/cpu/method_run.h"
#include "backends/cpu/method_share.h"
#include "backends/cpu/method_sink.h"
#include "backends/cpu/method_tree.h"

namespace gufunc::cpu {
namespace {

// Elements that result `k` folds.
int64_t stretch(const guf_method_block &block, int64_t k) {
  const int64_t end = k + 1 < block.nindices ? block.indices[k + 1] : block.fold_size[0];
  return std::max<int64_t>(end - block.indices[k], 1);
}

struct ReduceAt {
  const guf_method_block &block;
  const Fold &fold;
  Source source;
  Sink sink;
  FoldShape shape;

  // Pieces are pairs of a unit and an index, the index fastest.
  guf_status run(const ItemUnits &units, uint64_t first, uint64_t last) const {
    MethodScratch scratch;
    TreeFolder folder(fold, &source, shape, false, scratch);
    const Lanes results = fold.take(scratch, units.lanes(), false);
    if (results.value == nullptr) return GUF_E_NO_MEMORY;
    const auto indices = static_cast<uint64_t>(block.nindices);
    uint64_t number = first / indices;
    ItemUnit unit = units.unit(number);
    auto k = static_cast<int64_t>(first % indices);
    for (uint64_t i = first; i < last; ++i, ++k) {
      if (k == block.nindices) {
        k = 0;
        unit = units.unit(++number);
      }
      LaneRun lanes;
      lanes.base = reinterpret_cast<const char *>(block.input) + unit.input +
                   block.indices[k] * shape.step[0];
      lanes.count = unit.lanes;
      lanes.step = units.input_step();
      GUF_CPU_TRY(folder.run_range(0, lanes, stretch(block, k), results));
      char *const to =
          reinterpret_cast<char *>(block.output) + unit.output + k * block.fold_output_step;
      GUF_CPU_TRY(sink.put(fold, results, nullptr, to, units.output_step(), unit.lanes, scratch));
    }
    return GUF_OK;
  }
};

}  // namespace

guf_status reduceat(const guf_backend_method &method, const Fold &fold) {
  const guf_method_block &block = *method.block;
  if (block.items == 0 || block.nindices == 0) return GUF_OK;
  ReduceAt job{block, fold, {}, {}, {}};
  if (!job.source.open(block) || !job.sink.open(block)) return GUF_E_DTYPE;
  job.shape.ndim = 1;
  job.shape.size[0] = block.fold_size[0];
  job.shape.step[0] = block.fold_input_step[0];
  MethodScratch scratch;
  const int64_t most = TreeFolder(fold, &job.source, job.shape, false, scratch).most_lanes();
  const ItemUnits units(block, most, 1);
  uint64_t elements = 0;  // stretches may overlap
  for (int64_t k = 0; k < block.nindices; ++k) {
    elements += static_cast<uint64_t>(stretch(block, k));
  }
  const uint64_t work = times(elements, block.items);
  return share(times(units.count(), static_cast<uint64_t>(block.nindices)), work,
               method_threads(method, work),
               [&](uint64_t first, uint64_t last) { return job.run(units, first, last); });
}

}  // namespace gufunc::cpu

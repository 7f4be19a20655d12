// SPDX-License-Identifier: Apache-2.0
// Implements reduce with a loop X, Y -> X, as a left fold in C order over all reduced dimensions.
// Several results are computed side by side, one per lane.
#include <algorithm>
#include <cstring>

#include "backends/cpu/methods/method_operands.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/methods/method_share.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kMixedLaneBytes = 512;
constexpr int64_t kBatch = 128;  // number of elements of a lane that are fetched together

class MixedFold {
 public:
  MixedFold(const guf_backend_method &method, const Fold &fold)
      : method_(method), block_(*method.block), fold_(fold), size_(fold.value_bytes()) {}

  guf_status run(MethodTraversal *traversal);

 private:
  // A run of elements along reduced dimension 0, for all lanes.
  struct Stretch {
    const char *base, *mask;
    int64_t count;
    bool skips_first;
  };

  bool open();
  guf_status run_unit(const ItemUnits &units, const ItemUnit &unit, MethodScratch &scratch) const;
  guf_status begin(const ItemUnits &units, const char *first, int64_t lanes, char *all,
                   MethodScratch &scratch) const;
  guf_status fold_row(const ItemUnits &units, int64_t lanes, const Stretch &row, char *all,
                      MethodScratch &scratch) const;
  guf_status apply(const char *elements, int64_t step, const char *mask, int64_t mask_step,
                   int64_t lanes, char *all) const;

  bool masked() const { return (block_.flags & GUF_METHOD_MASKED) != 0; }
  bool has_initial() const { return fold_.initial() != nullptr; }
  int64_t row_size() const { return block_.nfold == 0 ? 1 : block_.fold_size[0]; }

  const guf_backend_method &method_;
  const guf_method_block &block_;
  const Fold &fold_;
  const int64_t size_;  // size of X in bytes
  Source source_;
  Sink sink_;
  // Without an initial value, the reduction starts with the first element, which to_output_ casts
  // to the dtype of the output, and to_result_ then casts to X.
  ElementConverter to_output_, to_result_;
  uint64_t rows_ = 1;  // number of rows: product of the sizes of reduced dimensions 1, 2, ...
  bool empty_ = false;
};

bool MixedFold::open() {
  for (int d = 0; d < block_.nfold; ++d) {
    empty_ |= block_.fold_size[d] == 0;
    if (d > 0) rows_ *= static_cast<uint64_t>(block_.fold_size[d]);
  }
  const ElementForm own{block_.output_dtype, false, false};
  if (!source_.open(block_) || !sink_.open(block_)) return false;
  return has_initial() ||  // without an initial value, the first element must be cast
         (to_output_.choose(form_of(block_.input_dtype, block_.input_flags), own) &&
          to_result_.choose(own, {block_.loop_dtype, false, false}));
}

guf_status MixedFold::run(MethodTraversal *traversal) {
  if (block_.items == 0) return GUF_OK;
  if (!open()) return GUF_E_DTYPE;
  const uint64_t work = weigh(method_, empty_ ? block_.items : work_of(block_));
  const uint32_t threads = method_threads(method_, work);
  const ItemUnits units(block_, std::max<int64_t>(kMixedLaneBytes / size_, 1), units_for(threads),
                        lane_multiple(method_, threads));
  if (traversal != nullptr) {
    const uint64_t chunks = chunks_of(units.count(), threads).count;
    const bool staged = source_.staged() || !sink_.direct();
    *traversal = {MethodWalk::kItems, work, threads, chunks, units.lanes(), 0, staged};
    return GUF_OK;
  }
  return parallel_for(units.count(), work, threads,
                      [&](uint64_t first, uint64_t last) -> guf_status {
                        MethodScratch scratch;
                        for (uint64_t i = first; i < last; ++i) {
                          const MethodScratch::Scope scope(scratch);
                          GUF_BACKEND_TRY(run_unit(units, units.unit(i), scratch));
                        }
                        return GUF_OK;
                      });
}

guf_status MixedFold::run_unit(const ItemUnits &units, const ItemUnit &unit,
                               MethodScratch &scratch) const {
  char *const to = reinterpret_cast<char *>(block_.output) + unit.output;
  if (empty_) {
    sink_.fill(fold_.initial(), to, units.output_step(), unit.lanes);
    return GUF_OK;
  }
  const char *const from = reinterpret_cast<const char *>(block_.input) + unit.input;
  const char *const mask = reinterpret_cast<const char *>(block_.mask) + unit.mask;
  char *const all = scratch.allocate(unit.lanes * size_);
  if (all == nullptr) return GUF_E_NO_MEMORY;
  GUF_BACKEND_TRY(begin(units, from, unit.lanes, all, scratch));
  for (uint64_t row = 0; row < rows_; ++row) {
    int64_t by = 0, mask_by = 0;
    uint64_t rest = row;
    for (int d = 1; d < block_.nfold; ++d) {
      const auto extent = static_cast<uint64_t>(block_.fold_size[d]);
      const auto index = static_cast<int64_t>(rest % extent);
      rest /= extent;
      by += index * block_.fold_input_step[d];
      mask_by += index * block_.fold_mask_step[d];
    }
    const Stretch stretch{from + by, mask + mask_by, row_size(), row == 0 && !has_initial()};
    GUF_BACKEND_TRY(fold_row(units, unit.lanes, stretch, all, scratch));
  }
  sink_.put_values(all, size_, to, units.output_step(), unit.lanes);
  return GUF_OK;
}

guf_status MixedFold::begin(const ItemUnits &units, const char *first, int64_t lanes, char *all,
                            MethodScratch &scratch) const {
  if (has_initial()) {
    for (int64_t k = 0; k < lanes; ++k) {
      std::memcpy(all + k * size_, fold_.initial(), static_cast<size_t>(size_));
    }
    return GUF_OK;
  }
  const MethodScratch::Scope scope(scratch);
  const auto between = static_cast<int64_t>(dtype_size(block_.output_dtype));
  char *const cast = scratch.allocate(lanes * between);
  if (cast == nullptr) return GUF_E_NO_MEMORY;
  to_output_.row(cast, between, first, units.input_step(), lanes);
  to_result_.row(all, size_, cast, between, lanes);
  return GUF_OK;
}

guf_status MixedFold::fold_row(const ItemUnits &units, int64_t lanes, const Stretch &row, char *all,
                               MethodScratch &scratch) const {
  const int64_t step = block_.nfold == 0 ? 0 : block_.fold_input_step[0];
  const int64_t mask_step = block_.nfold == 0 ? 0 : block_.fold_mask_step[0];
  for (int64_t i = row.skips_first ? 1 : 0; i < row.count;) {
    const MethodScratch::Scope scope(scratch);
    const int64_t count = std::min(kBatch, row.count - i);
    const Tile tile =
        source_.fetch({row.base + i * step, units.input_step(), step}, lanes, count, scratch);
    if (tile.base == nullptr) return GUF_E_NO_MEMORY;
    for (int64_t k = 0; k < count; ++k, ++i) {
      GUF_BACKEND_TRY(apply(tile.base + k * tile.step, tile.lane_step, row.mask + i * mask_step,
                            units.mask_step(), lanes, all));
    }
  }
  return GUF_OK;
}

// Applies one element to each lane. With a mask, calls the loop
// once for each run of selected lanes.
guf_status MixedFold::apply(const char *elements, int64_t step, const char *mask, int64_t mask_step,
                            int64_t lanes, char *all) const {
  const int64_t steps[3] = {size_, step, size_};
  for (int64_t k = 0; k < lanes;) {
    int64_t count = lanes - k;
    if (masked()) {
      count = 0;
      while (k + count < lanes && mask[(k + count) * mask_step] != 0) ++count;
    }
    if (count != 0) {
      char *args[3] = {all + k * size_, const_cast<char *>(elements) + k * step, all + k * size_};
      GUF_BACKEND_TRY(fold_.loop()(args, &count, steps));
    }
    k += count + (masked() ? 1 : 0);
  }
  return GUF_OK;
}

}  // namespace

guf_status reduce_mixed(const guf_backend_method &method, const Fold &fold,
                        MethodTraversal *traversal) {
  return MixedFold(method, fold).run(traversal);
}

}  // namespace gufunc::cpu

// SPDX-License-Identifier: Apache-2.0
// Implements reduce. The threads share units of kept items (method_share.h). If there are only few
// units, the threads share aligned subtrees of each reduction, and the results of the subtrees are
// combined afterwards. Both divisions use the same tree, so the results are equal.
//
// A loop X, Y -> X reduces as a left fold in C order over all reduced dimensions. Several results
// are computed side by side, one per lane.
#include <algorithm>
#include <cstring>

#include "backends/cpu/methods/method_elements.h"
#include "backends/cpu/methods/method_run.h"
#include "backends/cpu/methods/method_share.h"
#include "backends/cpu/methods/method_tree.h"

namespace gufunc::cpu {
namespace {

// The minimum weight (work_split.h) of a subtree that is one piece of work.
constexpr uint64_t kPieceWork = 32 * 1024;

class Reduction {
 public:
  Reduction(const guf_backend_method &method, const Fold &fold)
      : method_(method), block_(*method.block), fold_(fold) {}

  guf_status run(MethodTraversal *traversal);

 private:
  // A division of the reduced dimensions into pieces of work: dimension `dim` is divided into
  // pieces of `piece` elements, and the dimensions above it into single elements.
  struct Cut {
    int dim = 0;
    int64_t piece = 0, pieces = 0;
    uint64_t above = 1;
  };

  void shape_up();
  LaneRun run_of(const ItemUnits &units, const ItemUnit &unit) const;
  // Each noinline function below has a MethodScratch on its stack. In one stack frame, these
  // objects would use 150 KB.
  [[gnu::noinline]] int64_t most_lanes() const;
  [[gnu::noinline]] guf_status run_units(const ItemUnits &units, uint64_t first,
                                         uint64_t last) const;
  Cut cut(uint64_t least, uint64_t work) const;
  [[gnu::noinline]] guf_status run_cut(const ItemUnits &units, const Cut &cut, uint32_t threads,
                                       uint64_t work);
  [[gnu::noinline]] guf_status run_piece(const ItemUnits &units, const Cut &cut, uint64_t piece,
                                         Lanes all) const;
  guf_status join_pieces(const Cut &cut, Lanes all, Lanes joined) const;
  guf_status finish(const ItemUnits &units, const Cut &cut, Lanes joined) const;
  // A left fold starts with the initial value. A tree combines the initial value with the result of
  // the root.
  const char *start() const { return fold_.tree() ? nullptr : fold_.initial(); }
  const char *root() const { return fold_.tree() ? fold_.initial() : nullptr; }
  bool staged() const { return source_.staged() || !sink_.direct(); }
  bool masked() const { return (block_.flags & GUF_METHOD_MASKED) != 0; }

  const guf_backend_method &method_;
  const guf_method_block &block_;
  const Fold &fold_;
  Source source_;
  Sink sink_;
  FoldShape shape_;
  bool empty_ = false;
};

// Fills shape_ with the reduced dimensions. If nothing is reduced, the shape is one dimension with
// a single element. For integers, consecutive dimensions that are contiguous with each other are
// merged. The product of their sizes cannot overflow, because array::count_elements has checked the
// whole shape.
void Reduction::shape_up() {
  for (int d = 0; d < block_.nfold; ++d) {
    empty_ |= block_.fold_size[d] == 0;
    const int last = shape_.ndim - 1;
    if (fold_.exact() && fold_.tree() && last >= 0 &&
        can_merge_dims(block_.fold_input_step[d], shape_.step[last], shape_.size[last]) &&
        (!masked() ||
         can_merge_dims(block_.fold_mask_step[d], shape_.mask_step[last], shape_.size[last]))) {
      shape_.size[last] *= block_.fold_size[d];
      continue;
    }
    shape_.size[shape_.ndim] = block_.fold_size[d];
    shape_.step[shape_.ndim] = block_.fold_input_step[d];
    shape_.mask_step[shape_.ndim] = block_.fold_mask_step[d];
    ++shape_.ndim;
  }
  if (shape_.ndim == 0) shape_.size[shape_.ndim++] = 1;
}

LaneRun Reduction::run_of(const ItemUnits &units, const ItemUnit &unit) const {
  LaneRun lanes;
  lanes.base = reinterpret_cast<const char *>(block_.input) + unit.input;
  if (masked()) lanes.mask = reinterpret_cast<const char *>(block_.mask) + unit.mask;
  lanes.count = unit.lanes;
  lanes.step = units.input_step();
  lanes.mask_step = units.mask_step();
  return lanes;
}

int64_t Reduction::most_lanes() const {
  MethodScratch scratch;
  return TreeFolder(fold_, &source_, shape_, masked(), scratch).most_lanes();
}

guf_status Reduction::run_units(const ItemUnits &units, uint64_t first, uint64_t last) const {
  MethodScratch scratch;
  TreeFolder folder(fold_, &source_, shape_, masked(), scratch);
  const Lanes results = fold_.allocate(scratch, units.lanes(), masked());
  if (results.value == nullptr) return GUF_E_NO_MEMORY;
  for (uint64_t i = first; i < last; ++i) {
    const ItemUnit unit = units.unit(i);
    char *const to = reinterpret_cast<char *>(block_.output) + unit.output;
    if (empty_) {
      sink_.fill(fold_.initial(), to, units.output_step(), unit.lanes);
      continue;
    }
    GUF_BACKEND_TRY(folder.run(shape_.ndim - 1, run_of(units, unit), results, start()));
    GUF_BACKEND_TRY(
        sink_.put(fold_, results, root(), to, units.output_step(), unit.lanes, scratch));
  }
  return GUF_OK;
}

// Divides the outermost dimensions into at least `least` pieces of work,
// if there are enough elements.
Reduction::Cut Reduction::cut(uint64_t least, uint64_t work) const {
  Cut cut;
  // The weight of all items at one position of the dimensions above cut.dim.
  uint64_t elements = work;
  for (cut.dim = shape_.ndim - 1;; --cut.dim) {
    const auto size = static_cast<uint64_t>(shape_.size[cut.dim]);
    const uint64_t each = std::max<uint64_t>(elements / (block_.items * size), 1);
    uint64_t piece = GUF_LEAF_SIZE;
    while (piece * each < kPieceWork || size / piece > least * 4) piece *= 2;
    cut.piece = static_cast<int64_t>(piece);
    cut.pieces = static_cast<int64_t>((size + piece - 1) / piece);
    const uint64_t pieces = saturating_mul(cut.above, static_cast<uint64_t>(cut.pieces));
    if (cut.dim == 0 || pieces >= least || each < kPieceWork) return cut;
    cut.above = saturating_mul(cut.above, size);
    elements /= size;
  }
}

guf_status Reduction::run_piece(const ItemUnits &units, const Cut &cut, uint64_t piece,
                                Lanes all) const {
  MethodScratch scratch;
  TreeFolder folder(fold_, &source_, shape_, masked(), scratch);
  const ItemUnit unit = units.unit(piece % units.count());
  uint64_t rest = piece / units.count();
  const auto place = static_cast<int64_t>(rest * block_.items + unit.first);
  const auto number = static_cast<int64_t>(rest % static_cast<uint64_t>(cut.pieces));
  rest /= static_cast<uint64_t>(cut.pieces);
  LaneRun lanes = run_of(units, unit);
  const int64_t first = number * cut.piece;
  lanes = lanes.moved(first * shape_.step[cut.dim], first * shape_.mask_step[cut.dim]);
  for (int d = cut.dim + 1; d < shape_.ndim; ++d) {
    const auto size = static_cast<uint64_t>(shape_.size[d]);
    const auto index = static_cast<int64_t>(rest % size);
    rest /= size;
    lanes = lanes.moved(index * shape_.step[d], index * shape_.mask_step[d]);
  }
  return folder.run_range(cut.dim, lanes, std::min(cut.piece, shape_.size[cut.dim] - first),
                          fold_.at(all, place));
}

// Combines partial results with the layout [above][piece][item] into results with the layout
// [above][item].
guf_status Reduction::join_pieces(const Cut &cut, Lanes all, Lanes joined) const {
  MethodScratch scratch;
  const auto items = static_cast<int64_t>(block_.items);
  for (int64_t a = 0; a < static_cast<int64_t>(cut.above); ++a) {
    const MethodScratch::Scope scope(scratch);
    TreeJoiner joiner(fold_, scratch);
    if (!joiner.open(items, cut.pieces, masked())) return GUF_E_NO_MEMORY;
    for (int64_t p = 0; p < cut.pieces; ++p) {
      fold_.copy(fold_.at(all, (a * cut.pieces + p) * items), joiner.next(), items);
      GUF_BACKEND_TRY(joiner.push());
    }
    GUF_BACKEND_TRY(joiner.finish(fold_.at(joined, a * items)));
  }
  return GUF_OK;
}

// Combines the partial results along the dimensions above cut.dim, combines the initial value with
// the results, and stores the results.
guf_status Reduction::finish(const ItemUnits &units, const Cut &cut, Lanes joined) const {
  MethodScratch scratch;
  const int64_t size = fold_.partial_bytes();
  FoldShape above;
  auto distance = static_cast<int64_t>(block_.items);
  for (int d = cut.dim + 1; d < shape_.ndim; ++d, ++above.ndim) {
    above.size[above.ndim] = shape_.size[d];
    above.step[above.ndim] = distance * size;
    above.mask_step[above.ndim] = distance;
    distance *= shape_.size[d];
  }
  if (above.ndim == 0) above.size[above.ndim++] = 1;
  TreeFolder folder(fold_, nullptr, above, masked(), scratch);
  const Lanes results = fold_.allocate(scratch, units.lanes(), masked());
  if (results.value == nullptr) return GUF_E_NO_MEMORY;
  for (uint64_t i = 0; i < units.count(); ++i) {
    const ItemUnit unit = units.unit(i);
    const Lanes from = fold_.at(joined, static_cast<int64_t>(unit.first));
    for (int64_t k = 0; k < unit.lanes; k += folder.most_lanes()) {
      LaneRun lanes;
      lanes.base = from.value + k * size;
      if (masked()) lanes.mask = reinterpret_cast<const char *>(from.present) + k;
      lanes.count = std::min(folder.most_lanes(), unit.lanes - k);
      lanes.step = size;
      lanes.mask_step = 1;
      GUF_BACKEND_TRY(folder.run(above.ndim - 1, lanes, fold_.at(results, k)));
    }
    char *const to = reinterpret_cast<char *>(block_.output) + unit.output;
    GUF_BACKEND_TRY(
        sink_.put(fold_, results, root(), to, units.output_step(), unit.lanes, scratch));
  }
  return GUF_OK;
}

guf_status Reduction::run_cut(const ItemUnits &units, const Cut &cut, uint32_t threads,
                              uint64_t work) {
  MethodScratch scratch;
  const auto count = static_cast<int64_t>(cut.above * block_.items);
  const Lanes all = fold_.allocate(scratch, count * cut.pieces, masked());
  const Lanes joined = fold_.allocate(scratch, count, masked());
  if (all.value == nullptr || joined.value == nullptr) return GUF_E_NO_MEMORY;
  const uint64_t pieces = cut.above * static_cast<uint64_t>(cut.pieces) * units.count();
  const auto run_pieces = [&](uint64_t first, uint64_t last) -> guf_status {
    for (uint64_t i = first; i < last; ++i) GUF_BACKEND_TRY(run_piece(units, cut, i, all));
    return GUF_OK;
  };
  GUF_BACKEND_TRY(parallel_for(pieces, work, threads, run_pieces));
  GUF_BACKEND_TRY(join_pieces(cut, all, joined));
  return finish(units, cut, joined);
}

guf_status Reduction::run(MethodTraversal *traversal) {
  if (block_.items == 0) return GUF_OK;
  if (!source_.open(block_) || !sink_.open(block_)) return GUF_E_DTYPE;
  shape_up();
  const uint64_t work = weigh(method_, empty_ ? block_.items : work_of(block_));
  const uint32_t threads = method_threads(method_, work);
  const int64_t most = most_lanes();
  const ItemUnits units(block_, most, units_for(threads), lane_multiple(method_, threads));
  const auto requested = static_cast<uint64_t>(units_for(threads));
  if (units.count() < requested && fold_.tree() && !empty_) {
    const ItemUnits whole(block_, most, 1);
    const Cut where = cut((requested + whole.count() - 1) / whole.count(), work);
    if (const uint64_t parts = where.above * static_cast<uint64_t>(where.pieces); parts > 1) {
      const uint64_t chunks = chunks_of(parts * whole.count(), threads).count;
      if (traversal == nullptr) return run_cut(whole, where, threads, work);
      *traversal = {MethodWalk::kSubtrees, work, threads, chunks, 1, where.piece, staged()};
      return GUF_OK;
    }
  }
  if (traversal != nullptr) {
    const uint64_t chunks = chunks_of(units.count(), threads).count;
    *traversal = {MethodWalk::kItems, work, threads, chunks, units.lanes(), 0, staged()};
    return GUF_OK;
  }
  return parallel_for(units.count(), work, threads,
                      [&](uint64_t first, uint64_t last) { return run_units(units, first, last); });
}

constexpr int64_t kMixedLaneBytes = 512;
constexpr int64_t kBatch = 128;  // number of elements of a lane that are fetched together

class MixedReduction {
 public:
  MixedReduction(const guf_backend_method &method, const Fold &fold)
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
  guf_status reduce_row(const ItemUnits &units, int64_t lanes, const Stretch &row, char *all,
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

bool MixedReduction::open() {
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

guf_status MixedReduction::run(MethodTraversal *traversal) {
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

guf_status MixedReduction::run_unit(const ItemUnits &units, const ItemUnit &unit,
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
    GUF_BACKEND_TRY(reduce_row(units, unit.lanes, stretch, all, scratch));
  }
  sink_.put_values(all, size_, to, units.output_step(), unit.lanes);
  return GUF_OK;
}

guf_status MixedReduction::begin(const ItemUnits &units, const char *first, int64_t lanes,
                                 char *all, MethodScratch &scratch) const {
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

guf_status MixedReduction::reduce_row(const ItemUnits &units, int64_t lanes, const Stretch &row,
                                      char *all, MethodScratch &scratch) const {
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
guf_status MixedReduction::apply(const char *elements, int64_t step, const char *mask,
                                 int64_t mask_step, int64_t lanes, char *all) const {
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

guf_status reduce(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal) {
  return Reduction(method, fold).run(traversal);
}

guf_status reduce_mixed(const guf_backend_method &method, const Fold &fold,
                        MethodTraversal *traversal) {
  return MixedReduction(method, fold).run(traversal);
}

}  // namespace gufunc::cpu

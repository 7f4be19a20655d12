// SPDX-License-Identifier: Apache-2.0
// Implements at. For a binary function, one call of the fold entry computes the elements one by
// one, in the order of the indices. If the fold entry cannot be used, for example because elements
// are cast, the elements of a run of distinct indices are gathered, computed by one call of the
// loop and scattered. If an index selects several items, these items form one launch.
#include <algorithm>
#include <cstring>

#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/loops/item_walk.h"
#include "backends/cpu/methods/method_elements.h"
#include "backends/cpu/methods/method_run.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kRun = 256;
constexpr int64_t kShortRun = 8;  // gathering shorter runs does not pay

// The set of the indices of a run, as a hash table without chains.
// A collision ends the run earlier than necessary, which costs only speed.
class SeenIndices {
 public:
  // Chooses the size of the table for `count` indices and clears the table.
  void open(int64_t count) {
    while (bits_ < kMaxBits && int64_t{1} << bits_ < 64 * count) ++bits_;
    std::memset(place_, 0, sizeof(place_[0]) << bits_);
  }
  void next_run() {
    if (++run_ != 0) return;
    std::memset(place_, 0, sizeof(place_[0]) << bits_);
    run_ = 1;
  }
  // Adds an index. Returns true if the set contained it, or if another index has the same hash.
  bool add(int64_t index) {
    const auto hash = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15u;
    uint16_t &place = place_[hash >> (64 - bits_)];
    const bool seen = place == run_;
    place = run_;
    return seen;
  }

 private:
  static constexpr int kMaxBits = 14;
  int bits_ = 6;
  uint16_t run_ = 0;
  uint16_t place_[1 << kMaxBits];
};

// Copies the elements at the given offsets to contiguous scratch memory.
template <class Word>
void gather(const char *base, const int64_t *offsets, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(Word)), base + offsets[i], sizeof(Word));
  }
}
template <class Word>
void scatter(const char *from, int64_t count, char *base, const int64_t *offsets) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(base + offsets[i], from + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
  }
}

struct Word16 {
  uint64_t words[2];
};

void gather(uint32_t bytes, const char *base, const int64_t *offsets, int64_t count, char *to) {
  switch (bytes) {
    case 1:
      return gather<uint8_t>(base, offsets, count, to);
    case 2:
      return gather<uint16_t>(base, offsets, count, to);
    case 4:
      return gather<uint32_t>(base, offsets, count, to);
    case 8:
      return gather<uint64_t>(base, offsets, count, to);
    case 16:
      return gather<Word16>(base, offsets, count, to);
    default:  // a structured dtype
      for (int64_t i = 0; i < count; ++i, to += bytes) std::memcpy(to, base + offsets[i], bytes);
  }
}

void scatter(uint32_t bytes, const char *from, int64_t count, char *base, const int64_t *offsets) {
  switch (bytes) {
    case 1:
      return scatter<uint8_t>(from, count, base, offsets);
    case 2:
      return scatter<uint16_t>(from, count, base, offsets);
    case 4:
      return scatter<uint32_t>(from, count, base, offsets);
    case 8:
      return scatter<uint64_t>(from, count, base, offsets);
    case 16:
      return scatter<Word16>(from, count, base, offsets);
    default:
      for (int64_t i = 0; i < count; ++i, from += bytes)
        std::memcpy(base + offsets[i], from, bytes);
  }
}

// Computes `at` with one element per index.
class Runs {
 public:
  Runs(const guf_method_block &block, const Fold &fold) : block_(block), fold_(fold) {}

  guf_status run(MethodTraversal *traversal) {
    const ElementForm form = form_of(block_.output_dtype, block_.output_flags);
    const ElementForm native{block_.loop_dtype, false, false};
    if (!load_.choose(form, native) || !store_.choose(native, form)) return GUF_E_DTYPE;
    if (block_.input != 0 &&
        !operand_.choose(form_of(block_.input_dtype, block_.input_flags), native)) {
      return GUF_E_DTYPE;
    }
    const bool plain = is_plain(block_.output_dtype, block_.output_flags) &&
                       (block_.input == 0 || is_plain(block_.input_dtype, block_.input_flags));
    const bool chained = plain && block_.input != 0 && fold_.has_chain();
    if (traversal != nullptr) {
      traversal->walk = chained ? MethodWalk::kEntry : MethodWalk::kRuns;
      traversal->staged = !plain;
      return GUF_OK;
    }
    if (chained) return run_chain();
    const int64_t most = most_together();
    seen_.open(std::min(most, block_.nindices));
    for (int64_t i = 0; i < block_.nindices;) {
      const int64_t left = std::min(most, block_.nindices - i);
      int64_t count = 0;
      seen_.next_run();
      while (count < left && !seen_.add(block_.indices[i + count])) ++count;
      const bool too_short = plain && count < kShortRun;
      if (too_short) count = left;  // the following runs are probably also too short
      GUF_BACKEND_TRY(too_short ? run_each(i, count) : run_together(i, count));
      i += count;
    }
    return GUF_OK;
  }

 private:
  // Returns the number of indices whose elements fit in the scratch memory.
  int64_t most_together() const {
    const int64_t bytes = std::max(
        {dtype_size(block_.loop_dtype), dtype_size(block_.output_dtype), kMaxElementBytes});
    return kRun * int64_t{kMaxElementBytes} / bytes;
  }

  bool is_plain(guf_dtype dtype, uint32_t flags) const {
    const ElementForm form = form_of(dtype, flags);
    return dtype == block_.loop_dtype && !form.swapped && !form.unaligned;
  }

  guf_status run_chain() {
    char *args[4] = {reinterpret_cast<char *>(block_.output),
                     reinterpret_cast<char *>(block_.input),
                     reinterpret_cast<char *>(const_cast<int64_t *>(block_.indices)),
                     reinterpret_cast<char *>(const_cast<int64_t *>(block_.operand_indices))};
    const int64_t dims[2] = {GUF_FOLD_AT, block_.nindices}, steps[1] = {};
    return fold_.chain()(args, dims, steps);
  }

  // Computes the elements at some indices in place, one after the other.
  guf_status run_each(int64_t first, int64_t count) {
    const int64_t one = 1, size = fold_.value_bytes(), steps[3] = {size, size, size};
    for (int64_t i = first; i < first + count; ++i) {
      char *const element = reinterpret_cast<char *>(block_.output) + block_.indices[i];
      char *args[3] = {element, element, element};
      if (block_.input != 0) {
        args[1] = reinterpret_cast<char *>(block_.input) + block_.operand_indices[i];
      }
      GUF_BACKEND_TRY(fold_.loop()(args, &one, steps));
    }
    return GUF_OK;
  }

  // Computes the elements at a run of distinct indices together.
  guf_status run_together(int64_t first, int64_t count) {
    const uint32_t out_bytes = dtype_size(block_.output_dtype);
    const int64_t size = dtype_size(block_.loop_dtype), out_size = out_bytes;
    char *const array = reinterpret_cast<char *>(block_.output);
    const int64_t *const indices = block_.indices + first;
    gather(out_bytes, array, indices, count, raw_);
    load_.row(values_, size, raw_, out_size, count);
    char *args[3] = {values_, values_, values_};
    int64_t steps[3] = {size, size, size};
    if (block_.input != 0) {
      const uint32_t in_bytes = dtype_size(block_.input_dtype);
      gather(in_bytes, reinterpret_cast<const char *>(block_.input), block_.operand_indices + first,
             count, raw_);
      operand_.row(operands_, size, raw_, in_bytes, count);
      args[1] = operands_;
    }
    GUF_BACKEND_TRY(fold_.loop()(args, &count, steps));
    store_.row(raw_, out_size, values_, size, count);
    scatter(out_bytes, raw_, count, array, indices);
    return GUF_OK;
  }

  const guf_method_block &block_;
  const Fold &fold_;
  ElementConverter load_, store_, operand_;
  SeenIndices seen_;
  alignas(64) char raw_[kRun * kMaxElementBytes];
  alignas(64) char values_[kRun * kMaxElementBytes];
  alignas(64) char operands_[kRun * kMaxElementBytes];
};

// Fills the launch for one index. The operands of the launch are the output, the second input of
// the ufunc (if there is one) and the output again.
void fill_launch(const guf_method_block &block, guf_launch_block *launch) {
  const bool binary = block.input != 0;
  launch->noperands = binary ? 3 : 2;
  launch->nin = binary ? 2 : 1;
  launch->nloop = block.nkept;
  launch->items = block.items;
  launch->size[0] = block.nkept == 0 ? 1 : block.kept_size[0];
  if ((block.flags & GUF_METHOD_STATUS) != 0) launch->flags |= GUF_LAUNCH_STATUS;
  if ((block.flags & GUF_METHOD_ERROR) != 0) launch->flags |= GUF_LAUNCH_ERROR;
  for (int i = 0; i < launch->noperands; ++i) {
    const bool other = binary && i == 1;
    launch->dtype[i] = other ? block.input_dtype : block.output_dtype;
    launch->loop_dtype[i] = block.loop_dtype;
    launch->operand_flags[i] =
        ((other ? block.input_flags : block.output_flags) &
         (GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED)) |
        (i + 1 == launch->noperands ? GUF_LAUNCH_OPERAND_WRITTEN : GUF_LAUNCH_OPERAND_READ);
    if (launch->dtype[i] != block.loop_dtype) launch->flags |= GUF_LAUNCH_CAST;
    if ((launch->operand_flags[i] & (GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED)) !=
        0) {
      launch->flags |= GUF_LAUNCH_SWAPPED;
    }
    for (int d = 0; d < block.nkept; ++d) {
      const int64_t step = other ? block.kept_input_step[d] : block.kept_output_step[d];
      (d == 0 ? launch->step[i] : launch->outer_step[d - 1][i]) = step;
      if (d > 0) launch->outer_size[d - 1] = block.kept_size[d];
    }
  }
}

guf_status run_items_of_each(const guf_backend_method &method, const Fold &fold) {
  const guf_method_block &block = *method.block;
  guf_launch_block launch = {};
  fill_launch(block, &launch);
  const ItemTraversal traversal = item_traversal(launch);
  for (int64_t i = 0; i < block.nindices; ++i) {
    const uint64_t output = block.output + static_cast<uint64_t>(block.indices[i]);
    launch.address[0] = launch.address[launch.noperands - 1] = output;
    if (block.input != 0) {
      launch.address[1] = block.input + static_cast<uint64_t>(block.operand_indices[i]);
    }
    GUF_BACKEND_TRY(run_items(launch, fold.loop(), traversal, 0, block.items, nullptr));
  }
  return GUF_OK;
}

}  // namespace

guf_status at(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal) {
  const guf_method_block &block = *method.block;
  if (block.items == 0 || block.nindices == 0) return GUF_OK;
  if (block.items == 1) return Runs(block, fold).run(traversal);
  if (traversal == nullptr) return run_items_of_each(method, fold);
  guf_launch_block launch = {};
  fill_launch(block, &launch);
  traversal->walk = MethodWalk::kItemsOfEach;
  traversal->staged = (launch.flags & (GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED)) != 0;
  return GUF_OK;
}

}  // namespace gufunc::cpu

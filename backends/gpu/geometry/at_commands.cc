// SPDX-License-Identifier: Apache-2.0
// Implements at. The host sorts the operations by element and keeps the order of each element's
// operations. One thread then runs all operations of an element.
#include <algorithm>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/host_array.h"
#include "backends/gpu/geometry/launch_shape.h"
#include "backends/gpu/geometry/method_job.h"

namespace gufunc::gpu {
namespace {

constexpr int64_t kMaxTogether = int64_t{1} << 24;  // indices per launch

struct Operation {
  int64_t place, number;
};

bool is_before(const Operation &a, const Operation &b) {
  return a.place != b.place ? a.place < b.place : a.number < b.number;
}

class Scatter {
 public:
  explicit Scatter(MethodJob &job) : job_(job), block_(job.block) {}

  guf_status run();

 private:
  guf_status choose_conversions();
  guf_status choose_conversion(guf_dtype from, guf_dtype to, dev::time_conversion *out);
  guf_status group(int64_t first, int64_t count, uint64_t *out_targets);
  guf_status launch(uint64_t targets, uint64_t target_table, uint64_t operand_table);
  uint32_t form_in(guf_dtype dtype, uint32_t flags) const {
    const bool own = dtype == block_.loop_dtype && (flags & kStoredFlags) == 0;
    return own ? uint32_t{dev::kFormLoopType} : form_of(dtype, flags);
  }
  bool binary() const { return block_.input != 0; }

  MethodJob &job_;
  const guf_method_block &block_;
  dev::time_conversion load_ = {}, store_ = {}, operand_ = {};
  HostArray<Operation> operations_;
  HostArray<dev::at_target> targets_;
  HostArray<int64_t> operands_;
};

guf_status Scatter::choose_conversion(guf_dtype from, guf_dtype to, dev::time_conversion *out) {
  ElementCast cast = {};
  if (!choose_cast(from, to, &cast)) return fail_no_cast(job_.error(), kNone, from, to);
  *out = {cast.kind, 0, cast.units};
  if (is_time(block_.loop_dtype) || cast.kind != dev::kNumberToTime) return GUF_OK;
  return fail(
      job_.error(), GUF_E_UNSUPPORTED,
      "at: only the cpu supports the cast of dtype 0x%x to the datetime type 0x%x after each index",
      static_cast<unsigned>(from), static_cast<unsigned>(to));
}

// Chooses the casts. Each operation casts an element of the array to the loop's dtype, and casts
// its result back.
guf_status Scatter::choose_conversions() {
  GUF_BACKEND_TRY(choose_conversion(block_.output_dtype, block_.loop_dtype, &load_));
  GUF_BACKEND_TRY(choose_conversion(block_.loop_dtype, block_.output_dtype, &store_));
  return binary() ? choose_conversion(block_.input_dtype, block_.loop_dtype, &operand_) : GUF_OK;
}

// Fills the tables with the operations [first, first + count).
guf_status Scatter::group(int64_t first, int64_t count, uint64_t *out_targets) {
  const auto n = static_cast<uint64_t>(count);
  for (uint64_t i = 0; i < n; ++i) {
    const int64_t k = first + static_cast<int64_t>(i);
    operations_[i] = {block_.indices[k], k};
  }
  Operation *const begin = operations_.data();
  if (!std::is_sorted(begin, begin + n, is_before)) std::sort(begin, begin + n, is_before);
  uint64_t targets = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const Operation &operation = operations_[i];
    if (i == 0 || operation.place != operations_[i - 1].place) {
      targets_[targets++] = {operation.place, i, 0};
    }
    ++targets_[targets - 1].count;
    if (binary()) operands_[i] = block_.operand_indices[operation.number];
  }
  *out_targets = targets;
  return GUF_OK;
}

guf_status Scatter::launch(uint64_t targets, uint64_t target_table, uint64_t operand_table) {
  LaneDims lanes;
  for (int d = 0; d < block_.nkept; ++d) {
    lanes.add({block_.kept_size[d], binary() ? block_.kept_input_step[d] : 0, 0,
               block_.kept_output_step[d], -1});
  }
  lanes.sort_and_merge();
  dev::at_block block = {};
  block.status = job_.status();
  block.fp_flags = job_.fp_flags();
  block.operands = operand_table;
  block.load = load_;
  block.store = store_;
  block.operand = operand_;
  block.output_form = form_in(block_.output_dtype, block_.output_flags);
  if (binary()) block.input_form = form_in(block_.input_dtype, block_.input_flags);
  const uint64_t some = std::min(targets, kMaxItems);
  LanePartition partition(lanes, kMaxItems / some);
  LaneRange range;
  while (partition.next(&range)) {
    block.lanes = range.dims;
    block.by_lanes = divisor_of(range.dims.lanes);
    block.input = block_.input + static_cast<uint64_t>(range.input);
    block.output = block_.output + static_cast<uint64_t>(range.output);
    for (uint64_t first = 0; first < targets; first += some) {
      const uint64_t items = std::min(some, targets - first) * range.dims.lanes;
      block.targets = target_table + first * sizeof(dev::at_target);
      block.items = static_cast<uint32_t>(items);
      GUF_BACKEND_TRY(job_.run(Entry::kAt, (items + dev::kFoldThreads - 1) / dev::kFoldThreads,
                               dev::kFoldThreads, 0, &block, sizeof(block)));
    }
  }
  return GUF_OK;
}

guf_status Scatter::run() {
  GUF_BACKEND_TRY(choose_conversions());
  const int64_t most = std::min(block_.nindices, kMaxTogether);
  const auto capacity = static_cast<uint64_t>(most);
  if (!operations_.open(capacity) || !targets_.open(capacity) || !operands_.open(capacity)) {
    return fail_memory(job_.error(), "the operations of at");
  }
  for (int64_t first = 0; first < block_.nindices; first += most) {
    const int64_t count = std::min(most, block_.nindices - first);
    uint64_t targets = 0, target_table = 0, operand_table = 0;
    GUF_BACKEND_TRY(group(first, count, &targets));
    GUF_BACKEND_TRY(job_.commands.upload(targets_.data(), targets * sizeof(dev::at_target),
                                         &target_table, job_.error()));
    if (binary()) {
      GUF_BACKEND_TRY(job_.commands.upload(operands_.data(), static_cast<uint64_t>(count) * 8,
                                           &operand_table, job_.error()));
    }
    GUF_BACKEND_TRY(launch(targets, target_table, operand_table));
  }
  return GUF_OK;
}

}  // namespace

guf_status queue_at(MethodJob &job) {
  if (job.block.nindices == 0) return GUF_OK;
  return Scatter(job).run();
}

}  // namespace gufunc::gpu

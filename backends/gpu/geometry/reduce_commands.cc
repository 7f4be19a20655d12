// SPDX-License-Identifier: Apache-2.0
// Implements reduce, one dimension after the other. The first pass reads the input; each later pass
// reads the results of the previous pass.
#include <algorithm>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/method_passes.h"

namespace gufunc::gpu {
namespace {

// Adds all dimensions to `lanes`: first the kept dimensions, then the reduced dimensions, which are
// numbered from 0. Returns the number of reduced dimensions that were added. If it would be 0,
// returns 1, because the reduction then runs over a dimension with a single element.
int dims_of(const MethodJob &job, LaneDims *lanes) {
  const guf_method_block &block = job.block;
  for (int d = 0; d < block.nkept; ++d) {
    lanes->add({block.kept_size[d], block.kept_input_step[d], block.kept_mask_step[d],
                job.output_step(d), -1});
  }
  const bool merges = job.tree() && job.has(GUF_METHOD_EXACT);
  int count = 0;
  LaneDim last = {};
  for (int d = 0; d < block.nfold; ++d) {
    const LaneDim dim = {block.fold_size[d], block.fold_input_step[d], block.fold_mask_step[d], 0,
                         count};
    // A left fold must not skip a dimension of a single element, because the initial value is the
    // left operand in the fold of the last dimension.
    if (dim.size == 1 && job.tree()) continue;
    // Consecutive dimensions are merged for integers, because the result of an integer reduction
    // does not depend on the order.
    if (merges && count > 0 && dim.input == last.input * last.size &&
        (!job.masked() || dim.mask == last.mask * last.size)) {
      last.size *= dim.size;
      (*lanes)[lanes->count() - 1].size = last.size;
      continue;
    }
    last = dim;
    lanes->add(dim);
    ++count;
  }
  return std::max(count, 1);
}

// Removes a reduced dimension from the list and returns it. A dimension that is not in the list has
// a single element.
ReducedAxis remove_axis(LaneDims *lanes, int number) {
  for (int i = 0; i < lanes->count(); ++i) {
    if ((*lanes)[i].fold != number) continue;
    const LaneDim dim = lanes->remove(i);
    return {dim.size, dim.input, dim.mask};
  }
  return {1, 0, 0};
}

// Writes the initial value to all kept items if there are no elements to reduce.
guf_status fill_initial(MethodJob &job) {
  LaneDims lanes;
  for (int d = 0; d < job.block.nkept; ++d) {
    lanes.add({job.block.kept_size[d], 0, 0, job.output_step(d), -1});
  }
  lanes.sort_and_merge();
  PassTarget to;
  to.sink.output = job.output();
  to.sink.flags = dev::kFoldLast;
  job.set_initial(&to.sink);
  const FoldSource none = {0, 0, dev::kFormLoopType};
  const ReducedAxis axis = {0, 0, 0};
  if (job.tree()) return fold_by_tree(job, lanes, none, axis, to);
  return left_fold(job, lanes, {none, axis, 0, 0, {}}, {}, to);
}

guf_status reduce_dims(MethodJob &job) {
  const bool by_tree = job.tree();
  const int64_t element = by_tree ? job.partial_bytes() : job.value_bytes();
  LaneDims lanes;
  const int folds = dims_of(job, &lanes);
  FoldSource from;
  GUF_BACKEND_TRY(job.open_source(&lanes, &from));
  lanes.sort_and_merge();
  for (int d = 0; d < folds; ++d) {
    const ReducedAxis axis = remove_axis(&lanes, d);
    PassTarget to;
    if (d + 1 == folds) {
      to.sink.output = job.output();
      to.sink.flags = dev::kFoldLast;
      job.set_initial(&to.sink);
    } else {
      to.element = element;
      GUF_BACKEND_TRY(
          job.scratch(lanes.total(), element, job.masked(), &to.sink.output, &to.sink.present));
    }
    GUF_BACKEND_TRY(by_tree ? fold_by_tree(job, lanes, from, axis, to)
                            : left_fold(job, lanes, {from, axis, 0, 0, {}}, {}, to));
    lanes.make_dense(element);
    from = {to.sink.output, to.sink.present,
            by_tree ? job.partial_form() : uint32_t{dev::kFormLoopType}};
  }
  return GUF_OK;
}

// Casts the first element of every lane to the output's dtype, and then to X.
guf_status first_elements(MethodJob &job, const LaneDims &lanes, uint64_t *out_start) {
  const guf_method_block &block = job.block;
  const int64_t between = dtype_size(block.output_dtype), value = job.value_bytes();
  CopyDim first[GUF_MAX_LOOP_NDIM], second[GUF_MAX_LOOP_NDIM];
  int64_t below = 1;
  for (int i = 0; i < lanes.count(); ++i) {
    first[i] = {lanes[i].size, lanes[i].input, below * between};
    second[i] = {lanes[i].size, below * between, below * value};
    below *= lanes[i].size;
  }
  uint64_t none = 0, cast = 0;
  GUF_BACKEND_TRY(job.scratch(lanes.total(), between, false, &cast, &none));
  GUF_BACKEND_TRY(job.scratch(lanes.total(), value, false, out_start, &none));
  GUF_BACKEND_TRY(convert_array(job, {block.input, block.input_dtype, block.input_flags},
                                {cast, block.output_dtype, 0}, first, lanes.count()));
  return convert_array(job, {cast, block.output_dtype, 0}, {*out_start, block.loop_dtype, 0},
                       second, lanes.count());
}

guf_status reduce_mixed(MethodJob &job) {
  const guf_method_block &block = job.block;
  LaneDims lanes, all;
  for (int d = 0; d < block.nkept; ++d) {
    lanes.add({block.kept_size[d], block.kept_input_step[d], block.kept_mask_step[d],
               job.output_step(d), -1});
  }
  LeftFold fold = {};
  if (!job.has(GUF_METHOD_INITIAL)) GUF_BACKEND_TRY(first_elements(job, lanes, &fold.start));
  all = lanes;
  for (int d = 0; d < block.nfold; ++d) {
    all.add({block.fold_size[d], block.fold_input_step[d], block.fold_mask_step[d], 0, d});
  }
  GUF_BACKEND_TRY(job.open_source(&all, &fold.from));
  // The lanes keep their order, because the start values are stored in this order.
  for (int i = 0; i < lanes.count(); ++i) lanes[i].input = all[i].input;
  fold.axis = {1, 0, 0};
  for (int i = lanes.count(), folds = 0; i < all.count(); ++i, ++folds) {
    const ReducedAxis axis = {all[i].size, all[i].input, all[i].mask};
    (folds == 0 ? fold.axis : fold.further[fold.ndim++]) = axis;
  }
  PassTarget to;
  to.sink.output = job.output();
  to.sink.flags = dev::kFoldLast;
  job.set_initial(&to.sink);
  return left_fold(job, lanes, fold, {}, to);
}

}  // namespace

guf_status queue_reduce(MethodJob &job) {
  GUF_BACKEND_TRY(job.open_output(1));
  GUF_BACKEND_TRY(job.is_empty() ? fill_initial(job) : reduce_dims(job));
  return job.close_output();
}

guf_status queue_mixed_reduce(MethodJob &job) {
  GUF_BACKEND_TRY(job.open_output(1));
  GUF_BACKEND_TRY(job.is_empty() ? fill_initial(job) : reduce_mixed(job));
  return job.close_output();
}

}  // namespace gufunc::gpu

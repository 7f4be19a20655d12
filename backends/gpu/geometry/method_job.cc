// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/method_job.h"

#include <algorithm>
#include <cstring>

#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/element_cast.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kKnownMethodFlags = GUF_METHOD_TREE | GUF_METHOD_ANY_THREAD | GUF_METHOD_STATUS |
                                       GUF_METHOD_MASKED | GUF_METHOD_INITIAL | GUF_METHOD_EXACT |
                                       GUF_METHOD_MIXED;

// Returns the floating-point flags that must be checked,
// which are the requested flags that the function can raise.
uint32_t requested_fp_flags(const guf_backend_method &call) {
  // Integer reductions by a tree raise no floating-point flags.
  if (call.fp_status == nullptr || (call.block->flags & GUF_METHOD_EXACT) != 0) return 0;
  uint32_t fp_flags = call.fp_status->report | call.fp_status->fail;
  const uint32_t function = call.fp_status->function_flags;
  if ((function & GUF_FUNCTION_UNDERFLOWS) == 0) fp_flags &= ~uint32_t{GUF_FP_UNDERFLOW};
  if ((function & GUF_FUNCTION_DIVIDES) == 0) fp_flags &= ~uint32_t{GUF_FP_INTEGER_DIVIDE};
  return fp_flags;
}

// Lists the entries that the steps of the method use. The list ends with kLoopEntries.
void entries_of(const guf_method_block &block, Entry out[3]) {
  const bool tree = (block.flags & GUF_METHOD_TREE) != 0;
  out[0] = out[1] = out[2] = Entry::kLoopEntries;
  switch (block.method) {
    case GUF_METHOD_ACCUMULATE:
      out[0] = Entry::kScan;
      return;
    case GUF_METHOD_AT:
      out[0] = Entry::kAt;
      return;
    default:
      out[0] = tree ? Entry::kLeaves : Entry::kFold;
      if (tree) out[1] = Entry::kJoin;
  }
}

void set_operand(guf_launch_block *launch, int i, const Strided &array) {
  launch->dtype[i] = launch->loop_dtype[i] = array.dtype;
  launch->address[i] = array.address;
  launch->operand_flags[i] =
      (array.flags & kStoredFlags) |
      (i == 0 ? uint32_t{GUF_LAUNCH_OPERAND_READ} : uint32_t{GUF_LAUNCH_OPERAND_WRITTEN});
  if ((array.flags & kStoredFlags) != 0) launch->flags |= GUF_LAUNCH_SWAPPED;
}

}  // namespace

guf_status MethodJob::check_loop() {
  const guf_dtype dtypes[] = {block.loop_dtype, block.output_dtype,
                              block.input == 0 ? block.output_dtype : block.input_dtype,
                              has(GUF_METHOD_MIXED) ? block.element_dtype : block.loop_dtype};
  for (const guf_dtype dtype : dtypes) {
    if (kind_of_dtype(dtype) == dev::kKinds) {
      return fail(error_, GUF_E_UNSUPPORTED,
                  "methods of dtype 0x%x do not run on this device: only the cpu supports "
                  "structured and unknown dtypes",
                  static_cast<unsigned>(dtype));
    }
  }
  Entry entries[3];
  entries_of(block, entries);
  for (const Entry entry : entries) {
    if (entry == Entry::kLoopEntries || commands.has(entry)) continue;
    return fail(error_, GUF_E_UNSUPPORTED,
                "the loop has no device entry %s, which this method requires", entry_name(entry));
  }
  return GUF_OK;
}

guf_status MethodJob::open() {
  const uint32_t unknown = block.flags & ~kKnownMethodFlags;
  if (unknown != 0) {
    return fail(error_, GUF_E_UNSUPPORTED, "method flags: 0x%x is not known to this plugin",
                unknown);
  }
  if (block.method < GUF_METHOD_REDUCE || block.method > GUF_METHOD_AT) {
    return fail(error_, GUF_E_UNSUPPORTED, "method %d is not known to this plugin", block.method);
  }
  GUF_BACKEND_TRY(check_loop());
  value_bytes_ = dtype_size(block.loop_dtype);
  partial_bytes_ = tree() ? gpu::partial_bytes(block.loop_dtype) : value_bytes_;
  fp_flags_ = requested_fp_flags(call);
  if (fp_flags_ != 0 || has(GUF_METHOD_STATUS)) {
    GUF_BACKEND_TRY(commands.status_word(&status_, error_));
  }
  return GUF_OK;
}

uint32_t MethodJob::partial_form() const {
  return partial_bytes_ == value_bytes_ ? dev::kFormLoopType : dev::kFormPartial;
}

bool MethodJob::is_empty() const {
  return std::any_of(block.fold_size, block.fold_size + block.nfold,
                     [](int64_t size) { return size == 0; });
}

// Casts between datetime types, and between datetime types and numbers, require the convert entry.
bool MethodJob::reads_directly(guf_dtype requested) const {
  return block.input_dtype == requested || (!is_time(block.input_dtype) && !is_time(requested));
}

bool MethodJob::writes_directly() const {
  return block.output_dtype == block.loop_dtype && (block.output_flags & kStoredFlags) == 0;
}

guf_status MethodJob::open_source(LaneDims *lanes, FoldSource *out) {
  const guf_dtype requested = has(GUF_METHOD_MIXED) ? block.element_dtype : block.loop_dtype;
  const bool own = block.input_dtype == requested && (block.input_flags & kStoredFlags) == 0;
  out->address = block.input;
  out->mask = masked() ? block.mask : 0;
  out->form = own ? uint32_t{dev::kFormLoopType} : form_of(block.input_dtype, block.input_flags);
  if (reads_directly(requested)) return GUF_OK;
  const int64_t bytes = dtype_size(requested);
  CopyDim dims[2 * GUF_MAX_LOOP_NDIM];
  int64_t below = bytes;
  for (int i = 0; i < lanes->count(); ++i) {
    LaneDim &dim = (*lanes)[i];
    dims[i] = {dim.size, dim.input, below};
    dim.input = below;
    below *= dim.size;
  }
  GUF_BACKEND_TRY(commands.scratch(static_cast<uint64_t>(below), &out->address, error_));
  out->form = dev::kFormLoopType;
  return convert_array(*this, {block.input, block.input_dtype, block.input_flags},
                       {out->address, requested, 0}, dims, lanes->count());
}

guf_status MethodJob::open_output(int64_t slots) {
  slots_ = slots;
  output_ = block.output;
  slot_step_ = block.fold_output_step;
  std::copy_n(block.kept_output_step, block.nkept, kept_step_);
  if (writes_directly()) return GUF_OK;
  int64_t below = value_bytes_;
  for (int d = 0; d < block.nkept; ++d) {
    kept_step_[d] = below;
    below *= block.kept_size[d];
  }
  slot_step_ = below;
  return commands.scratch(static_cast<uint64_t>(below * slots), &output_, error_);
}

guf_status MethodJob::close_output() {
  if (writes_directly()) return GUF_OK;
  CopyDim dims[GUF_MAX_LOOP_NDIM + 1];
  for (int d = 0; d < block.nkept; ++d) {
    dims[d] = {block.kept_size[d], kept_step_[d], block.kept_output_step[d]};
  }
  dims[block.nkept] = {slots_, slot_step_, block.fold_output_step};
  return convert_array(*this, {output_, block.loop_dtype, 0},
                       {block.output, block.output_dtype, block.output_flags}, dims,
                       block.nkept + 1);
}

guf_status MethodJob::scratch(uint64_t count, int64_t bytes, bool tracked, uint64_t *out_values,
                              uint64_t *out_present) {
  *out_present = 0;
  GUF_BACKEND_TRY(commands.scratch(count * static_cast<uint64_t>(bytes), out_values, error_));
  return tracked ? commands.scratch(count, out_present, error_) : GUF_OK;
}

void MethodJob::set_initial(dev::fold_sink *sink) const {
  if (!has(GUF_METHOD_INITIAL)) return;
  sink->flags |= dev::kFoldInitial;
  std::memcpy(sink->initial, block.initial, sizeof(sink->initial));
}

guf_status MethodJob::run(Entry entry, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                          const void *argument, uint32_t argument_bytes) {
  const Command command = {
      entry, static_cast<uint32_t>(blocks), threads, shared_bytes, argument, argument_bytes};
  return commands.run(command, error_);
}

guf_status convert_array(MethodJob &job, const Strided &from, const Strided &to,
                         const CopyDim *dims, int ndim) {
  if (ndim > GUF_MAX_LOOP_NDIM) {
    // A launch does not support this many dimensions, so the last dimension is iterated over on the
    // host.
    const CopyDim &last = dims[ndim - 1];
    for (int64_t i = 0; i < last.size; ++i) {
      const Strided from_i = {from.address + static_cast<uint64_t>(i * last.from), from.dtype,
                              from.flags};
      const Strided to_i = {to.address + static_cast<uint64_t>(i * last.to), to.dtype, to.flags};
      GUF_BACKEND_TRY(convert_array(job, from_i, to_i, dims, ndim - 1));
    }
    return GUF_OK;
  }
  guf_launch_block launch = {};
  launch.noperands = 2;
  launch.nin = 1;
  launch.nloop = ndim;
  launch.items = 1;
  launch.size[0] = ndim == 0 ? 1 : dims[0].size;
  set_operand(&launch, 0, from);
  set_operand(&launch, 1, to);
  if (from.dtype != to.dtype) launch.flags |= GUF_LAUNCH_CAST;
  for (int d = 0; d < ndim; ++d) {
    launch.items *= static_cast<uint64_t>(dims[d].size);
    (d == 0 ? launch.step[0] : launch.outer_step[d - 1][0]) = dims[d].from;
    (d == 0 ? launch.step[1] : launch.outer_step[d - 1][1]) = dims[d].to;
    if (d > 0) launch.outer_size[d - 1] = dims[d].size;
  }
  return queue_convert(launch, job.commands, job.error());
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// The translation of one method to commands, and the state that all parts of the translation share.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_JOB_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_JOB_H

#include <gufunc/backend.h>
#include <gufunc/kernel/device_fold_block.hpp>

#include <cstdint>

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/method_lanes.h"

namespace gufunc::gpu {

// The input of a reduction: elements at the lanes' offsets from `address`, or partial results.
struct FoldSource {
  uint64_t address, mask;  // mask 0: all elements are present
  uint32_t form;           // a form of device_form.hpp, or a fold_form
};

class MethodJob {
 public:
  MethodJob(const guf_backend_method &method, CommandSink &to, guf_error *error)
      : call(method), block(*method.block), commands(to), error_(error) {}

  // Checks the method.  Errors  GUF_E_UNSUPPORTED <= unknown flags, structured dtypes, a loop
  // without the required entries
  guf_status open();

  bool has(uint32_t flag) const { return (block.flags & flag) != 0; }
  bool tree() const { return has(GUF_METHOD_TREE); }
  bool masked() const { return has(GUF_METHOD_MASKED); }
  // Returns whether floating-point flags of the steps must be checked,
  // which the fast entries cannot do.
  bool reports_fp_flags() const { return fp_flags_ != 0; }
  uint32_t fp_flags() const { return fp_flags_; }
  uint64_t status() const { return status_; }
  guf_error *error() const { return error_; }
  int64_t value_bytes() const { return value_bytes_; }      // size of X
  int64_t partial_bytes() const { return partial_bytes_; }  // size of A
  uint32_t partial_form() const;
  bool is_empty() const;  // whether a reduced dimension has no elements

  // Provides the input of the method. If the entries cannot read the input, converts it to scratch
  // memory. Sets the input strides in `lanes`, including the stride of the reduced dimension.
  guf_status open_source(LaneDims *lanes, FoldSource *out);
  // Chooses where results of type X are written: directly to `block.output`, or to scratch memory
  // that close_output() converts. A kept item is one position in the dimensions that the method
  // does not reduce, and a slot is one of its results. The scratch memory is dense, in the order of
  // the kept dimensions and then of the slots. output_step() and slot_step() return the steps for
  // writing.
  guf_status open_output(int64_t slots);
  guf_status close_output();
  uint64_t output() const { return output_; }
  int64_t output_step(int kept) const { return kept_step_[kept]; }
  int64_t slot_step() const { return slot_step_; }

  // Allocates scratch memory for partial results or values of X.
  // If `tracked` is set, also allocates one byte for each value, which marks the value as present.
  guf_status scratch(uint64_t count, int64_t bytes, bool tracked, uint64_t *out_values,
                     uint64_t *out_present);
  void set_initial(dev::fold_sink *sink) const;
  guf_status run(Entry entry, uint64_t blocks, uint32_t threads, uint32_t shared_bytes,
                 const void *argument, uint32_t argument_bytes);

  const guf_backend_method &call;
  const guf_method_block &block;
  CommandSink &commands;

 private:
  guf_status check_loop();
  bool reads_directly(guf_dtype requested) const;
  bool writes_directly() const;

  guf_error *error_;
  uint64_t status_ = 0;
  uint32_t fp_flags_ = 0;
  int64_t value_bytes_ = 0, partial_bytes_ = 0;
  uint64_t output_ = 0;
  int64_t kept_step_[GUF_MAX_LOOP_NDIM] = {};
  int64_t slot_step_ = 0, slots_ = 0;
};

// A strided array. Its dimensions are passed separately as CopyDim, dimension 0 fastest.
struct Strided {
  uint64_t address;
  guf_dtype dtype;
  uint32_t flags;  // flags of guf_launch_operand_flag
};
struct CopyDim {
  int64_t size, from, to;
};
// Converts elements of an array with any number of dimensions.
guf_status convert_array(MethodJob &job, const Strided &from, const Strided &to,
                         const CopyDim *dims, int ndim);

// The methods. Each function queues all commands of its method.
// There must be at least one kept item.
guf_status queue_reduce(MethodJob &job);
guf_status queue_mixed_reduce(MethodJob &job);
guf_status queue_accumulate(MethodJob &job);
guf_status queue_reduceat(MethodJob &job);
guf_status queue_at(MethodJob &job);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_JOB_H

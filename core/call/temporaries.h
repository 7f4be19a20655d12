// SPDX-License-Identifier: Apache-2.0
// Arrays that a call creates: allocated outputs, copies of overlapping operands, copies of host
// memory for a device that cannot read it, and scalars that must outlive the call on a stream.
#ifndef GUFUNC_CORE_CALL_TEMPORARIES_H
#define GUFUNC_CORE_CALL_TEMPORARIES_H

#include <vector>

#include "core/backend/stream.h"
#include "core/broadcast/broadcast.h"
#include "core/call/staging.h"
#include "core/memory/transfer.h"

namespace gufunc::call {

// The arrays of one call. The object exists for the duration of the call. Operands of the call are
// redirected to the new arrays. On a stream, `retain_until_done` retains the new arrays and the
// call's own arrays until the work is done.
class Temporaries {
 public:
  static constexpr int32_t kUnmasked = -1;

  explicit Temporaries(op::CallView &call) : call_(call) {}
  Temporaries(const Temporaries &) = delete;
  Temporaries &operator=(const Temporaries &) = delete;
  ~Temporaries();

  // Allocates the missing outputs and points the call to them.
  // Errors  GUF_E_SHAPE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status allocate_outputs(broadcast::LoopShape *loop, guf_error *error);

  // Prepares the call's stream. Must be called first. A call with host_copies, or for which
  // `waits_for_host` is true, borrows a stream. `close` then waits for this stream.
  // Errors  as backend::BorrowedStream::open
  guf_status open(guf_error *error);
  // Waits for a borrowed stream. Must be called after all work has been queued.
  // Errors  any failure on the stream
  guf_status close(guf_error *error);

  // Replaces each staged operand by a copy in a new array on the call's device. write_back copies
  // written operands back.
  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, and the errors of the copies
  guf_status make_copies(const Staging &staging, const broadcast::LoopShape &loop,
                         guf_error *error);
  // Replaces one input or one output by a copy if it is in host memory that the call's device
  // cannot access. If `load` is set, also copies the values of the output.
  guf_status transfer_input(op::OperandView *operand, guf_error *error);
  guf_status transfer_output(op::OperandView *operand, bool load, int32_t ncore, guf_error *error);

  // Copies scalars from the caller's stack to memory of the device, which is kept until the work is
  // done.
  guf_status copy_scalars_to_device(guf_error *error);
  // Copies the given scalars, which need not be operands of the call.
  guf_status copy_scalars_to_device(op::OperandView *const *scalars, int32_t count,
                                    guf_error *error);

  // Writes staged outputs back in the order in which they were staged, and applies the call's mask.
  // Must be called after the launch.
  guf_status write_back(guf_error *error);

  // Publishes the allocated outputs to the caller. Throws std::bad_alloc.
  void publish(guf_operand *outputs) const;

  // Retains everything that the queued work uses (operands, mask, ufunc and temporary arrays) until
  // the work is complete. Does nothing if the call has no stream.
  void retain_until_done();

  // Replaces an operand by a copy in a new array, converted to `dtype` unless `dtype` is 0.
  guf_status replace_by_copy(op::OperandView *operand, guf_dtype dtype, guf_error *error);

  // Checks that the call may allocate. Must be called before any allocation.
  // Errors  GUF_E_CAPTURE <= the call's stream is being captured
  guf_status check_capture(guf_error *error) const;

  // Finds the device on which outputs are allocated.
  // Errors  as plugin::cpu_device
  guf_status find_host(backend::Device **out, guf_error *error) const;

  void keep(base::Ref<array::Array> array) { kept_.push_back(std::move(array)); }

  // Registers an array as the caller's output `index`.
  void add_output(int32_t index, base::Ref<array::Array> array) {
    outputs_.push_back({index, std::move(array)});
  }

 private:
  struct Output {
    int32_t index;  // index among the caller's outputs
    base::Ref<array::Array> array;
  };
  struct Staged {
    memory::CopyOperand to;
    memory::CopyOperand from;
    memory::CopyOperand cast;  // with a mask: `from`, converted to the dtype of `to` if needed
    int32_t ncore;
    bool to_host;  // whether `to` is in host memory that the device cannot write
  };

  // Schedules a conversion of `from` to `to` for `write_back`. make_copy must already have retained
  // the array of `to`. The mask does not have the last `ncore` axes. If `ncore` is kUnmasked, the
  // mask is not applied.
  // Errors  GUF_E_NO_IMAGE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY <= with a mask
  guf_status write_back_later(const op::OperandView &to, const op::OperandView &from, int32_t ncore,
                              guf_error *error);
  guf_status write_back_one(const Staged &staged, guf_error *error);
  guf_status write_back_masked(const Staged &staged, guf_error *error);
  guf_status write_to_host(const Staged &staged, guf_error *error);
  bool writes_original_mask() const;
  guf_status write_to_host_masked(const Staged &staged, backend::Device &cpu, guf_error *error);
  guf_status make_copy(op::OperandView *operand, guf_dtype dtype, bool load, bool whole,
                       guf_error *error);
  guf_status make_whole_copy(const StagedOperand &staged, const broadcast::LoopShape &loop,
                             guf_error *error);
  guf_status allocate_output(int32_t operand, broadcast::LoopShape *loop, guf_error *error);

  op::CallView &call_;
  std::vector<Output> outputs_;
  std::vector<base::Ref<array::Array>> kept_;
  std::vector<Staged> staged_;
  backend::BorrowedStream borrowed_;
  op::OperandView original_mask_;  // the mask before any copy; set if a stream was borrowed
  bool retained_ = false;
};

// Returns whether a call has a null stream and runs on a device that accesses an operand in host
// memory in place. Such a call must wait for its work, because the program may access the host
// memory as soon as the call returns.
bool waits_for_host(const op::CallView &call);

// Computes the shape and strides of a missing output, in the kernel's order of axes. The shape and
// strides are stored in `loop` and in the call's stride_buffer. The output's flags are unchanged.
// Errors  GUF_E_SHAPE <= the shape or its size is too large
guf_status lay_out_missing(op::CallView &call, int32_t operand, broadcast::LoopShape *loop,
                           guf_error *error);

// Returns the operand in the form that memory::convert and memory::copy_overlapping accept.
inline memory::CopyOperand as_copy_operand(const op::OperandView &operand) {
  return {operand.layout, (operand.flags & op::kSwapped) != 0, (operand.flags & op::kScalar) != 0};
}

// Makes an operand refer to an array.
void point_at(const base::Ref<array::Array> &array, op::OperandView *operand);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_TEMPORARIES_H

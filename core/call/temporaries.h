// SPDX-License-Identifier: Apache-2.0
// Arrays that a call creates: outputs to allocate, copies because of overlap, copies of host memory
// for a device that cannot read it, and scalars that must outlive the call on a stream.
#ifndef GUFUNC_CORE_CALL_TEMPORARIES_H
#define GUFUNC_CORE_CALL_TEMPORARIES_H

#include <vector>

#include "core/backend/borrowed_stream.h"
#include "core/broadcast/broadcast.h"
#include "core/call/operand_overlap.h"
#include "core/memory/memory.h"

namespace gufunc::call {

// Exists for the duration of one call. Operands of the call are redirected to the new arrays. On a
// stream, `hand_over` retains the new arrays and the call's own arrays until the work is done.
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

  // Makes the copies that overlap requires. Staged outputs are copied with their present values.
  guf_status copy_overlapping(const OverlapWork &work, const broadcast::LoopShape &loop,
                              guf_error *error);

  // Must be called first. A call with host_copies, or for which `waits_for_host` is true, borrows a
  // stream, and `settle` waits for it.
  // Errors  as backend::BorrowedStream::open
  guf_status open(guf_error *error);
  // Called after all work is queued.
  // Errors  any failure on the stream
  guf_status settle(guf_error *error);

  // Copies operands in host memory, and the mask, to the call's device if it cannot read them.
  // write_back copies written operands back. Called after copy_overlapping.
  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, those of the copies
  guf_status bring_operands(const broadcast::LoopShape &loop, guf_error *error);
  // The same for one input, or for one output. `load`: the values of the output are needed.
  guf_status bring_input(op::OperandView *operand, guf_error *error);
  guf_status bring_output(op::OperandView *operand, bool load, int32_t ncore, guf_error *error);

  // Copies scalars from the caller's stack to memory of the device that lives until the work is
  // done.
  guf_status lift_scalars(guf_error *error);
  // The same for operands that are not in the call any more.
  guf_status lift(op::OperandView *const *scalars, int32_t count, guf_error *error);

  // Writes staged outputs back, in order, where the call's mask is true. Called after the launch.
  guf_status write_back(guf_error *error);

  // Publishes the allocated outputs to the caller. Throws std::bad_alloc.
  void publish(guf_operand *outputs) const;

  void hand_over();

  // Replaces an operand by a copy in a new array, converted to `dtype` unless it is 0.
  guf_status replace_by_copy(op::OperandView *operand, guf_dtype dtype, guf_error *error);

  // Schedules a conversion of `from` into `to` for `write_back`. The array of `to` must already be
  // retained, by replace_by_copy or, for a separate output, by hand_over. The mask does not have
  // the last `ncore` axes; with kUnmasked the mask is not applied.
  // Errors  GUF_E_NO_IMAGE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY <= with a mask
  guf_status write_back_later(const op::OperandView &to, const op::OperandView &from, int32_t ncore,
                              guf_error *error);

  // Called before any allocation.
  // Errors  GUF_E_CAPTURE <= the call's stream is being captured
  guf_status check_capture(guf_error *error) const;

  // Finds the device on which outputs are allocated.
  // Errors  as plugin::cpu_device
  guf_status find_home(backend::Device **out, guf_error *error) const;

  void keep(base::Ref<array::Array> array) { kept_.push_back(std::move(array)); }

  // Records the array that was allocated for the caller's output `index`.
  void add_output(int32_t index, base::Ref<array::Array> array) {
    outputs_.push_back({index, std::move(array)});
  }

 private:
  struct Output {
    int32_t index;  // index of the caller's output
    base::Ref<array::Array> array;
  };
  struct Staged {
    memory::Side to;
    memory::Side from;
    memory::Side cast;  // with a mask: `from` in the dtype of `to`, or `from` itself
    int32_t ncore;
    bool to_host;  // `to` is in host memory that the call's device cannot write
  };

  bool is_far(const op::OperandView &operand) const;
  guf_status write_back_one(const Staged &staged, guf_error *error);
  guf_status write_back_masked(const Staged &staged, guf_error *error);
  guf_status write_home(const Staged &staged, guf_error *error);
  bool writes_home_mask() const;
  guf_status write_home_masked(const Staged &staged, backend::Device &cpu, guf_error *error);
  guf_status make_copy(op::OperandView *operand, guf_dtype dtype, bool load, guf_error *error);
  guf_status allocate_output(int32_t operand, broadcast::LoopShape *loop, guf_error *error);

  op::CallView &call_;
  std::vector<Output> outputs_;
  std::vector<base::Ref<array::Array>> kept_;
  std::vector<Staged> staged_;
  backend::BorrowedStream borrowed_;
  op::OperandView home_mask_;  // the mask before it was copied; set if a stream was borrowed
  bool handed_over_ = false;
};

// Whether a call without a stream runs on a device that uses an operand's host memory in place.
// Such a call must wait, because all calls without a stream are complete on return.
bool waits_for_host(const op::CallView &call);

// Computes the shape and strides of a missing output, in the kernel's order of axes. They are
// stored in `loop` and in the call's stride_buffer. Does not change the output's flags.
// Errors  GUF_E_SHAPE <= the shape or its size is too large
guf_status lay_out_missing(op::CallView &call, int32_t operand, broadcast::LoopShape *loop,
                           guf_error *error);

// The shape of a staged copy of an operand. Broadcast axes are copied once.
void staged_shape(const array::Layout &operand, int64_t *out_shape);
// The strides of the operand's shape over the copy: 0 for broadcast axes.
void staged_strides(const array::Layout &operand, const array::Layout &copy, int64_t *out_strides);

// The operand in the form that memory::move and convert accept.
inline memory::Side side_of(const op::OperandView &operand) {
  return {operand.layout, (operand.flags & op::kSwapped) != 0, (operand.flags & op::kScalar) != 0};
}

// Makes an operand refer to an array.
void point_at(const base::Ref<array::Array> &array, op::OperandView *operand);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_TEMPORARIES_H

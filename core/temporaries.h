// SPDX-License-Identifier: Apache-2.0
// Arrays that a call makes: outputs to allocate, copies for overlap, copies of host memory on a
// device that cannot read it, scalars that outlive the call on a stream.
#ifndef GUFUNC_CORE_TEMPORARIES_H
#define GUFUNC_CORE_TEMPORARIES_H

#include <vector>

#include "core/backend/borrowed_stream.h"
#include "core/broadcast/broadcast.h"
#include "core/memory/memory.h"
#include "core/operand_overlap.h"

namespace gufunc::pipeline {

// Lives for one call. Operands of the call are redirected to what it makes; on a stream `hand_over`
// keeps all of it, and the call's own arrays, until the work is done.
class Temporaries {
 public:
  static constexpr int32_t kUnmasked = -1;

  explicit Temporaries(op::CallView &call) : call_(call) {}
  Temporaries(const Temporaries &) = delete;
  Temporaries &operator=(const Temporaries &) = delete;
  ~Temporaries();

  // Allocates the missing outputs and points the call at them.
  // Errors  GUF_E_SHAPE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status allocate_outputs(broadcast::LoopShape *loop, guf_error *error);

  // Makes the copies that overlap asks for. Staged outputs hold their present values.
  guf_status copy_overlapping(const OverlapWork &work, const broadcast::LoopShape &loop,
                              guf_error *error);

  // Before anything else. A call with host_copies, or that `waits_for_host`, gets a stream of its
  // own, which `settle` waits for.
  // Errors  as backend::BorrowedStream::open
  guf_status open(guf_error *error);
  // Behind all work.   Errors  what failed on the stream
  guf_status settle(guf_error *error);

  // Brings operands in host memory, and the mask, to the call's device where it cannot read them;
  // what is written of them goes back by write_back. After the copies for overlap.
  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, those of the copies
  guf_status bring_operands(const broadcast::LoopShape &loop, guf_error *error);
  // The same of one operand: an input, or, with `load` where its values are needed, an output.
  guf_status bring_input(op::OperandView *operand, guf_error *error);
  guf_status bring_output(op::OperandView *operand, bool load, int32_t ncore, guf_error *error);

  // Moves scalars from the caller's stack to memory of the device that lives until the work is
  // done.
  guf_status lift_scalars(guf_error *error);
  // The same of operands that are not the call's any more.
  guf_status lift(op::OperandView *const *scalars, int32_t count, guf_error *error);

  // Writes staged outputs back, in order, where the call's mask is true. After the launch.
  guf_status write_back(guf_error *error);

  // Gives allocated outputs to the caller. Throws std::bad_alloc.
  void publish(guf_operand *outputs) const;

  void hand_over();

  // A copy of an operand in an array of its own, of another dtype if asked (0: the same). It
  // replaces the operand.
  guf_status replace_by_copy(op::OperandView *operand, guf_dtype dtype, guf_error *error);

  // Has `write_back` convert one into the other. The array of `to` is kept already: by
  // replace_by_copy, which took its place, or by hand_over as a separate output. The last `ncore`
  // axes are none of the mask's; kUnmasked: the mask is not one of outputs.
  // Errors  GUF_E_NO_IMAGE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY <= with a mask
  guf_status write_back_later(const op::OperandView &to, const op::OperandView &from, int32_t ncore,
                              guf_error *error);

  // Before anything is allocated.   Errors  GUF_E_CAPTURE <= the call's stream is being captured
  guf_status check_capture(guf_error *error) const;

  // Where outputs are allocated.
  // Errors  as backend::cpu_device
  guf_status find_home(backend::Device **out, guf_error *error) const;

  void keep(base::Ref<array::Array> array) { kept_.push_back(std::move(array)); }

  // Remembers an array made for output `index` of the caller.
  void add_output(int32_t index, base::Ref<array::Array> array) {
    outputs_.push_back({index, std::move(array)});
  }

 private:
  struct Output {
    int32_t index;  // among the caller's outputs
    base::Ref<array::Array> array;
  };
  struct Staged {
    memory::Side to;
    memory::Side from;
    memory::Side cast;  // with a mask: what `from` becomes in the dtype of `to`; or `from` itself
    int32_t ncore;
    bool to_host;  // which the call's device cannot write
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
  op::OperandView home_mask_;  // before it was brought; of a call that has borrowed a stream
  bool handed_over_ = false;
};

// Whether a call without a stream runs on a device that uses host memory of an operand where it
// lies: complete on return, as every such call.
bool waits_for_host(const op::CallView &call);

// The shape and strides that a missing output gets, in the order that the kernel has them; they
// live in `loop` and in the call's room. Its flags stay.
// Errors  GUF_E_SHAPE
guf_status lay_out_missing(op::CallView &call, int32_t operand, broadcast::LoopShape *loop,
                           guf_error *error);

// An operand as memory::move and convert take it.
inline memory::Side side_of(const op::OperandView &operand) {
  return {operand.layout, (operand.flags & op::kSwapped) != 0, (operand.flags & op::kScalar) != 0};
}

// Makes an operand an array's.
void point_at(const base::Ref<array::Array> &array, op::OperandView *operand);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_TEMPORARIES_H

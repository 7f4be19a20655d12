// SPDX-License-Identifier: Apache-2.0
// A signature without outputs, called with outputs of its own: "(n)" on x, into y.
#ifndef GUFUNC_CORE_SEPARATE_OUTPUTS_H
#define GUFUNC_CORE_SEPARATE_OUTPUTS_H

#include <string>
#include <vector>

#include "core/pipeline.h"
#include "core/temporaries.h"

namespace gufunc::pipeline {

// Points each written operand of the call at its separate output (allocating those that are
// missing), and copies what it holds there, once nothing can fail any more but the launch.
// Afterwards the call is one in place.
class SeparateOutputs {
 public:
  // What becomes of outputs that the caller did not give. Those laid out have no memory: for
  // questions.
  enum class Missing : uint8_t { kAllocated, kLaidOut };

  SeparateOutputs(op::CallView &call, Temporaries &arrays, Missing missing)
      : call_(call), arrays_(arrays), missing_(missing) {}

  // Before types are resolved: the operands are only read here.
  void mark();

  // After that: operands become the outputs.
  // Errors  GUF_E_CASTING <= the loop's type to the output's;  GUF_E_SHAPE <= operand does not
  //         broadcast to output
  //         GUF_E_OVERLAP <= two separate outputs overlap;  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status redirect(resolve::Choice *choice, guf_error *error);

  // Copies inputs that overlap outputs aside, then operands into outputs, with their axes as
  // `loop` has turned them.
  guf_status load(const broadcast::LoopShape &loop, guf_error *error);

  // Writes the dtypes of the inout operands, and the dtypes and shapes of their separate outputs.
  // Call it after `redirect`.
  void describe(guf_resolution *out) const;

  // The same as text: a line per operand that is copied first.
  std::string text() const;

  // Operands whose output is laid out only, as bits. After `redirect`.
  uint32_t laid_out() const { return laid_out_; }

 private:
  struct Pair {
    int32_t operand;
    int32_t output;  // its place behind the operands
    guf_dtype loop_dtype;
    bool through_copy;       // the loop runs on a copy in its own type
    op::OperandView source;  // the operand as given
    int64_t source_strides[GUF_MAX_NDIM];
  };

  guf_status make_missing(const array::Layout &like, guf_dtype dtype, const Pair &pair,
                          int32_t number, guf_error *error);
  guf_status redirect_one(Pair *pair, int32_t number, resolve::Choice *choice, guf_error *error);
  guf_status check_apart(guf_error *error) const;

  op::CallView &call_;
  Temporaries &arrays_;
  Missing missing_;
  uint32_t laid_out_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_SEPARATE_OUTPUTS_H

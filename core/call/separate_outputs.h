// SPDX-License-Identifier: Apache-2.0
// Calls of a signature without outputs, but with separate outputs: "(n)" on x, into y.
#ifndef GUFUNC_CORE_CALL_SEPARATE_OUTPUTS_H
#define GUFUNC_CORE_CALL_SEPARATE_OUTPUTS_H

#include <string>
#include <vector>

#include "core/call/pipeline.h"
#include "core/call/temporaries.h"

namespace gufunc::call {

// Redirects each written operand of a call to its separate output and allocates missing outputs.
// Copies the operand's values there once only the launch can still fail. Afterwards the call runs
// in place on the outputs.
class SeparateOutputs {
 public:
  // `arrays` owns the missing outputs. For queries it is nullptr: missing outputs then get layouts
  // without memory.
  SeparateOutputs(op::CallView &call, Temporaries *arrays) : call_(call), arrays_(arrays) {}

  // Called before types are resolved, because the operands are only read until then.
  void mark();

  // Called after types are resolved. Replaces the operands by the outputs.
  // Errors  GUF_E_CASTING <= the loop's dtype does not cast to the output's
  //         GUF_E_SHAPE <= an operand does not broadcast to its output
  //         GUF_E_OVERLAP <= two separate outputs overlap;  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status redirect(resolve::Choice *choice, guf_error *error);

  // Copies inputs that overlap outputs to temporaries, then copies operands into outputs, with the
  // axes as `loop` permutes them.
  guf_status load(const broadcast::LoopShape &loop, guf_error *error);

  // For queries: writes the dtypes of the inout operands, and the dtypes and shapes of their
  // separate outputs. Valid after `redirect`.
  void describe(guf_resolution *out) const;

  // Describes the copies in text, one line per operand.
  std::string text() const;

  // The set of operands whose output has a layout only, as bits. Valid after `redirect`.
  uint32_t laid_out() const { return laid_out_; }

 private:
  struct Pair {
    int32_t operand;
    int32_t output;  // index of the output, after the operands
    guf_dtype loop_dtype;
    bool through_copy;       // the loop runs on a copy in the loop's dtype
    op::OperandView source;  // the operand that the caller passed
    int64_t source_strides[GUF_MAX_NDIM];
  };

  guf_status make_missing(const array::Layout &like, guf_dtype dtype, const Pair &pair,
                          int32_t number, guf_error *error);
  guf_status redirect_one(Pair *pair, int32_t number, resolve::Choice *choice, guf_error *error);
  guf_status check_apart(guf_error *error) const;

  op::CallView &call_;
  Temporaries *const arrays_;
  uint32_t laid_out_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_SEPARATE_OUTPUTS_H

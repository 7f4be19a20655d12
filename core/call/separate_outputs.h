// SPDX-License-Identifier: Apache-2.0
// Calls with separate outputs for inout operands. For example, a ufunc with the signature "(n)" can
// read x and write its result to y.
#ifndef GUFUNC_CORE_CALL_SEPARATE_OUTPUTS_H
#define GUFUNC_CORE_CALL_SEPARATE_OUTPUTS_H

#include <string>
#include <vector>

#include "core/call/pipeline.h"
#include "core/call/temporaries.h"

namespace gufunc::call {

// Redirects each written operand of a call to its separate output and allocates missing outputs.
// The values of the operand are copied to the output after all checks, when only the launch can
// still fail. The call then runs in place on the outputs.
class SeparateOutputs {
 public:
  // `arrays` owns the missing outputs. It is nullptr for queries, in which missing outputs only
  // receive layouts without memory.
  SeparateOutputs(op::CallView &call, Temporaries *arrays) : call_(call), arrays_(arrays) {}

  // Flags the operands as kHasSeparateOutput. Must be called before types are resolved.
  void mark();

  // Replaces each operand that has a separate output by this output. Must be called after types are
  // resolved.
  // Errors  GUF_E_CASTING <= the loop's dtype does not cast to the output's dtype
  //         GUF_E_SHAPE <= an operand does not broadcast to its output
  //         GUF_E_OVERLAP <= two separate outputs overlap;  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status redirect(resolve::Choice *choice, guf_error *error);

  // Copies the values of the inout operands to the outputs on which the call runs. Must be called
  // after Temporaries::make_copies, because it overwrites inputs that share memory with an output.
  // `loop` contains the permutation of the axes.
  guf_status load(const broadcast::LoopShape &loop, guf_error *error);

  // Writes the dtypes of the inout operands, and the dtypes and shapes of their separate outputs,
  // for queries. Valid after `redirect`.
  void describe(guf_resolution *out) const;

  // Describes the copies as text, with one line per operand.
  std::string text() const;

  // Returns the operands whose output has a layout but no memory, as bits. Valid after `redirect`.
  uint32_t laid_out() const { return laid_out_; }

 private:
  struct Pair {
    int32_t operand;
    int32_t output;          // index of the output in CallView::operand
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

// SPDX-License-Identifier: Apache-2.0
// Copies the elements that a mask selects. A call with where= uses it to write back
// results that it computed in a temporary array.
#ifndef GUFUNC_CORE_CALL_MASKED_COPY_H
#define GUFUNC_CORE_CALL_MASKED_COPY_H

#include "core/broadcast/broadcast.h"
#include "core/memory/transfer.h"
#include "core/resolve/resolve.h"

namespace gufunc::call {

// The copy is itself a call. It applies `absolute` to the bits of the elements as unsigned
// integers, for which `absolute` returns its argument. A call is used because kernels support
// masks, but the convert slot of a backend does not. The object is large, because it contains a
// CallView.
class MaskedCopy {
 public:
  MaskedCopy() {}
  MaskedCopy(const MaskedCopy &) = delete;
  MaskedCopy &operator=(const MaskedCopy &) = delete;

  // Checks that the kernel of the copy is available. Must be called before anything is written.
  // Errors  GUF_E_NO_IMAGE <= the device has no kernel for the copy
  static guf_status check(backend::Device &device, guf_dtype dtype, guf_error *error);

  // Prepares the copy. `to` and `from` have the same dtype and shape. The mask of `outer` lacks the
  // last `ncore` axes of `to` and `from`.
  // Errors  GUF_E_NO_LOOP <= `absolute` has no suitable loop
  //         GUF_E_INTERNAL <= more axes than an array with elements can have
  guf_status prepare(const op::CallView &outer, const memory::CopyOperand &to,
                     const memory::CopyOperand &from, int32_t ncore, guf_error *error);

  // Errors  as a launch
  guf_status run(guf_error *error);

  // The call that copies. Valid after prepare(). Operand 0 is read, and operand 1 is written.
  op::CallView call;
  broadcast::LoopShape loop;
  resolve::Choice choice;

 private:
  guf_status take_axes(const op::CallView &outer, const memory::CopyOperand &to,
                       const memory::CopyOperand &from, int32_t ncore, guf_error *error);

  base::Ref<op::Ufunc> ufunc_;
  guf_call_args args_;
  int64_t shape_[GUF_MAX_NDIM];
};

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_MASKED_COPY_H

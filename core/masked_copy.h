// SPDX-License-Identifier: Apache-2.0
// Copying the elements that a call's mask has: how a call with where= writes back what it computed
// in an array of its own.
#ifndef GUFUNC_CORE_MASKED_COPY_H
#define GUFUNC_CORE_MASKED_COPY_H

#include "core/broadcast/loop_shape.h"
#include "core/memory/memory.h"
#include "core/resolve/resolve.h"

namespace gufunc::pipeline {

// The copy as a call of its own, arranged: `absolute` on unsigned integers, whose answer is its
// argument, with the elements' bits as those integers. A backend's convert slot knows no mask; its
// kernels do. Large, for the stack of one function.
class MaskedCopy {
 public:
  MaskedCopy() {}
  MaskedCopy(const MaskedCopy &) = delete;
  MaskedCopy &operator=(const MaskedCopy &) = delete;

  // The kernel of such a copy can be had: asked for before anything is written.
  // Errors  GUF_E_NO_IMAGE
  static guf_status check(backend::Device &device, guf_dtype dtype, guf_error *error);

  // Sides of one dtype and one shape, the last `ncore` axes of which the mask of `outer` has not.
  // Errors  GUF_E_NO_LOOP;  GUF_E_INTERNAL <= more axes than an array with elements has
  guf_status arrange(const op::CallView &outer, const memory::Side &to, const memory::Side &from,
                     int32_t ncore, guf_error *error);

  // Errors  those of a launch
  guf_status run(guf_error *error);

  // Once arranged: operand 0 is read, operand 1 written.
  op::CallView call;
  broadcast::LoopShape loop;
  resolve::Choice choice;

 private:
  guf_status take_axes(const op::CallView &outer, const memory::Side &to, const memory::Side &from,
                       int32_t ncore, guf_error *error);

  base::Ref<op::Ufunc> ufunc_;
  guf_call_args args_;
  int64_t shape_[GUF_MAX_NDIM];
};

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_MASKED_COPY_H

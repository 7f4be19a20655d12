// SPDX-License-Identifier: Apache-2.0
// Short helper functions that call the C API with vectors.
#ifndef GUFUNC_TESTS_PROCESS_STATE_VECTOR_CALLS_H
#define GUFUNC_TESTS_PROCESS_STATE_VECTOR_CALLS_H

#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"
#include "tests/support/ufuncs.h"

// Makes an operand that refers to the elements of a vector.
class Vector {
 public:
  template <class T>
  explicit Vector(const std::vector<T> &data)
      : operand_(*operands_.tensor(gufunc::view(gufunc::kDtypeOf<T>, data))) {}
  Vector(const Vector &) = delete;
  Vector &operator=(const Vector &) = delete;

  const guf_operand &get() const { return operand_; }

 private:
  gufunc::Operands operands_;
  const guf_operand &operand_;
};

using gufunc::find_ufunc;

// Returns a ufunc with one f32 input and one f32 output. By default its loop may run on any thread.
inline guf_ufunc make_unary(const char *name, guf_loop_numpy loop, void *user,
                            uint32_t flags = GUF_LOOP_ANY_THREAD) {
  return gufunc::make_ufunc(name, nullptr, 1, 1, {}, loop, {GUF_F32, GUF_F32}, 0, flags, user);
}

struct CallOptions {
  uint32_t threads = 0;
  guf_stream stream = nullptr;
};

// Calls ufunc(inputs...) and stores the result in `out`.
inline guf_status call(guf_ufunc ufunc, const std::vector<guf_operand> &inputs, guf_operand out,
                       guf_error *error, CallOptions options = {}) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = static_cast<int32_t>(inputs.size());
  args.inputs = inputs.data();
  args.noutputs = 1;
  args.outputs = &out;
  args.options.threads = options.threads;
  args.options.stream = options.stream;
  args.casting = GUF_CASTING_UNSAFE;
  return guf_call(ufunc, &args, error);
}

#endif  // GUFUNC_TESTS_PROCESS_STATE_VECTOR_CALLS_H

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

template <class T>
inline constexpr guf_dtype kDtypeOf = 0;
template <>
inline constexpr guf_dtype kDtypeOf<float> = GUF_F32;
template <>
inline constexpr guf_dtype kDtypeOf<double> = GUF_F64;
template <>
inline constexpr guf_dtype kDtypeOf<int64_t> = GUF_I64;

// Makes an operand that refers to the elements of a vector.
class Vector {
 public:
  template <class T>
  explicit Vector(const std::vector<T> &data)
      : operand_(*operands_.tensor(gufunc::view(kDtypeOf<T>, data))) {}
  Vector(const Vector &) = delete;
  Vector &operator=(const Vector &) = delete;

  const guf_operand &get() const { return operand_; }

 private:
  gufunc::Operands operands_;
  const guf_operand &operand_;
};

inline guf_ufunc find_ufunc(const char *name) {
  guf_error error = fresh_error();
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_find(nullptr, name, &ufunc, &error), GUF_OK) << error.message;
  return ufunc;
}

// Returns a ufunc with one f32 input and one f32 output. By default its loop may run on any thread.
inline guf_ufunc make_ufunc(const char *name, guf_loop_numpy loop, void *user,
                            uint32_t flags = GUF_LOOP_ANY_THREAD) {
  guf_error error = fresh_error();
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = desc.nout = 1;
  desc.name = name;
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  const guf_dtype types[] = {GUF_F32, GUF_F32};
  guf_loop_desc added = {};
  added.struct_size = sizeof added;
  added.kind = GUF_LOOP_NUMPY;
  added.flags = flags;
  added.ntypes = 2;
  added.types = types;
  added.numpy = loop;
  added.user = user;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &added, &error), GUF_OK) << error.message;
  return ufunc;
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

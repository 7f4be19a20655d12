// SPDX-License-Identifier: Apache-2.0
// Helpers for the programs in this folder: guf_call with all of its arguments, and printing.
#ifndef GUFUNC_EXAMPLES_CPP_CALL_HPP
#define GUFUNC_EXAMPLES_CPP_CALL_HPP

#include <cstdio>
#include <gufunc/gufunc.hpp>
#include <string>
#include <vector>

using gufunc::Array;
using gufunc::check;
using gufunc::Operand;
using gufunc::Ufunc;

inline std::vector<guf_operand> c_operands(std::initializer_list<Operand> operands) {
  std::vector<guf_operand> made;
  for (const Operand &operand : operands) made.push_back(operand.c_operand());
  return made;
}

// Writes the results to `outputs`. `args` contains the device or stream and the keyword arguments.
inline void call(const char *name, std::initializer_list<Operand> inputs,
                 std::initializer_list<Operand> outputs, guf_call_args args) {
  const std::vector<guf_operand> in = c_operands(inputs);
  std::vector<guf_operand> out = c_operands(outputs);
  args.inputs = in.data(), args.ninputs = static_cast<int32_t>(in.size());
  args.outputs = out.data(), args.noutputs = static_cast<int32_t>(out.size());
  check(guf_call, Ufunc(name).get(), &args);
}

// Allocates the output in device memory if the inputs are there, and otherwise in host memory.
inline Array call(const char *name, std::initializer_list<Operand> inputs, guf_call_args args) {
  const std::vector<guf_operand> in = c_operands(inputs);
  guf_operand out = {};
  args.inputs = in.data(), args.ninputs = static_cast<int32_t>(in.size());
  args.outputs = &out, args.noutputs = 1;
  check(guf_call, Ufunc(name).get(), &args);
  return Array(out.array);
}

inline guf_call_args on(guf_device device) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.options.device = device;
  return args;
}

inline guf_call_args on(guf_stream stream) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.options.stream = stream;
  return args;
}

template <class T>
void print(const std::vector<T> &values, size_t per_line) {
  for (size_t i = 0; i < values.size(); ++i)
    std::printf("%.9g%s", static_cast<double>(values[i]), (i + 1) % per_line == 0 ? "\n" : " ");
}

#endif  // GUFUNC_EXAMPLES_CPP_CALL_HPP

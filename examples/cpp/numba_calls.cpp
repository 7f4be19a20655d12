// SPDX-License-Identifier: Apache-2.0
// The calls of docs/from-numba.md on the kernels of examples/kernels. Usage: numba_calls MODULES
// [cuda:0]
#include "call.hpp"

// The dtypes of the operands select the loop. The call selects the device.
void discriminant(guf_device device) {
  std::vector<float> a{0, .25f, .5f, .75f, 1}, b{10, 10.1f, 10.5f, 10.7f, 11},
      c{1, .9f, .3f, .6f, .1f}, x(5);
  call("discriminant", {a, b, c}, {x}, on(device));
  print(x, 5);
}

// float32 x ** y / z, where `y` is broadcast.
void device_functions(guf_device device) {
  std::vector<float> x{2, 1.5f, .5f}, z{4, .3f, 7}, out(3);
  call("power_over", {x, 2, z}, {out}, on(device));
  print(out, 3);
}

// Two pairs of matrices in one call: all but the last two axes are loop dimensions.
void matrices(guf_device device) {
  std::vector<float> a(2 * 2 * 3), b(3 * 4), c(2 * 2 * 4);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i) - 5;
  call("matmulcore", {Operand(a.data(), {2, 2, 3}), Operand(b.data(), {3, 4})},
       {Operand(c.data(), {2, 2, 4})}, on(device));
  print(c, 8);
}

// The length of the result is the value of the second argument, the length of the output, or the
// length in `dims`.
void scalars_in_vectors_out(guf_device device) {
  std::vector<double> x{0, 1, 2, 3, .5}, y(5 * 4);
  call("foo", {x, 4}, {Operand(y.data(), {5, 4})}, on(device));
  print(y, 20);
  call("foo_any", {x, 0}, {Operand(y.data(), {5, 4})}, on(device));
  guf_call_args args = on(device);
  const guf_dim length = {"n", 2};
  args.dims = &length, args.ndims = 1;
  std::puts(call("foo_any", {x, 0}, args).str().c_str());
}

// The kernel reads and writes the row. If the call has a separate output, the row is first copied
// to that output.
void rows_in_place(guf_device device) {
  std::vector<float> rows{1, 0, 0, 0, 1, 1, 0, 0, 1, 2, 0, 0}, other(12, 9);
  call("hermite", {Operand(rows.data(), {3, 4})}, {Operand(other.data(), {3, 4})}, on(device));
  call("hermite", {Operand(rows.data(), {3, 4})}, {}, on(device));
  print(rows, 4);
  std::printf("%s\n", rows == other ? "the same" : "not the same");
}

// Input and output overlap, one element apart. The result is as if the input were copied first.
void overlap(guf_device device) {
  std::vector<double> b{1, 2, 3, 4, 5, 6, 7};
  call("absolute", {Operand(b.data(), {6})}, {Operand(b.data() + 1, {6})}, on(device));
  print(b, 7);
}

// Each column is passed to the kernel as the row that it processes. The matrix is not copied or
// transposed.
void columns(guf_device device) {
  std::vector<double> matrix{2, 3, 0, 0, 0, 0};
  guf_call_args args = on(device);
  const int64_t axis = 0;
  args.axis = &axis;
  call("cumulative_power", {Operand(matrix.data(), {3, 2})}, {}, args);
  print(matrix, 6);
}

// An output may be larger than the inputs and have a wider dtype. Only the elements for which the
// mask is true are written.
void outputs(guf_device device) {
  std::vector<float> a{1, 2, 3}, b{10, 20, 30};
  std::vector<double> out(6, -1);
  const bool mask[] = {true, false, true};
  const Operand where(mask, {3});
  const guf_operand operand = where.c_operand();
  guf_call_args args = on(device);
  args.where = &operand;
  call("add", {a, b}, {Operand(out.data(), {2, 3})}, args);
  print(out, 6);
}

void reduce(guf_device device) {
  std::vector<double> x{1, 2, 3, 4, 5, 6};
  const Operand matrix(x.data(), {2, 3});
  const guf_operand input = matrix.c_operand();
  const int64_t axis = 1;
  guf_operand sums = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.options.device = device;
  args.input = &input, args.output = &sums;
  args.axis = &axis, args.naxis = 1;
  check(guf_reduce, Ufunc("add").get(), &args);
  std::puts(Array(sums.array).str().c_str());
}

// Each row has 1000 elements, which is enough for a group of threads.
void groups(guf_device device) {
  std::vector<float> x(2 * 1000), y(2 * 1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  call("demean", {Operand(x.data(), {2, 1000})}, {Operand(y.data(), {2, 1000})}, on(device));
  std::printf("%.9g ... %.9g\n", y[0], y[1999]);
}

int main(int argc, char **argv) try {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<gufunc::Module> modules;
  for (const char *name : {"discriminant", "device_function", "matmulcore", "foo", "hermite",
                           "cumulative_power", "demean"})
    modules.emplace_back(folder + "/" + name + ".so");
  guf_device device = nullptr;
  check(guf_device_get, nullptr, argc > 2 ? argv[2] : "cpu", &device);
  discriminant(device);
  device_functions(device);
  matrices(device);
  scalars_in_vectors_out(device);
  rows_in_place(device);
  overlap(device);
  columns(device);
  outputs(device);
  reduce(device);
  groups(device);
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", guf_status_name(error.status()), error.what());
  return 1;
}

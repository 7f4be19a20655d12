// SPDX-License-Identifier: Apache-2.0
// Measures how much longer a call of one element through gufunc.hpp takes than the same call in C.
// The two calls alternate in one process, and the difference of their minimum times is printed. The
// exit status is 1 if the difference exceeds MOST_NS. Usage: call_cost [MOST_NS].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gufunc/gufunc.hpp>

namespace {

constexpr int kCalls = 2000, kRounds = 400;

template <class Call>
double nanoseconds(const Call &call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < kCalls; ++k) call();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / kCalls;
}

void fail(guf_status status) {
  if (status != GUF_OK) std::abort();
}

// The call in C. It writes its operands and arguments each time, like a program that makes the call
// only once.
void call_in_c(guf_ufunc ufunc, guf_array a, guf_array b, guf_array out) {
  guf_operand inputs[2] = {}, output = {};
  inputs[0].kind = inputs[1].kind = output.kind = GUF_OPERAND_ARRAY;
  inputs[0].array = a, inputs[1].array = b, output.array = out;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs, args.ninputs = 2;
  args.outputs = &output, args.noutputs = 1;
  guf_error error;
  error.struct_size = sizeof error;
  fail(guf_call(ufunc, &args, &error));
}

void call_in_c(guf_ufunc ufunc, double *a, double *b, double *out) {
  const int64_t shape = 1;
  guf_tensor tensors[3] = {};
  double *const places[] = {a, b, out};
  guf_operand operands[3] = {};
  for (int k = 0; k < 3; ++k) {
    tensors[k].struct_size = sizeof tensors[k];
    tensors[k].dtype = GUF_F64;
    tensors[k].ndim = 1;
    tensors[k].shape = &shape;
    tensors[k].address = reinterpret_cast<uint64_t>(places[k]);
    operands[k].kind = GUF_OPERAND_TENSOR;
    operands[k].tensor = &tensors[k];
  }
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = operands, args.ninputs = 2;
  args.outputs = operands + 2, args.noutputs = 1;
  guf_error error;
  error.struct_size = sizeof error;
  fail(guf_call(ufunc, &args, &error));
}

// Measures both calls in alternation and keeps the minimum of each.
template <class C, class Cpp>
double over_c(const char *what, const C &in_c, const Cpp &in_cpp) {
  double least_c = 1e9, least_cpp = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    least_c = std::min(least_c, nanoseconds(in_c));
    least_cpp = std::min(least_cpp, nanoseconds(in_cpp));
  }
  std::printf("%s: C %.1f ns, C++ %.1f ns, over C %.1f ns\n", what, least_c, least_cpp,
              least_cpp - least_c);
  return least_cpp - least_c;
}

}  // namespace

int main(int argc, char **argv) try {
  const gufunc::Ufunc add("add");
  using Doubles = gufunc::TypedArray<double>;
  const Doubles a = Doubles::alloc({1}), b = Doubles::alloc({1}), out = Doubles::alloc({1});
  a.fill(1.0), b.fill(2.0);
  std::vector<double> x{1}, y{2}, z{0};
  const double most = argc > 1 ? std::atof(argv[1]) : 1e9;
  const double worst =
      std::max(over_c(
                   "arrays", [&] { call_in_c(add.get(), a.get(), b.get(), out.get()); },
                   [&] { add({a, b}, {out}); }),
               over_c(
                   "vectors", [&] { call_in_c(add.get(), x.data(), y.data(), z.data()); },
                   [&] { add({x, y}, {z}); }));
  return worst > most || out.to_vector()[0] != 3 || z[0] != 3;
} catch (const gufunc::Error &error) {
  std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  return 1;
}

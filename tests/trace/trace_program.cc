// SPDX-License-Identifier: Apache-2.0
// Runs work of every kind on one device. trace_test.py expects the work in the trace.
//
//   trace_program DEVICE WHAT [NUMBER]
#include <gufunc/gufunc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/operands.h"

namespace {

using gufunc::operand_of;

constexpr int64_t kItems = 1000;

void need(guf_status status, const guf_error &error, const char *what) {
  if (status == GUF_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, guf_status_name(status), error.message);
  std::_Exit(1);
}

#define NEED(function, ...)                                          \
  do {                                                               \
    guf_error need_error = {};                                       \
    need_error.struct_size = sizeof need_error;                      \
    need(function(__VA_ARGS__, &need_error), need_error, #function); \
  } while (false)

guf_device find_device(const char *spec) {
  guf_device device = nullptr;
  NEED(guf_device_get, nullptr, spec, &device);
  return device;
}

guf_stream make_stream(guf_device device) {
  guf_stream stream = nullptr;
  NEED(guf_stream_create, device, 0, &stream);
  return stream;
}

guf_array make_array(guf_device device, guf_dtype dtype, std::vector<int64_t> shape) {
  guf_array array = nullptr;
  NEED(guf_array_alloc, device, dtype, static_cast<int32_t>(shape.size()), shape.data(), nullptr,
       GUF_ORDER_C, &array);
  return array;
}

guf_array make_array(guf_device device, std::vector<int64_t> shape) {
  return make_array(device, GUF_F64, std::move(shape));
}

guf_array wrap(std::vector<double> &values) {
  gufunc::Operands operands;
  guf_array array = nullptr;
  NEED(guf_array_wrap, operands.tensor(gufunc::view(GUF_F64, values))->tensor, nullptr, nullptr, 0,
       &array);
  return array;
}

void call(const char *name, guf_array a, guf_array b, guf_array out, guf_stream stream) {
  guf_ufunc ufunc = nullptr;
  NEED(guf_ufunc_find, nullptr, name, &ufunc);
  const guf_operand inputs[] = {operand_of(a), operand_of(b)};
  guf_operand output = operand_of(out);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = inputs;
  args.outputs = &output;
  args.options.stream = stream;
  NEED(guf_call, ufunc, &args);
  guf_ufunc_release(ufunc, nullptr);
}

void wait(guf_stream stream) {
  NEED(guf_stream_synchronize, stream, UINT64_MAX);
}

// Runs an elementwise and a generalized call, a reduction, a fill, and copies in both directions.
void run_all(guf_device device) {
  const guf_stream stream = make_stream(device);
  std::vector<double> host(kItems, 1.5), back(kItems);
  const guf_array source = wrap(host);
  guf_array x = nullptr;
  NEED(guf_array_to_device, source, device, stream, &x);
  const guf_array y = make_array(device, {kItems});
  const guf_array rows = make_array(device, {10, 100}), dots = make_array(device, {10});
  call("add", x, x, y, stream);
  call("multiply", y, x, y, stream);
  const guf_operand two = gufunc::weak_int_of(2);
  NEED(guf_array_fill, rows, &two, stream);
  call("vecdot", rows, rows, dots, stream);
  NEED(guf_array_copy_to_host, y, back.data(), back.size() * sizeof(double), GUF_ORDER_C, stream);
  wait(stream);
  if (back[0] != 4.5) std::_Exit(2);
  for (const guf_array array : {source, x, y, rows, dots}) guf_array_release(array, nullptr);
  guf_stream_release(stream, nullptr);
}

void reduce(guf_device device) {
  const guf_stream stream = make_stream(device);
  const guf_array x = make_array(device, {10, 100}), sums = make_array(device, {10});
  guf_ufunc add = nullptr;
  NEED(guf_ufunc_find, nullptr, "add", &add);
  guf_operand input = operand_of(x), output = operand_of(sums);
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &input;
  args.output = &output;
  const int64_t axis = 1;
  args.axis = &axis;
  args.naxis = 1;
  args.options.stream = stream;
  NEED(guf_reduce, add, &args);
  wait(stream);
  guf_ufunc_release(add, nullptr);
  for (const guf_array array : {x, sums}) guf_array_release(array, nullptr);
  guf_stream_release(stream, nullptr);
}

// Launches a kernel with 48 blocks of 6 threads, each of which writes 8 numbers, and one block of a
// kernel that uses dynamic shared memory.
void run_kernels(guf_device device) {
  const guf_stream stream = make_stream(device);
  guf_module module = nullptr;
  NEED(guf_module_load, nullptr, GUFUNC_RAW_MODULE, 0, &module);
  guf_kernel places = nullptr, sums = nullptr;
  NEED(guf_kernel_find, module, "places", &places);
  NEED(guf_kernel_find, module, "sums", &sums);
  const guf_array out = make_array(device, GUF_I64, {48 * 6 * 8});
  const guf_array values = make_array(device, GUF_F64, {64}),
                  sum = make_array(device, GUF_F64, {1});
  const uint32_t grid[] = {2, 4, 6}, block[] = {1, 2, 3}, one[] = {1, 1, 1}, many[] = {64, 1, 1};
  const guf_operand written = operand_of(out);
  NEED(guf_kernel_launch, places, stream, grid, block, 96, 1, &written);
  const guf_operand summed[] = {operand_of(values), operand_of(sum), gufunc::weak_int_of(64)};
  NEED(guf_kernel_launch, sums, stream, one, many, 512, 3, summed);
  wait(stream);
  for (const guf_array array : {out, values, sum}) guf_array_release(array, nullptr);
  for (const guf_kernel kernel : {places, sums}) guf_kernel_release(kernel, nullptr);
  guf_module_release(module, nullptr);
  guf_stream_release(stream, nullptr);
}

// Queues more work than a device can record at a time, and waits only for the last item.
void run_flood(guf_device device, int times) {
  const guf_stream stream = make_stream(device);
  const guf_array x = make_array(device, {kItems}), y = make_array(device, {kItems});
  for (int i = 0; i < times; ++i) call("add", x, x, y, stream);
  wait(stream);
  for (const guf_array array : {x, y}) guf_array_release(array, nullptr);
  guf_stream_release(stream, nullptr);
}

void run_copies(guf_device device, int times) {
  std::vector<double> host(kItems, 1.5), back(kItems);
  const guf_array source = wrap(host);
  guf_array there = nullptr;
  for (int i = 0; i < times; ++i) {
    NEED(guf_array_to_device, source, device, nullptr, &there);
    NEED(guf_array_copy_to_host, there, back.data(), back.size() * sizeof(double), GUF_ORDER_C,
         nullptr);
  }
  if (back != host) std::_Exit(2);
  for (const guf_array array : {source, there}) guf_array_release(array, nullptr);
}

// Captures a graph once and launches it `runs` times.
void run_graph(guf_device device, int runs) {
  const guf_stream stream = make_stream(device);
  const guf_array x = make_array(device, {kItems}), y = make_array(device, {kItems});
  call("add", x, x, y, stream);  // the call loads the code before the capture
  wait(stream);
  guf_graph graph = nullptr;
  NEED(guf_stream_begin_capture, stream);
  call("add", x, y, y, stream);
  call("add", y, y, y, stream);
  NEED(guf_stream_end_capture, stream, &graph);
  for (int i = 0; i < runs; ++i) NEED(guf_graph_launch, graph, stream);
  wait(stream);
  guf_graph_release(graph, nullptr);
  for (const guf_array array : {x, y}) guf_array_release(array, nullptr);
  guf_stream_release(stream, nullptr);
}

// Runs a call in `nchunks` chunks of 64 KiB per operand.
void run_chunks(guf_device device, int nchunks) {
  constexpr int64_t kChunk = 8192;
  std::vector<double> data(static_cast<size_t>(nchunks) * kChunk, 1.25), sum(data.size());
  const guf_array x = wrap(data), out = wrap(sum);
  guf_ufunc add = nullptr;
  NEED(guf_ufunc_find, nullptr, "add", &add);
  const guf_operand inputs[] = {operand_of(x), operand_of(x)};
  guf_operand output = operand_of(out);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = inputs;
  args.outputs = &output;
  args.options.device = device;
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = kChunk * sizeof(double);
  int64_t done = 0;
  NEED(guf_call_chunked, add, &args, &options, &done);
  if (sum.back() != 2.5) std::_Exit(2);
  guf_ufunc_release(add, nullptr);
  for (const guf_array array : {x, out}) guf_array_release(array, nullptr);
}

void run_threads(guf_device device, int calls) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([=] {
      const guf_stream stream = make_stream(device);
      const guf_array x = make_array(device, {kItems}), y = make_array(device, {kItems});
      for (int i = 0; i < calls; ++i) {
        call("add", x, x, y, stream);
        if (i % 16 == 15) wait(stream);
      }
      wait(stream);
      for (const guf_array array : {x, y}) guf_array_release(array, nullptr);
      guf_stream_release(stream, nullptr);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

void call_host(int times) {
  std::vector<double> data(kItems, 1), sum(kItems);
  const guf_array x = wrap(data), out = wrap(sum);
  for (int i = 0; i < times; ++i) call("add", x, x, out, nullptr);
  for (const guf_array array : {x, out}) guf_array_release(array, nullptr);
}

void run_contexts(int count) {
  for (int i = 0; i < count; ++i) {
    guf_context context = nullptr;
    NEED(guf_context_create, 0, &context);
    call_host(1);
    guf_context_release(context, nullptr);
  }
}

// Queues work that no caller waits for. The release of the context collects it.
void run_released(guf_device device) {
  const guf_stream stream = make_stream(device);
  const guf_array x = make_array(device, {kItems});
  call("add", x, x, x, stream);
  while (guf_stream_query(stream, nullptr) == GUF_NOT_READY) continue;
  guf_context context = nullptr;
  NEED(guf_context_create, 0, &context);
  guf_context_release(context, nullptr);
}

// Forks. The child computes and shuts down, but the trace belongs to the parent.
void run_fork() {
  call_host(1);
  const pid_t child = fork();
  if (child == 0) {
    call_host(100);
    run_contexts(1);
    NEED(guf_shutdown, 1'000'000'000);
    std::_Exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) std::_Exit(3);
  call_host(1);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  const std::string what = argv[2];
  const int number = argc > 3 ? std::atoi(argv[3]) : 1;
  const guf_device device = find_device(argv[1]);
  if (what == "all") {
    run_all(device);
    reduce(device);
  }
  if (what == "kernels") run_kernels(device);
  if (what == "flood") run_flood(device, number);
  if (what == "copies") run_copies(device, number);
  if (what == "graph") run_graph(device, number);
  if (what == "chunks") run_chunks(device, number);
  if (what == "threads") run_threads(device, number);
  if (what == "calls") call_host(number);
  if (what == "fork") run_fork();
  if (what == "released") run_released(device);
  if (what == "contexts" || what == "killed") run_contexts(number);
  if (what == "killed" || what == "released") {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    raise(SIGKILL);
  }
  NEED(guf_shutdown, 10'000'000'000);
  char text[512];
  int32_t level = -1;
  while (guf_log_read(text, sizeof text, &level, nullptr) == GUF_OK && level >= 0) {
    if (level <= 1) std::printf("%s\n", text);
  }
  return 0;
}

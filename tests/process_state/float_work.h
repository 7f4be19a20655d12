// SPDX-License-Identifier: Apache-2.0
// Runs work of the library with the caller's floating-point control word. Each function does one
// kind of work and returns the bytes of its results.
#ifndef GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORK_H
#define GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORK_H

#include <cstring>
#include <functional>
#include <string>

#include "call_samples.h"
#include "float_words.h"

constexpr size_t kMany = 100'000;

// The control word that the caller sets around each call.
inline FloatWord current = kDefaultWord;

template <class Body>
guf_status under_word(Body body) {
  set_word(current);
  const guf_status status = body();
  const FloatWord after = read_word();
  set_word(kDefaultWord);
  EXPECT_TRUE(same_control(after, current))
      << "mxcsr " << std::hex << after.mxcsr << ", x87 " << after.x87;
  return status;
}

inline guf_status call_under_word(const char *name, const std::vector<guf_operand> &inputs,
                                  guf_operand out, Error *error, CallOptions options = {}) {
  const guf_ufunc ufunc = find_ufunc(name);
  return under_word([&] { return call(ufunc, inputs, out, error, options); });
}

template <class T>
inline std::string bytes_of(const std::vector<T> &data) {
  return {reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T)};
}

// Returns numbers of all magnitudes. A third of the numbers is subnormal.
inline std::vector<double> numbers(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const double x = 1 + static_cast<double>(i) / 3;
    values[i] = i % 3 == 0 ? x * 0x1p-1070 : i % 3 == 1 ? x / 7 : x * 1e300 / 1e298;
  }
  return values;
}
inline std::vector<float> small_numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1000 + 1) * 0x1p-140F;
  return values;
}

inline std::string unary(const char *name, size_t count, CallOptions options) {
  Error error;
  const std::vector<double> in = numbers(count);
  std::vector<double> out(count);
  const Vector from(in), to(out);
  EXPECT_EQ(call_under_word(name, {from.get()}, to.get(), &error, options), GUF_OK)
      << error.message;
  if (options.stream != nullptr) {
    EXPECT_EQ(
        under_word([&] { return guf_stream_synchronize(options.stream, UINT64_MAX, &error); }),
        GUF_OK);
  }
  return bytes_of(out);
}

inline std::string binary(const char *name, size_t count, CallOptions options) {
  Error error;
  const std::vector<double> in = numbers(count);
  const std::vector<double> other(in.rbegin(), in.rend());
  std::vector<double> out(count);
  const Vector a(in), b(other), to(out);
  EXPECT_EQ(call_under_word(name, {a.get(), b.get()}, to.get(), &error, options), GUF_OK)
      << error.message;
  return bytes_of(out);
}

inline std::string fold(bool accumulate, uint32_t threads) {
  Error error;
  const std::vector<double> in = numbers(kMany);
  std::vector<double> out(accumulate ? kMany : 1);
  const Vector from(in), to(out);
  guf_operand output = to.get();
  if (accumulate) {
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = &from.get();
    args.output = &output;
    args.options.threads = threads;
    EXPECT_EQ(under_word([&] { return guf_accumulate(find_ufunc("add"), &args, &error); }), GUF_OK)
        << error.message;
  } else {
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    args.input = &from.get();
    args.output = &output;
    args.flags = GUF_CALL_KEEPDIMS;
    args.options.threads = threads;
    EXPECT_EQ(under_word([&] { return guf_reduce(find_ufunc("add"), &args, &error); }), GUF_OK)
        << error.message;
  }
  return bytes_of(out);
}

inline std::string reduceat(uint32_t threads) {
  Error error;
  const std::vector<double> in = numbers(kMany);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < static_cast<int64_t>(kMany); i += 1000) indices.push_back(i);
  std::vector<double> out(indices.size());
  const Vector from(in), at(indices), to(out);
  guf_operand output = to.get();
  guf_accumulate_args args = {};
  args.struct_size = sizeof args;
  args.input = &from.get();
  args.indices = &at.get();
  args.output = &output;
  args.options.threads = threads;
  EXPECT_EQ(under_word([&] { return guf_reduceat(find_ufunc("add"), &args, &error); }), GUF_OK)
      << error.message;
  return bytes_of(out);
}

inline std::string at() {
  Error error;
  std::vector<double> array = numbers(1000);
  const std::vector<int64_t> indices = {1, 5, 1, 999, 5};
  const std::vector<double> operand = {0.1, 0x1p-1071, 0.2, 1.0 / 3, 0x1p-1073};
  const Vector to(array), where(indices), by(operand);
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &to.get();
  args.indices = &where.get();
  args.operand = &by.get();
  args.nindices = 1;
  EXPECT_EQ(under_word([&] { return guf_at(find_ufunc("add"), &args, &error); }), GUF_OK)
      << error.message;
  return bytes_of(array);
}

// Casts f64 to f32 with astype, and also through an operand of an f32 loop, which is staged.
inline std::string casts(uint32_t threads) {
  Error error;
  const std::vector<double> in = numbers(kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  EXPECT_EQ(call_under_word("absolute", {from.get()}, to.get(), &error, {.threads = threads}),
            GUF_OK)
      << error.message;
  std::string bytes = bytes_of(out);
  guf_array array = nullptr, cast = nullptr;
  EXPECT_EQ(guf_array_wrap(from.get().tensor, nullptr, nullptr, 0, &array, &error), GUF_OK);
  EXPECT_EQ(under_word([&] {
              return guf_array_astype(array, GUF_F32, GUF_CASTING_UNSAFE, GUF_ORDER_C, nullptr,
                                      &cast, &error);
            }),
            GUF_OK)
      << error.message;
  EXPECT_EQ(guf_array_copy_to_host(cast, out.data(), kMany * 4, GUF_ORDER_C, nullptr, &error),
            GUF_OK);
  bytes += bytes_of(out);
  guf_array_release(cast, nullptr);
  guf_array_release(array, nullptr);
  return bytes;
}

inline std::string weak_scalar() {
  Error error;
  const std::vector<float> in = small_numbers(100);
  std::vector<float> out(100);
  const Vector from(in), to(out);
  const double third = 1.0 / 3;
  guf_operand weak = {GUF_OPERAND_WEAK_FLOAT, 0, 0, 0, nullptr, nullptr, {}};
  std::memcpy(weak.value, &third, sizeof third);
  EXPECT_EQ(call_under_word("multiply", {from.get(), weak}, to.get(), &error), GUF_OK)
      << error.message;
  return bytes_of(out);
}

inline std::string printed() {
  Error error;
  const std::vector<double> in = numbers(30);
  const Vector from(in);
  guf_array array = nullptr;
  EXPECT_EQ(guf_array_wrap(from.get().tensor, nullptr, nullptr, 0, &array, &error), GUF_OK);
  std::string text(4096, '\0');
  uint64_t length = text.size();
  EXPECT_EQ(under_word([&] { return guf_array_print(array, text.data(), &length, &error); }),
            GUF_OK)
      << error.message;
  text.resize(length);
  guf_array_release(array, nullptr);
  return text;
}

inline std::string planned() {
  Error error;
  const std::vector<double> in = numbers(100);
  std::vector<double> out(100);
  const Vector from(in), to(out);
  guf_operand output = to.get();
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &from.get();
  args.outputs = &output;
  guf_plan plan = nullptr;
  EXPECT_EQ(under_word([&] { return guf_plan_create(find_ufunc("exp"), &args, &plan, &error); }),
            GUF_OK)
      << error.message;
  const uint64_t addresses[] = {from.get().tensor->address, to.get().tensor->address};
  EXPECT_EQ(under_word([&] { return guf_plan_launch(plan, nullptr, 2, addresses, 0, &error); }),
            GUF_OK)
      << error.message;
  guf_plan_release(plan, nullptr);
  return bytes_of(out);
}

inline std::string chunked(const char *name, size_t count, uint32_t threads) {
  Error error;
  const std::vector<double> in = numbers(count);
  std::vector<double> out(count);
  const Vector from(in), to(out);
  guf_operand output = to.get();
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &from.get();
  args.outputs = &output;
  args.options.threads = threads;
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = 64 * 1024;
  EXPECT_EQ(under_word([&] {
              return guf_call_chunked(find_ufunc(name), &args, &options, nullptr, &error);
            }),
            GUF_OK)
      << error.message;
  return bytes_of(out);
}

inline guf_module load_module(const char *path) {
  Error error;
  guf_module module = nullptr;
  EXPECT_EQ(guf_module_load(nullptr, path, 0, &module, &error), GUF_OK) << error.message;
  return module;
}

// Divides numbers, most of which are subnormal, by 3.
inline std::string raw_kernel(size_t count, guf_stream stream) {
  static const guf_kernel scale = [] {
    Error error;
    guf_kernel found = nullptr;
    EXPECT_EQ(guf_kernel_find(load_module(GUFUNC_RAW_MODULE), "scale", &found, &error), GUF_OK)
        << error.message;
    return found;
  }();
  Error error;
  std::vector<float> data = small_numbers(count);
  const Vector in_place(data);
  const float third = 1.0F / 3;
  guf_operand arguments[] = {{GUF_OPERAND_SCALAR, GUF_F32, 0, 0, nullptr, nullptr, {}},
                             in_place.get()};
  std::memcpy(arguments[0].value, &third, sizeof third);
  const uint32_t grid[] = {static_cast<uint32_t>((count + 255) / 256), 1, 1}, block[] = {256, 1, 1};
  EXPECT_EQ(under_word([&] {
              return guf_kernel_launch(scale, stream, grid, block, 0, 2, arguments, &error);
            }),
            GUF_OK)
      << error.message;
  if (stream != nullptr) {
    EXPECT_EQ(under_word([&] { return guf_stream_synchronize(stream, UINT64_MAX, &error); }),
              GUF_OK);
  }
  return bytes_of(data);
}

#ifdef GUFUNC_REDUCTIONS_MODULE
// Runs the base, merge and finish functions of a user-defined accumulator.
inline std::string state_reduction(size_t count, uint32_t threads) {
  static const guf_module module = load_module(GUFUNC_REDUCTIONS_MODULE);
  EXPECT_NE(module, nullptr);
  Error error;
  std::vector<double> in = numbers(count);
  // The squares of these elements are subnormal.
  for (size_t i = 0; i < count; i += 2) in[i] = 0x1p-540 * static_cast<double>(i % 7);
  std::vector<double> mean(1), variance(1);
  const Vector from(in), to_mean(mean), to_variance(variance);
  guf_operand outputs[] = {to_mean.get(), to_variance.get()};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.flags = GUF_CALL_KEEPDIMS;
  args.input = &from.get();
  args.outputs = outputs;
  args.noutputs = 2;
  args.options.threads = threads;
  EXPECT_EQ(under_word([&] { return guf_reduce(find_ufunc("mean_variance"), &args, &error); }),
            GUF_OK)
      << error.message;
  return bytes_of(mean) + bytes_of(variance);
}
#endif

struct Work {
  std::string name;
  std::function<std::string()> run;
};

inline std::vector<Work> all_work() {
  static guf_stream stream = [] {
    guf_device cpu = nullptr;
    guf_stream made = nullptr;
    EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu, nullptr), GUF_OK);
    EXPECT_EQ(guf_stream_create(cpu, 0, &made, nullptr), GUF_OK);
    return made;
  }();
  std::vector<Work> work;
  for (const uint32_t threads : {1U, 3U}) {
    const std::string on = " on " + std::to_string(threads);
    for (const char *name : {"sin", "exp", "sqrt", "negative"}) {
      work.push_back({name + on, [=] { return unary(name, kMany, {.threads = threads}); }});
    }
    for (const char *name : {"add", "multiply", "divide", "power", "remainder"}) {
      work.push_back({name + on, [=] { return binary(name, kMany, {.threads = threads}); }});
    }
    work.push_back({"reduce" + on, [=] { return fold(false, threads); }});
    work.push_back({"accumulate" + on, [=] { return fold(true, threads); }});
    work.push_back({"reduceat" + on, [=] { return reduceat(threads); }});
    work.push_back({"casts" + on, [=] { return casts(threads); }});
    work.push_back({"chunks of exp" + on, [=] { return chunked("exp", kMany, threads); }});
    work.push_back({"chunks of sqrt" + on, [=] { return chunked("sqrt", kMany, threads); }});
#ifdef GUFUNC_REDUCTIONS_MODULE
    for (const size_t count : {size_t{100}, kMany}) {
      work.push_back({"a state of " + std::to_string(count) + on,
                      [=] { return state_reduction(count, threads); }});
    }
#endif
  }
  work.push_back({"sin of few", [] { return unary("sin", 9, {}); }});
  work.push_back({"divide of one", [] { return binary("divide", 1, {}); }});
  work.push_back({"sin on a stream", [] { return unary("sin", kMany, {.stream = stream}); }});
  work.push_back({"few on a stream", [] { return unary("sin", 5, {.stream = stream}); }});
  for (const size_t count : {size_t{9}, kMany}) {
    const std::string of = " of " + std::to_string(count);
    work.push_back({"raw kernel" + of, [=] { return raw_kernel(count, nullptr); }});
    work.push_back({"raw kernel on a stream" + of, [=] { return raw_kernel(count, stream); }});
  }
  work.push_back({"at", at});
  work.push_back({"weak scalar", weak_scalar});
  work.push_back({"print", printed});
  work.push_back({"plan", planned});
  return work;
}

#endif  // GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORK_H

// SPDX-License-Identifier: Apache-2.0
// Tests that a caller's floating-point control word does not change results on any thread, and that
// every call restores the control word. The order of the tests matters, because the first test
// starts the thread pool.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "float_words.h"
#include "vector_calls.h"

namespace {

// The following functions run work of the library with the caller's floating-point control word.
// Each of them does one kind of work and returns the bytes of its results.

constexpr size_t kMany = 100'000;

// The control word that the caller sets around each call.
FloatWord current = kDefaultWord;

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

guf_status call_under_word(const char *name, const std::vector<guf_operand> &inputs,
                           guf_operand out, guf_error *error, CallOptions options = {}) {
  const guf_ufunc ufunc = find_ufunc(name);
  return under_word([&] { return call(ufunc, inputs, out, error, options); });
}

template <class T>
std::string bytes_of(const std::vector<T> &data) {
  return {reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T)};
}

// Returns numbers of all magnitudes. A third of the numbers is subnormal.
std::vector<double> numbers(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const double x = 1 + static_cast<double>(i) / 3;
    values[i] = i % 3 == 0 ? x * 0x1p-1070 : i % 3 == 1 ? x / 7 : x * 1e300 / 1e298;
  }
  return values;
}
std::vector<float> small_numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1000 + 1) * 0x1p-140F;
  return values;
}

std::string unary(const char *name, size_t count, CallOptions options) {
  guf_error error = fresh_error();
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

std::string binary(const char *name, size_t count, CallOptions options) {
  guf_error error = fresh_error();
  const std::vector<double> in = numbers(count);
  const std::vector<double> other(in.rbegin(), in.rend());
  std::vector<double> out(count);
  const Vector a(in), b(other), to(out);
  EXPECT_EQ(call_under_word(name, {a.get(), b.get()}, to.get(), &error, options), GUF_OK)
      << error.message;
  return bytes_of(out);
}

std::string fold(bool accumulate, uint32_t threads) {
  guf_error error = fresh_error();
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

std::string reduceat(uint32_t threads) {
  guf_error error = fresh_error();
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

std::string at() {
  guf_error error = fresh_error();
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
std::string casts(uint32_t threads) {
  guf_error error = fresh_error();
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

std::string weak_scalar() {
  guf_error error = fresh_error();
  const std::vector<float> in = small_numbers(100);
  std::vector<float> out(100);
  const Vector from(in), to(out);
  const guf_operand weak = gufunc::weak_float_of(1.0 / 3);
  EXPECT_EQ(call_under_word("multiply", {from.get(), weak}, to.get(), &error), GUF_OK)
      << error.message;
  return bytes_of(out);
}

std::string printed() {
  guf_error error = fresh_error();
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

std::string planned() {
  guf_error error = fresh_error();
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

std::string chunked(const char *name, size_t count, uint32_t threads) {
  guf_error error = fresh_error();
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

guf_module load_module(const char *path) {
  guf_error error = fresh_error();
  guf_module module = nullptr;
  EXPECT_EQ(guf_module_load(nullptr, path, 0, &module, &error), GUF_OK) << error.message;
  return module;
}

// Divides numbers, most of which are subnormal, by 3.
std::string raw_kernel(size_t count, guf_stream stream) {
  static const guf_kernel scale = [] {
    guf_error error = fresh_error();
    guf_kernel found = nullptr;
    EXPECT_EQ(guf_kernel_find(load_module(GUFUNC_RAW_MODULE), "scale", &found, &error), GUF_OK)
        << error.message;
    return found;
  }();
  guf_error error = fresh_error();
  std::vector<float> data = small_numbers(count);
  const Vector in_place(data);
  const guf_operand arguments[] = {gufunc::scalar_of(1.0F / 3), in_place.get()};
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
std::string state_reduction(size_t count, uint32_t threads) {
  static const guf_module module = load_module(GUFUNC_REDUCTIONS_MODULE);
  EXPECT_NE(module, nullptr);
  guf_error error = fresh_error();
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

std::vector<Work> all_work() {
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

// Records which threads run a loop, and whether one of them has a changed control word.
struct Seen {
  std::mutex lock;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  size_t meet = 1;  // number of threads that must run the loop at the same time
  bool hostile = false;
  std::chrono::milliseconds pause{0};

  void enter() {
    std::this_thread::sleep_for(pause);
    std::unique_lock hold(lock);
    threads.insert(std::this_thread::get_id());
    hostile |= !same_control(read_word(), kDefaultWord);
    arrived.notify_all();
    arrived.wait_for(hold, std::chrono::seconds(20), [&] { return threads.size() >= meet; });
  }
};

void copy(char **args, const int64_t *dims, const int64_t *steps) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
  }
}

void observed_copy(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  static_cast<Seen *>(user)->enter();
  copy(args, dims, steps);
}

// Pool threads inherit the control word of the thread that starts them.
TEST(FloatControl, APoolThatAHostileCallerStarted) {
  static Seen seen;
  seen.meet = 3;
  const guf_ufunc observed = make_unary("observed", observed_copy, &seen);
  guf_error error = fresh_error();
  const std::vector<float> in = small_numbers(kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  const auto run = [&] { return call(observed, {from.get()}, to.get(), &error, {.threads = 3}); };
  current = kHostileWords[2];
  EXPECT_EQ(under_word(run), GUF_OK) << error.message;
  current = kDefaultWord;
  EXPECT_EQ(under_word(run), GUF_OK) << error.message;
  EXPECT_EQ(seen.threads.size(), 3U);
  EXPECT_FALSE(seen.hostile);
}

TEST(FloatControl, NoWordOfTheCallerChangesABit) {
  for (const Work &work : all_work()) {
    SCOPED_TRACE(work.name);
    current = kDefaultWord;
    const std::string expected = work.run();
    for (const FloatWord &word : kHostileWords) {
      current = word;
      EXPECT_TRUE(work.run() == expected) << word.name;
    }
    current = kDefaultWord;
  }
}

// Flags that arithmetic raises on the caller's thread remain set, together with earlier flags.
TEST(FloatControl, FlagsAreRaisedAsUnderTheDefault) {
  guf_error error = fresh_error();
  const std::vector<double> zero = {0.0}, one = {1.0};
  std::vector<double> out(1);
  const Vector a(one), b(zero), to(out);
  const guf_ufunc divide = find_ufunc("divide");
  constexpr uint32_t kDivideByZero = 4, kInexact = 32;
  for (const uint32_t control : {0x1F80U, 0x9FC0U, 0x5F80U}) {
    set_word({"", control | kInexact, 0x37F});
    ASSERT_EQ(call(divide, {a.get(), b.get()}, to.get(), &error), GUF_OK);
    const FloatWord after = read_word();
    set_word(kDefaultWord);
    EXPECT_EQ(after.mxcsr & ~kMxcsrFlags, control);
    EXPECT_EQ(after.mxcsr & (kDivideByZero | kInexact), kDivideByZero | kInexact);
  }
}

// A host loop that copies its input and changes the control word of its thread, as a program's loop
// may do. The call must restore the control word of that thread and of the caller's thread.
void leave_flush_to_zero(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  static_cast<Seen *>(user)->enter();
  copy(args, dims, steps);
  set_word(kHostileWords[2]);
}

TEST(FloatControl, ALoopThatLeavesAnotherControl) {
  static Seen seen;
  const guf_ufunc leaving = make_unary("leaving", leave_flush_to_zero, &seen);
  guf_error error = fresh_error();
  const std::vector<float> in = small_numbers(kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(call(leaving, {from.get()}, to.get(), &error, {.threads = 3}), GUF_OK);
    EXPECT_TRUE(same_control(read_word(), kDefaultWord));
    set_word(kDefaultWord);
  }
  EXPECT_FALSE(seen.hostile);
  const std::vector<float> one = small_numbers(1);
  std::vector<float> result(1);
  const Vector single(one), single_out(result);
  ASSERT_EQ(call(leaving, {single.get()}, single_out.get(), &error), GUF_OK);
  EXPECT_TRUE(same_control(read_word(), kDefaultWord));
  set_word(kDefaultWord);
}

// A slow loop over one element runs on the stream's thread, without the pool.
TEST(FloatControl, ALoopThatLeavesAnotherControlOnAStream) {
  static Seen seen;
  seen.pause = std::chrono::milliseconds(1);
  const guf_ufunc leaving = make_unary("leaving_slowly", leave_flush_to_zero, &seen);
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK) << error.message;
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK) << error.message;
  const std::vector<float> in = small_numbers(1);
  std::vector<float> out(1);
  const Vector from(in), to(out);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(call(leaving, {from.get()}, to.get(), &error, {.stream = stream}), GUF_OK);
    EXPECT_TRUE(same_control(read_word(), kDefaultWord));
  }
  ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_OK) << error.message;
  EXPECT_EQ(seen.threads.count(std::this_thread::get_id()), 0U);
  EXPECT_FALSE(seen.hostile);
  guf_stream_release(stream, nullptr);
  guf_device_release(cpu, nullptr);
}

}  // namespace

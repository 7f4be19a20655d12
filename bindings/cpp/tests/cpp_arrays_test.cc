// SPDX-License-Identifier: Apache-2.0
// Tests gufunc.hpp: dtypes, arrays, operands, devices and streams.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <complex>
#include <functional>
#include <thread>

namespace {

using gufunc::Array;
using gufunc::DType;
using gufunc::Ints;
using Doubles = gufunc::TypedArray<double>;

std::vector<int64_t> list(const Ints &ints) {
  return {ints.begin(), ints.end()};
}
using List = std::vector<int64_t>;

Doubles counting(const Ints &shape) {
  const Doubles made = Doubles::alloc(shape);
  for (uint64_t i = 0; i < made.size(); ++i) made.data()[i] = static_cast<double>(i);
  return made;
}

TEST(CppArrays, DTypes) {
  EXPECT_EQ(DType::parse("f4"), DType(GUF_F32));
  EXPECT_STREQ(DType::of<std::complex<float>>().name(), "complex64");
  EXPECT_STREQ(DType(0xFFFFFFFFU).name(), "");
  EXPECT_EQ(gufunc::promote_types(GUF_I32, GUF_F32), DType(GUF_F64));
  EXPECT_TRUE(gufunc::can_cast(GUF_I32, GUF_F64));
  EXPECT_FALSE(gufunc::can_cast(GUF_F64, GUF_I32, GUF_CASTING_SAME_KIND));
  const DType time = DType::time(GUF_DATETIME64, GUF_UNIT_SECOND, 25);
  EXPECT_STREQ(time.name(), "datetime64[25s]");
  EXPECT_EQ(time.unit().multiple, 25U);
  EXPECT_EQ(DType::register_dtype("cpp_binding_pair", 16, 8).info().itemsize, 16U);
  try {
    DType::parse("f5");
    FAIL();
  } catch (const gufunc::Error &error) {
    EXPECT_EQ(error.status(), GUF_E_DTYPE);
    EXPECT_STREQ(error.name(), "GUF_E_DTYPE");
    EXPECT_NE(std::string(error.what()).find("f5"), std::string::npos);
  }
}

TEST(CppArrays, ViewsShareMemory) {
  const Doubles a = counting({2, 6});
  EXPECT_EQ(list(a.shape()), (List{2, 6}));
  EXPECT_TRUE(a.is_c_contiguous());
  const Array odd = a.slice({{}, {1, gufunc::Slice::kOmitted, 2}});
  EXPECT_EQ(list(odd.shape()), (List{2, 3}));
  EXPECT_EQ(list(odd.strides()), (List{48, 16}));
  EXPECT_EQ(odd.address(), a.address() + 8);
  EXPECT_EQ(list(a.reshape({3, -1}).shape()), (List{3, 4}));
  EXPECT_EQ(list(a.transpose().shape()), (List{6, 2}));
  EXPECT_EQ(list(a.transpose({1, 0}).strides()), (List{8, 48}));
  EXPECT_EQ(list(a.ravel().shape()), (List{12}));
  EXPECT_EQ(list(a.expand_dims({0}).squeeze().shape()), (List{2, 6}));
  EXPECT_TRUE(a.broadcast_to({5, 2, 6}).is_read_only());
  EXPECT_EQ(list(a.sliding_window_view({3}, {1}).shape()), (List{2, 4, 3}));
  odd.fill(-1);
  EXPECT_EQ(Doubles::from(a.slice({{0, 1}})).to_vector(),
            (std::vector<double>{0, -1, 2, -1, 4, -1}));
  EXPECT_THROW(gufunc::TypedArray<float>::from(a), gufunc::Error);
}

TEST(CppArrays, ContentsAreCopiedAndCast) {
  const Doubles a = counting({3});
  EXPECT_EQ(gufunc::TypedArray<int>::from(a.astype(GUF_I32)).to_vector(),
            (std::vector<int>{0, 1, 2}));
  EXPECT_THROW(a.astype(GUF_I32, GUF_CASTING_SAFE), gufunc::Error);
  const Array wide = Array::alloc(GUF_F32, {2, 3}, {}, GUF_ORDER_F);
  wide.assign(a);
  EXPECT_TRUE(wide.is_f_contiguous());
  float there[6];
  wide.copy_to_host(there, sizeof there);
  EXPECT_EQ(there[5], 2.0F);
  std::vector<float> values(6);
  wide.copy(GUF_ORDER_C).copy_to_host(values);
  EXPECT_EQ(values[4], 1.0F);
  EXPECT_EQ(a.str(), "[0. 1. 2.]\nshape (3,), float64, cpu");
  const Array gaps = Array::alloc_strided(GUF_F64, {2, 2}, {-64, 16});
  EXPECT_EQ(list(gaps.strides()), (List{-64, 16}));
}

TEST(CppArrays, WrappedMemoryIsReleasedOnce) {
  std::vector<double> mine{1, 2, 3};
  int released = 0;
  {
    const Array wrapped = Array::wrap(mine, [&] { ++released; });
    const Array view = wrapped.slice({{1}});
    EXPECT_EQ(view.address(), reinterpret_cast<uint64_t>(&mine[1]));
  }
  gufunc::poll();
  EXPECT_EQ(released, 1);
  const gufunc::Operand bad(DType(1), mine.data(), {3});
  EXPECT_THROW(Array::wrap(bad, [&] { ++released; }), gufunc::Error);
  EXPECT_EQ(released, 1);
}

TEST(CppArrays, HandlesAreCountedAndMayDieOnAnyThread) {
  Array first = counting({4});
  const Array second = first;
  EXPECT_TRUE(first == second);
  std::thread([moved = std::move(first)] { EXPECT_EQ(moved.size(), 4U); }).join();
  EXPECT_FALSE(first);
  EXPECT_EQ(second.size(), 4U);
  const guf_array raw = Array(second).release();
  EXPECT_EQ(guf_array_release(raw, nullptr), GUF_OK);
  const Array empty;
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_THROW(empty.info(), gufunc::Error);
}

TEST(CppArrays, OperandsHoldManyDimensions) {
  std::vector<int64_t> shape(20, 1), strides(20, 0);
  shape[19] = 3, strides[19] = -8;
  double values[3] = {1, 2, 3};
  const gufunc::Operand backwards(values + 2, shape, strides);
  gufunc::Operand copy;
  copy = backwards;
  const gufunc::Operand moved = copy;
  const Array sum = gufunc::Ufunc("add")({moved, 1});
  EXPECT_EQ(sum.ndim(), 20);
  EXPECT_EQ(Doubles::from(sum.ravel()).to_vector(), (std::vector<double>{4, 3, 2}));
  copy = gufunc::Operand(3);
  EXPECT_FALSE(copy.is_tensor());
  gufunc::Ints many(shape), other{1};
  other = many;
  EXPECT_EQ(other.size(), 20U);
  many = std::move(other);
  EXPECT_EQ(many[19], 3);
}

TEST(CppArrays, Devices) {
  const gufunc::Device cpu("cpu");
  EXPECT_STREQ(cpu.info().backend, "cpu");
  EXPECT_TRUE(cpu.synchronize());
  EXPECT_THROW(gufunc::Device("nowhere:0"), gufunc::Error);
  EXPECT_THROW(cpu.memory(), gufunc::Error);  // the cpu has no memory pool
  const uint32_t count = gufunc::backend_count();
  ASSERT_GE(count, 1U);
  EXPECT_NE(gufunc::backend_info(0).name[0], '\0');
  EXPECT_THROW(gufunc::backend_info(count), gufunc::Error);
  EXPECT_THROW(gufunc::load_backend("/nowhere/libgufunc_backend_x.so"), gufunc::Error);
  std::vector<double> mine(100);
  const auto kept = gufunc::HostRegistration::create(cpu, mine.data(), mine.size());
  (void)kept;
  const Array pinned = Array::alloc_host(cpu, GUF_HOST_PINNED, GUF_F64, {3});
  EXPECT_EQ(pinned.nbytes(), 24U);
  EXPECT_STREQ(gufunc::version(), guf_version_string());
  EXPECT_GE(gufunc::read_log().level, -1);
}

TEST(CppArrays, StreamsAndEvents) {
  const gufunc::Device cpu("cpu");
  const gufunc::Stream stream(cpu), other(cpu);
  const gufunc::Event event(cpu);
  const Array a = counting({1000}), out = Doubles::alloc({1000});
  gufunc::Ufunc("add")({a, 1}, {out}, gufunc::CallKeywords().on(stream));
  event.record(stream);
  other.wait_event(event);
  EXPECT_TRUE(event.wait());
  EXPECT_TRUE(event.query());
  EXPECT_TRUE(out.synchronize());
  EXPECT_TRUE(stream.synchronize());
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(stream.device().get(), cpu.get());
  EXPECT_EQ(Doubles::from(out).data()[999], 1000);
  EXPECT_THROW(stream.begin_capture(), gufunc::Error);  // the cpu has no graphs
  EXPECT_THROW(stream.native(), gufunc::Error);
  EXPECT_THROW(gufunc::Stream::adopt(cpu, 1), gufunc::Error);
  {
    const gufunc::AutoSynchronize waits(stream);
  }
}

// Graphs, memory statistics and native handles exist only on GPUs, so the test uses simulated GPUs,
// if available.
TEST(CppArrays, GraphsOfDevices) {
  gufunc::Device gpu;
  try {
    gpu = gufunc::Device("cuda:0");
  } catch (const gufunc::Error &error) {
    GTEST_SKIP() << error.what();
  }
  const gufunc::Stream stream(gpu);
  const gufunc::Ufunc add("add");
  const Array a = counting({5}).to_device(gpu), out = Doubles::alloc({5}, gpu);
  add({a, a}, {out});
  gpu.synchronize();
  stream.begin_capture();
  add({out, a}, {out}, gufunc::CallKeywords().on(stream));
  gufunc::Graph graph = stream.end_capture();
  for (int k = 0; k < 3; ++k) graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(Doubles::from(out).to_vector()[4], 20);
  stream.begin_capture();
  add({out, 1}, {out}, gufunc::CallKeywords().on(stream));
  graph = stream.end_capture(std::move(graph));
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(Doubles::from(out).to_vector()[4], 21);
  EXPECT_GE(gpu.memory().live_bytes, 80U);
  gpu.trim_memory();
  gpu.limit_memory(UINT64_MAX);
  EXPECT_NE(stream.native(), 0U);
  const gufunc::Event begin(gpu), end(gpu);
  begin.record(stream);
  graph.launch(stream);
  end.record(stream);
  end.wait();
  EXPECT_GE(end.elapsed_since(begin), 0.0);
  const Array copy = Array::alloc(GUF_F64, {5});
  out.to_device(gufunc::Device("cpu"), copy);
  EXPECT_EQ(Doubles::from(copy).data()[4], 22);
}

// Lists that are too short are rejected without a read beyond their end.
TEST(CppArrays, ListsThatDoNotFit) {
  const auto refused = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const gufunc::Error &error) {
      return error.status();
    }
    return guf_status{GUF_OK};
  };
  double values[8] = {};
  const std::vector<int64_t> shape(8, 1);
  EXPECT_EQ(refused([&] { Array::alloc_strided(GUF_F64, shape, {8}); }), GUF_E_ARG);
  EXPECT_EQ(refused([&] { counting({2, 3}).sliding_window_view({2}, {0, 1}); }), GUF_E_ARG);
  for (const Ints &strides : {Ints{}, Ints{8}, Ints(std::vector<int64_t>(9, 8))}) {
    gufunc::Operand operand(values, shape, strides);
    const gufunc::Operand copied = operand.read_only().swapped(false);
    EXPECT_EQ(refused([&] { gufunc::Ufunc("sqrt")({copied}); }), GUF_E_ARG);
    EXPECT_EQ(refused([&] { Array::wrap(operand); }), GUF_E_ARG);
  }
  EXPECT_EQ(refused([] { Array::wrap(gufunc::Operand(5)); }), GUF_E_ARG);
  EXPECT_EQ(refused([] { Array::wrap(counting({2}), [] {}); }), GUF_E_ARG);
  const std::vector<gufunc::Operand> many(GUF_MAX_OPERANDS + 8, gufunc::Operand(1));
  EXPECT_EQ(refused([&] { gufunc::Ufunc("add").call(many, gufunc::Operands{}); }), GUF_E_ARG);
  // The function has the maximum number of operands, and all of them are inout.
  std::string operands = "(n)";
  for (int k = 1; k < GUF_MAX_OPERANDS; ++k) operands += ",(n)";
  gufunc::UfuncOptions options;
  options.signature = operands;
  options.roles.assign(GUF_MAX_OPERANDS, GUF_ROLE_INOUT);
  const gufunc::Context context = gufunc::Context::create();
  const gufunc::Ufunc widest = gufunc::Ufunc::create("cpp_widest", 0, 0, options, context);
  widest.add_loop(std::vector<DType>(GUF_MAX_OPERANDS, GUF_F64), [](const gufunc::Loop &) {});
  const gufunc::Operand element(values, {1});
  std::vector<gufunc::Operand> all;
  std::vector<double> own(GUF_MAX_OPERANDS + 1);
  for (double &value : own) all.emplace_back(&value, Ints{1});
  EXPECT_EQ(refused([&] { widest.call(all, gufunc::Operands{}); }), GUF_E_ARG);
  all.pop_back();
  EXPECT_EQ(refused([&] { widest.call(all, gufunc::Operands{}); }), GUF_OK);
}

}  // namespace

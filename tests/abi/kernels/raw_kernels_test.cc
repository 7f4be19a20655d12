// SPDX-License-Identifier: Apache-2.0
// Tests raw kernels through the C API.
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include "kernel_fixture.h"

namespace {

using gufunc::operand_of;
using gufunc::scalar_of;
using gufunc::weak_int_of;
using testing::HasSubstr;

// Tests the descriptions of kernels, and each cause of each documented error.

TEST_F(KernelTest, AModuleListsItsKernels) {
  guf_module_info info = {};
  info.struct_size = sizeof info;
  expect(guf_module_get_info(module_, &info, &error_));
  EXPECT_EQ(info.nfunctions, 0u);
  ASSERT_GT(info.nkernels, 20u);
  char name[64];
  expect(guf_module_kernel_at(module_, 1, name, sizeof name, &error_));
  EXPECT_STREQ(name, "scale");
  expect(guf_module_kernel_at(module_, info.nkernels, name, sizeof name, &error_), GUF_E_INDEX);
  expect(guf_module_kernel_at(module_, 1, name, 5, &error_), GUF_E_BUFFER_TOO_SMALL);
  expect(guf_module_kernel_at(module_, 1, nullptr, 5, &error_), GUF_E_ARG);
  guf_kernel kernel = nullptr;
  expect(guf_kernel_find(module_, "scal", &kernel, &error_), GUF_E_NOT_FOUND);
  EXPECT_THAT(error_.message, HasSubstr("it has: nothing, scale, places"));
  EXPECT_EQ(kernel, nullptr);
}

TEST_F(KernelTest, AKernelReportsItsParametersAndLimits) {
  const guf_kernel raise = find("raise");
  guf_kernel_info info = {};
  info.struct_size = sizeof info;
  expect(guf_kernel_get_info(raise, &info, &error_));
  EXPECT_STREQ(info.name, "raw_kernels:raise");
  EXPECT_EQ(info.nparameters, 3u);
  EXPECT_EQ(info.max_threads, 64u);
  EXPECT_EQ(info.shared_bytes, 0u);
  EXPECT_EQ(info.flags, 0u);
  guf_module_parameter parameter = {};
  const guf_module_parameter expected[] = {
      {GUF_PARAMETER_POINTER, GUF_F32, 0, GUF_PARAMETER_READ_ONLY},
      {GUF_PARAMETER_POINTER, GUF_F32, 0, 0},
      {GUF_PARAMETER_NUMBER, GUF_I64, 0, 0}};
  for (uint32_t i = 0; i < 3; ++i) {
    expect(guf_kernel_get_parameter(raise, i, &parameter, &error_));
    EXPECT_EQ(parameter.kind, expected[i].kind) << i;
    EXPECT_EQ(parameter.dtype, expected[i].dtype) << i;
    EXPECT_EQ(parameter.flags, expected[i].flags) << i;
  }
  expect(guf_kernel_get_parameter(raise, 3, &parameter, &error_), GUF_E_INDEX);
  expect(guf_kernel_get_parameter(find("transpose_e"), 0, &parameter, &error_));
  EXPECT_EQ(parameter.kind, GUF_PARAMETER_VIEW);
  EXPECT_EQ(parameter.dtype, static_cast<guf_dtype>(GUF_F16));
  EXPECT_EQ(parameter.ndim, 2);
  EXPECT_EQ(parameter.flags, static_cast<uint32_t>(GUF_PARAMETER_READ_ONLY));
  expect(guf_kernel_get_info(find("pieces"), &info, &error_));
  EXPECT_EQ(info.shared_bytes, 128u);
  guf_kernel_device_info there = {};
  there.struct_size = sizeof there;
  expect(guf_kernel_get_device_info(raise, device_, &there, &error_));
  EXPECT_EQ(there.max_threads, 64u);
  EXPECT_GE(there.max_shared_bytes, 48u * 1024);
}

// The sub-group size is the warp size of a CUDA device, the wave size of an AMD device, and 32 on
// the cpu. Programs divide a block into sub-groups of this size.
TEST_F(KernelTest, SubgroupSizeIsThatOfTheDevice) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  expect(guf_device_get_info(device_, &info, &error_));
  guf_kernel_device_info there = {};
  there.struct_size = sizeof there;
  expect(guf_kernel_get_device_info(find("raise"), device_, &there, &error_));
  const std::string target = info.target;
  EXPECT_EQ(there.subgroup_size, target.starts_with("gfx9") ? 64U : 32U) << target;
  if (!on_cpu()) {
    EXPECT_THAT(target,
                testing::AnyOf(HasSubstr("sm_"), HasSubstr("gfx942"), HasSubstr("gfx1100")));
  }
}

TEST_F(KernelTest, LimitsAreThoseOfBothVendors) {
  const guf_kernel scale = find("scale"), raise = find("raise");
  const guf_array x = put(std::vector<float>{1, 2, 3});
  const std::vector<guf_operand> arguments = {weak_int_of(2), operand_of(x)};
  struct Row {
    Size grid, block;
    const char *text;
  };
  for (const Row &row : std::vector<Row>{
           {{1, 1, 1}, {0, 1, 1}, "block.x: expected 1 to 1024, got 0"},
           {{1, 1, 1}, {1025, 1, 1}, "block.x: expected 1 to 1024, got 1025"},
           {{1, 1, 1}, {1, 1025, 1}, "block.y: expected 1 to 1024, got 1025"},
           {{1, 1, 1}, {1, 1, 65}, "block.z: expected 1 to 64, got 65"},
           {{1, 1, 1}, {32, 8, 8}, "expected 1 to 1024 threads in a block, got 2048"},
           {{0x80000000u, 1, 1}, {1, 1, 1}, "grid.x: expected 0 to 2147483647, got 2147483648"},
           {{1, 65536, 1}, {1, 1, 1}, "grid.y: expected 0 to 65535, got 65536"},
           {{1, 1, 65536}, {1, 1, 1}, "grid.z: expected 0 to 65535, got 65536"},
           {{16777216, 1, 1},
            {256, 1, 1},
            "grid * block.x: expected 0 to 4294967295, got 4294967296"}}) {
    expect(launch(scale, row.grid, row.block, arguments), GUF_E_ARG);
    EXPECT_THAT(error_.message, HasSubstr(row.text));
  }
  expect(launch(raise, {1, 1, 1}, {65, 1, 1}, {operand_of(x), operand_of(x), weak_int_of(3)}),
         GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("expected 1 to 64 threads in a block, got 65"));
  expect(launch(scale, {1, 1, 1}, {1, 1, 1}, arguments, 1u << 20), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("got 1048576"));
  EXPECT_THAT(error_.message, HasSubstr("kernel 'raw_kernels:scale': shared memory of a block"));
  expect(launch(find("pieces"), {1, 1, 1}, {1, 1, 1},
                {operand_of(put(std::vector<int32_t>(4))), weak_int_of(1)}, UINT32_MAX),
         GUF_E_ARG);
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3));
}

TEST_F(KernelTest, ArgumentsAreComparedWithParameters) {
  const guf_kernel scale = find("scale"), raise = find("raise"), transpose = find("transpose_f");
  const guf_array x = put(std::vector<float>{1, 2, 3, 4, 5, 6});
  const guf_array d = put(std::vector<double>{1, 2, 3});
  guf_array pairs = nullptr, odd = nullptr, fixed = nullptr;
  const int64_t shape[] = {2, 3}, none[] = {INT64_MIN}, two[] = {2}, one[] = {1}, wide[] = {5, 6};
  expect(guf_array_reshape(x, 2, shape, GUF_ORDER_C, &pairs, &error_));
  expect(guf_array_slice(x, 1, none, none, two, &odd, &error_));
  expect(guf_array_slice(x, 1, none, one, one, &fixed, &error_));
  guf_array stretched = nullptr;
  expect(guf_array_broadcast_to(keep(fixed), 2, wide, &stretched, &error_));
  for (const guf_array made : {pairs, odd, stretched}) keep(made);
  float alone[3] = {1, 2, 3};
  const void *const crooked = reinterpret_cast<const char *>(alone) + 1;
  gufunc::Operands operands;
  const guf_operand host = *operands.tensor({GUF_F32, alone, {3}, {}, 0});
  const guf_operand loose = *operands.tensor({GUF_F32, crooked, {3}, {}, 0, device_});
  const guf_operand swapped =
      *operands.tensor({GUF_F32, alone, {3}, {}, GUF_TENSOR_SWAPPED, device_});
  const guf_operand real = gufunc::weak_float_of(0);
  const guf_operand nobody = {};
  struct Row {
    guf_kernel kernel;
    std::vector<guf_operand> arguments;
    guf_status status;
    const char *text;
  };
  std::vector<Row> rows = {
      {scale, {weak_int_of(2)}, GUF_E_ARG, "nargs: expected 2, got 1"},
      {scale,
       {weak_int_of(2), operand_of(x), operand_of(x)},
       GUF_E_ARG,
       "nargs: expected 2, got 3"},
      {scale,
       {operand_of(x), operand_of(x)},
       GUF_E_ARG,
       "argument 0: expected a scalar, got an array"},
      {scale,
       {weak_int_of(2), weak_int_of(2)},
       GUF_E_ARG,
       "argument 1: expected an array, got a scalar"},
      {scale, {weak_int_of(2), nobody}, GUF_E_ARG, "argument 1: kind 0"},
      {scale,
       {scalar_of(GUF_F64, 0), operand_of(x)},
       GUF_E_DTYPE,
       "argument 0: expected float32, got float64"},
      {scale,
       {weak_int_of(2), operand_of(d)},
       GUF_E_DTYPE,
       "argument 1: expected float32, got float64"},
      {scale,
       {weak_int_of(2), operand_of(pairs)},
       GUF_E_SHAPE,
       "argument 1: expected 1 dimensions, got 2"},
      {transpose,
       {operand_of(stretched), operand_of(stretched)},
       GUF_E_READ_ONLY,
       "argument 1: expected a writable array, got a read-only one"},
      {raise,
       {operand_of(odd), operand_of(x), weak_int_of(3)},
       GUF_E_ARG,
       "argument 0: expected a C-contiguous array"},
      {raise,
       {operand_of(x), operand_of(x), real},
       GUF_E_DTYPE,
       "argument 2: expected int64, got a float"},
      {scale, {weak_int_of(2), loose}, GUF_E_ARG, "argument 1: expected aligned elements"},
      {scale,
       {weak_int_of(2), swapped},
       GUF_E_ARG,
       "argument 1: expected native byte order, got swapped elements"},
  };
  if (!on_cpu()) {
    rows.push_back(
        {scale, {weak_int_of(2), host}, GUF_E_DEVICE_MISMATCH, "got memory of the host"});
  }
  for (const Row &row : rows) {
    expect(launch(row.kernel, {1, 1, 1}, {32, 1, 1}, row.arguments), row.status);
    EXPECT_THAT(error_.message, HasSubstr(row.text));
  }
  EXPECT_EQ(error_.argument, 1);
  const guf_array out = put(std::vector<double>(19, 0));
  std::vector<guf_operand> many = {operand_of(out), scalar_of(GUF_BOOL, 1), weak_int_of(200)};
  many.resize(18, weak_int_of(0));
  expect(launch(find("numbers"), {1, 1, 1}, {1, 1, 1}, many), GUF_E_OVERFLOW);
  EXPECT_EQ(error_.argument, 2);
  many[1] = weak_int_of(1);
  expect(launch(find("numbers"), {1, 1, 1}, {1, 1, 1}, many), GUF_E_DTYPE);
  EXPECT_THAT(error_.message, HasSubstr("argument 1: expected bool, got an int"));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  if (on_cpu()) run(scale, {1, 1, 1}, {32, 1, 1}, {weak_int_of(2), host});
  EXPECT_EQ(alone[2], on_cpu() ? 6.0f : 3.0f);
}

TEST_F(KernelTest, HandlesAreChecked) {
  const guf_kernel nothing = find("nothing");
  const uint32_t one[] = {1, 1, 1};
  expect(guf_kernel_launch(nullptr, stream_, one, one, 0, 0, nullptr, &error_), GUF_E_HANDLE);
  expect(guf_kernel_launch(nothing, stream_, nullptr, one, 0, 0, nullptr, &error_), GUF_E_ARG);
  expect(guf_kernel_launch(nothing, stream_, one, nullptr, 0, 0, nullptr, &error_), GUF_E_ARG);
  expect(guf_kernel_launch(nothing, stream_, one, one, 0, 1, nullptr, &error_), GUF_E_ARG);
  expect(guf_kernel_launch(nothing, stream_, one, one, 0, -1, nullptr, &error_), GUF_E_ARG);
  expect(guf_kernel_launch(nothing, stream_, one, one, 0, 33, nullptr, &error_), GUF_E_ARG);
  guf_kernel kernel = nothing;
  expect(guf_kernel_retain(kernel, &error_));
  expect(guf_kernel_release(kernel, &error_));
  expect(guf_kernel_release(nullptr, &error_));
  expect(guf_kernel_retain(reinterpret_cast<guf_kernel>(module_), &error_), GUF_E_HANDLE);
  expect(guf_kernel_find(reinterpret_cast<guf_module>(kernel), "scale", &kernel, &error_),
         GUF_E_HANDLE);
}

// A module that is opened as data has kernels for devices, but no kernels for the cpu.
TEST_F(KernelTest, AModuleOpenedAsDataHasDevicesAlone) {
  guf_context context = nullptr;
  guf_module data = nullptr;
  guf_kernel kernel = nullptr;
  expect(guf_context_create(0, &context, &error_));
  expect(guf_module_load(context, module_path(), GUF_MODULE_DATA_ONLY, &data, &error_));
  expect(guf_kernel_find(data, "scale", &kernel, &error_));
  const guf_array x = put(std::vector<float>{1, 2, 3});
  expect(launch(kernel, {1, 1, 1}, {32, 1, 1}, {weak_int_of(2), operand_of(x)}),
         on_cpu() ? GUF_E_NO_IMAGE : GUF_OK);
  if (!on_cpu()) {
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
    EXPECT_THAT(get<float>(x), testing::ElementsAre(2, 4, 6));
  }
  guf_kernel_release(kernel, nullptr);
  guf_module_release(data, nullptr);
  guf_context_release(context, nullptr);
}

// The code of a module is unloaded only after its last kernel is released.
TEST_F(KernelTest, KernelsKeepTheirModule) {
  guf_kernel kernel = nullptr;
  expect(guf_kernel_find(module_, "scale", &kernel, &error_));
  guf_module_release(module_, nullptr);
  guf_poll(0, nullptr, nullptr);
  const guf_array x = put(std::vector<float>{1, 2, 3});
  run(kernel, {1, 1, 1}, {32, 1, 1}, {weak_int_of(2), operand_of(x)});
  EXPECT_THAT(get<float>(x), testing::ElementsAre(2, 4, 6));
  // Queued work keeps the kernel and its module alive.
  constexpr uint32_t kMany = 200000;
  const guf_array many = put(std::vector<float>(kMany, 1));
  for (int i = 0; i < 20; ++i) {
    expect(
        launch(kernel, {(kMany + 31) / 32, 1, 1}, {32, 1, 1}, {weak_int_of(2), operand_of(many)}));
  }
  guf_kernel_release(kernel, nullptr);
  guf_poll(0, nullptr, nullptr);
  expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  EXPECT_EQ(get<float>(many), std::vector<float>(kMany, 0x1p20f));
  module_ = load(module_path());
}

// Tests what a launch passes to a kernel: indices, arguments and arrays.

TEST_F(KernelTest, EachThreadHasItsIndex) {
  const guf_kernel places = find("places");
  for (const auto &[grid, block] : std::vector<std::pair<Size, Size>>{{{1, 1, 1}, {1, 1, 1}},
                                                                      {{5, 1, 1}, {33, 1, 1}},
                                                                      {{2, 3, 4}, {5, 3, 2}},
                                                                      {{1, 7, 1}, {64, 1, 4}},
                                                                      {{9, 1, 3}, {1, 1024, 1}}}) {
    const uint64_t threads = uint64_t{grid[0]} * grid[1] * grid[2] * block[0] * block[1] * block[2];
    const guf_array out = put(std::vector<int64_t>(8 * threads, -1));
    run(places, grid, block, {operand_of(out)});
    const std::vector<int64_t> found = get<int64_t>(out);
    uint64_t wrong = 0;
    for (uint64_t at = 0; at < threads; ++at) {
      const uint64_t size[] = {uint64_t{grid[0]} * block[0], uint64_t{grid[1]} * block[1]};
      const uint64_t id[] = {at % size[0], at / size[0] % size[1], at / size[0] / size[1]};
      const int64_t *const row = &found[8 * at];
      uint64_t rank = 0;
      for (int d = 2; d >= 0; --d) {
        rank = rank * block[static_cast<size_t>(d)] + id[d] % block[static_cast<size_t>(d)];
        const auto n = block[static_cast<size_t>(d)];
        if (row[d] != static_cast<int64_t>(id[d] % n + 100 * (id[d] / n))) ++wrong;
      }
      if (row[3] != static_cast<int64_t>(rank) ||
          row[4] != int64_t{block[0]} * block[1] * block[2] ||
          row[5] != grid[0] + 1000 * int64_t{grid[1]} + 1000000 * int64_t{grid[2]} ||
          row[6] != block[0] + 1000 * int64_t{block[1]} + 1000000 * int64_t{block[2]} ||
          row[7] != static_cast<int64_t>(threads)) {
        ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0u) << grid[0] << " x " << block[0];
  }
}

TEST_F(KernelTest, NumbersOfEveryTypeArrive) {
  const guf_array out = put(std::vector<double>(19, 0));
  const auto bits = [](auto value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
  };
  run(find("numbers"), {1, 1, 1}, {1, 1, 1},
      {operand_of(out), scalar_of(GUF_BOOL, 1), scalar_of(GUF_I8, bits(int8_t{-8})),
       weak_int_of(200), scalar_of(GUF_I16, bits(int16_t{-1600})), scalar_of(GUF_U16, 65000),
       scalar_of(GUF_I32, bits(int32_t{-320000})), weak_int_of(4000000000),
       weak_int_of(-(int64_t{1} << 40)), scalar_of(GUF_U64, uint64_t{1} << 62),
       scalar_of(GUF_F16, 0x3e00), scalar_of(GUF_BF16, 0xc000), weak_int_of(3),
       scalar_of(GUF_F64, bits(0.125)), scalar_of(GUF_C64, bits(2.0f) | bits(-4.0f) << 32),
       scalar_of(GUF_C128, bits(8.0), bits(-16.0)), scalar_of(GUF_DATETIME64, 77),
       scalar_of(GUF_TIMEDELTA64, bits(int64_t{-5}))});
  EXPECT_THAT(get<double>(out),
              testing::ElementsAre(1, -8, 200, -1600, 65000, -320000, 4000000000.0, -0x1p40, 0x1p62,
                                   1.5, -2, 3, 0.125, 2, -4, 8, -16, 77, -5));
}

// Transposes array slices with elements of every size. Elements outside the slices must not change.
TEST_F(KernelTest, ViewsHaveAnyStrides) {
  struct Row {
    const char *kernel;
    guf_dtype dtype;
    uint64_t bytes;
  };
  for (const Row &row : std::vector<Row>{{"transpose_bool", GUF_BOOL, 1},
                                         {"transpose_e", GUF_F16, 2},
                                         {"transpose_f", GUF_F32, 4},
                                         {"transpose_M", GUF_DATETIME64, 8},
                                         {"transpose_D", GUF_C128, 16}}) {
    std::vector<char> data(24 * row.bytes);
    // With these byte values, every element is a valid bool or a finite number.
    for (size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<char>(row.bytes == 1 ? i % 2 : (i * 7 + 1) % 50);
    }
    const guf_array from = put(data, {4, 6}, row.dtype);
    std::vector<char> expected(24 * row.bytes, 0);
    const guf_array to = put(expected, {3, 8}, row.dtype);
    // The views are from[::-1, ::2] and to[:, 1::2].
    const int64_t none = INT64_MIN, zero[] = {none, none}, one[] = {none, 1};
    const int64_t reversed[] = {-1, 2}, odd[] = {1, 2};
    guf_array a = nullptr, b = nullptr;
    expect(guf_array_slice(from, 2, zero, zero, reversed, &a, &error_));
    expect(guf_array_slice(to, 2, one, zero, odd, &b, &error_));
    run(find(row.kernel), {2, 2, 1}, {4, 4, 1}, {operand_of(keep(a)), operand_of(keep(b))});
    for (uint64_t i = 0; i < 4; ++i) {
      for (uint64_t j = 0; j < 3; ++j) {
        std::memcpy(&expected[(8 * j + 1 + 2 * i) * row.bytes],
                    &data[(6 * (3 - i) + 2 * j) * row.bytes], row.bytes);
      }
    }
    EXPECT_EQ(get<char>(to), expected) << row.kernel;
  }
}

TEST_F(KernelTest, ManyBlocksAndAnEdge) {
  const guf_kernel scale = find("scale");
  for (const uint32_t n : {1u, 255u, 256u, 257u, 20000u, 100001u}) {
    std::vector<float> x(n);
    for (uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    const guf_array there = put(x);
    run(scale, {(n + 255) / 256, 1, 1}, {256, 1, 1}, {weak_int_of(2), operand_of(there)});
    for (float &value : x) value *= 2;
    EXPECT_EQ(get<float>(there), x) << n;
  }
}

// Launches on one stream run in order. If the program releases an array before a launch that uses
// the array has run, the launch keeps the array alive.
TEST_F(KernelTest, LaunchesKeepOrderAndTheirArrays) {
  const guf_kernel raise = find("raise");
  guf_array first = nullptr, second = nullptr;
  const std::vector<float> zeros(1000, 0);
  const int64_t shape[] = {1000};
  expect(guf_array_alloc(device_, GUF_F32, 1, shape, nullptr, GUF_ORDER_C, &first, &error_));
  expect(guf_array_alloc(device_, GUF_F32, 1, shape, nullptr, GUF_ORDER_C, &second, &error_));
  const guf_array out = put(zeros), start = put(zeros);
  expect(launch(raise, {16, 1, 1}, {64, 1, 1},
                {operand_of(start), operand_of(first), weak_int_of(1000)}));
  expect(launch(raise, {16, 1, 1}, {64, 1, 1},
                {operand_of(first), operand_of(second), weak_int_of(1000)}));
  expect(launch(raise, {16, 1, 1}, {64, 1, 1},
                {operand_of(second), operand_of(out), weak_int_of(1000)}));
  guf_array_release(first, nullptr);
  guf_array_release(second, nullptr);
  expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  EXPECT_EQ(get<float>(out), std::vector<float>(1000, 3));
}

TEST_F(KernelTest, WithoutAStream) {
  const guf_array x = put(std::vector<float>{1, 2, 3});
  const guf_operand arguments[] = {weak_int_of(3), operand_of(x)};
  const uint32_t one[] = {1, 1, 1}, threads[] = {32, 1, 1};
  expect(guf_kernel_launch(find("scale"), nullptr, one, threads, 0, 2, arguments, &error_));
  expect(guf_device_synchronize(device_, UINT64_MAX, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(3, 6, 9));
}

TEST_F(KernelTest, EmptyGridsAndArraysRunNothing) {
  const guf_array x = put(std::vector<float>{1, 2, 3});
  run(find("scale"), {0, 1, 1}, {32, 1, 1}, {weak_int_of(3), operand_of(x)});
  run(find("scale"), {4, 1, 0}, {32, 1, 1}, {weak_int_of(3), operand_of(x)});
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3));
  const guf_array none = put(std::vector<float>{}, {0});
  run(find("scale"), {1, 1, 1}, {32, 1, 1}, {weak_int_of(3), operand_of(none)});
  run(find("raise"), {1, 1, 1}, {32, 1, 1}, {operand_of(none), operand_of(none), weak_int_of(0)});
  run(find("nothing"), {3, 1, 1}, {32, 1, 1}, {});
}

// The launch is captured once, and the graph is launched twice.
TEST_F(KernelTest, IsCapturedInGraphs) {
  const guf_kernel scale = find("scale");
  const guf_array x = put(std::vector<float>{1, 2, 3});
  if (on_cpu()) {
    expect(guf_stream_begin_capture(stream_, &error_), GUF_E_UNSUPPORTED);
    return;
  }
  guf_kernel_device_info info = {};
  info.struct_size = sizeof info;
  expect(guf_kernel_get_device_info(scale, device_, &info, &error_));
  guf_graph graph = nullptr;
  expect(guf_stream_begin_capture(stream_, &error_));
  expect(launch(scale, {1, 1, 1}, {32, 1, 1}, {weak_int_of(2), operand_of(x)}));
  expect(launch(scale, {1, 1, 1}, {32, 1, 1}, {weak_int_of(5), operand_of(x)}));
  expect(guf_stream_end_capture(stream_, &graph, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3));
  expect(guf_graph_launch(graph, stream_, &error_));
  expect(guf_graph_launch(graph, stream_, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(100, 200, 300));
  guf_graph_release(graph, nullptr);
}

// Tests the cooperation of the threads of a block: barriers, shared memory, sub-groups, atomics and
// random numbers.

TEST_F(KernelTest, BarriersOrderSharedMemory) {
  const guf_kernel sums = find("sums");
  std::vector<double> in(5000);
  std::iota(in.begin(), in.end(), 1.0);
  const guf_array there = put(in);
  for (const uint32_t threads : {2u, 32u, 64u, 256u, 1024u}) {
    const uint32_t blocks = (5000 + threads - 1) / threads;
    const guf_array out = put(std::vector<double>(blocks, -1));
    run(sums, {blocks, 1, 1}, {threads, 1, 1},
        {operand_of(there), operand_of(out), weak_int_of(5000)}, threads * 8);
    std::vector<double> expected(blocks, 0);
    for (uint32_t i = 0; i < 5000; ++i) expected[i / threads] += in[i];
    EXPECT_EQ(get<double>(out), expected) << threads;
  }
}

TEST_F(KernelTest, SharedMemoryIsTheSumOfSourceAndLaunch) {
  const guf_kernel pieces = find("pieces");
  const guf_array out = put(std::vector<int32_t>(4, -1));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {operand_of(out), weak_int_of(100)}, 100);
  EXPECT_THAT(get<int32_t>(out), testing::ElementsAre(1, 1, 5, 8));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {operand_of(out), weak_int_of(101)}, 100);
  EXPECT_THAT(get<int32_t>(out), testing::ElementsAre(1, 0, 5, 8));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {operand_of(out), weak_int_of(1)});
  EXPECT_THAT(get<int32_t>(out), testing::ElementsAre(1, 0, 5, 8));
}

template <class T>
void check_shuffles(const std::vector<T> &out, uint32_t blocks, uint32_t threads) {
  uint64_t wrong = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    for (uint32_t me = 0; me < threads; ++me) {
      const T *const row = &out[5 * (b * threads + me)];
      const uint32_t base = me / 32 * 32, lane = me % 32;
      const uint32_t expected[] = {base + 3, lane >= 2 ? me - 2 : me, lane + 5 < 32 ? me + 5 : me,
                                   base + (lane ^ 17), lane + 32000};
      for (int k = 0; k < 5; ++k) {
        if (row[k] != T(static_cast<uint16_t>(expected[k]))) ++wrong;
      }
    }
  }
  EXPECT_EQ(wrong, 0u) << threads;
}

TEST_F(KernelTest, ShufflesPassNumbersAlong) {
  for (const uint32_t threads : {32u, 64u, 96u, 256u}) {
    const uint32_t blocks = 3, count = 5 * blocks * threads;
    const guf_array d = put(std::vector<double>(count, -1));
    const guf_array h = put(std::vector<uint16_t>(count, 9));
    const guf_array c = put(std::vector<std::complex<double>>(count, -1), {}, GUF_C128);
    // A sub-group consists of consecutive threads, which are numbered across all dimensions of the
    // block.
    const Size block = threads == 64 ? Size{8, 4, 2} : Size{threads, 1, 1};
    run(find("shuffles_d"), {blocks, 1, 1}, block, {operand_of(d)});
    run(find("shuffles_H"), {blocks, 1, 1}, block, {operand_of(h)});
    run(find("shuffles_D"), {blocks, 1, 1}, block, {operand_of(c)});
    check_shuffles(get<double>(d), blocks, threads);
    check_shuffles(get<uint16_t>(h), blocks, threads);
    check_shuffles(get<std::complex<double>>(c), blocks, threads);
  }
}

template <class T>
std::vector<T> wanted_atomics(uint32_t blocks, uint32_t threads) {
  std::vector<T> out(12, T(0));
  out[2] = T(2000000), out[5] = T(0x7fff);
  for (uint32_t me = 0; me < blocks * threads; ++me) {
    out[0] = T(out[0] + 3);
    out[1] = T(out[1] - 2);
    out[2] = std::min(out[2], T(1000000 - me));
    out[3] = std::max(out[3], T(me));
    out[4] = T(out[4] | T(1) << me % 30);
    out[5] = T(out[5] & ~(T(1) << me % 15));
    out[6] = T(out[6] ^ T(me + 1));
    out[7] = T(out[7] + 1);
  }
  out[8] = T(5);
  out[9] = T(blocks * threads);
  out[10] = T(blocks * (threads - 1));
  return out;
}

TEST_F(KernelTest, AtomicsLoseNothing) {
  const auto check = [&](auto zero, const char *name, uint32_t blocks, uint32_t threads) {
    using T = decltype(zero);
    std::vector<T> start(12, T(0));
    start[2] = T(2000000), start[5] = T(0x7fff);
    const guf_array out = put(start);
    run(find(name), {blocks, 1, 1}, {threads, 1, 1}, {operand_of(out)});
    EXPECT_EQ(get<T>(out), wanted_atomics<T>(blocks, threads)) << name;
  };
  for (const uint32_t blocks : {1u, 150u}) {
    check(int32_t{}, "atomics_i", blocks, 128);
    check(uint32_t{}, "atomics_I", blocks, 128);
    check(int64_t{}, "atomics_q", blocks, 96);
    check(uint64_t{}, "atomics_Q", blocks, 96);
  }
  const guf_array f = put(std::vector<float>(2, 0)), d = put(std::vector<double>(2, 0));
  run(find("float_sums_f"), {40, 1, 1}, {256, 1, 1}, {operand_of(f)});
  run(find("float_sums_d"), {40, 1, 1}, {256, 1, 1}, {operand_of(d)});
  EXPECT_THAT(get<float>(f), testing::ElementsAre(5120, -15360));
  EXPECT_THAT(get<double>(d), testing::ElementsAre(5120, -15360));
}

// If some threads of a block do not reach a barrier, the behaviour of a real device is undefined.
// The cpu and the simulated devices report an error.
TEST_F(KernelTest, AMissedBarrierIsAnErrorAndNoHang) {
  const guf_array out = put(std::vector<int32_t>(64, 0));
  for (const char *name : {"stray", "stray_lanes"}) {
    const guf_kernel kernel = find(name);
    if (!on_cpu()) continue;  // the failure would make the device unusable
    const guf_operand arguments[] = {operand_of(out)};
    const uint32_t grid[] = {3, 1, 1}, block[] = {64, 1, 1};
    expect(guf_kernel_launch(kernel, nullptr, grid, block, 0, 1, arguments, &error_), GUF_E_LAUNCH);
    EXPECT_THAT(error_.message, testing::HasSubstr(std::string("kernel '") + name + "': in block"));
    EXPECT_THAT(error_.message, testing::HasSubstr(" work-items have returned, "));
    expect(launch(kernel, {3, 1, 1}, {64, 1, 1}, {operand_of(out)}));
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_), GUF_E_LAUNCH);
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  }
  // The next launch must work.
  const guf_array sum = put(std::vector<double>(1, 0)), in = put(std::vector<double>(32, 2));
  run(find("sums"), {1, 1, 1}, {32, 1, 1}, {operand_of(in), operand_of(sum), weak_int_of(32)}, 256);
  EXPECT_THAT(get<double>(sum), testing::ElementsAre(64));
}

// Implements Philox4x32-10 from its published definition, independently of the library.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

TEST_F(KernelTest, RandomNumbersAreTheCounters) {
  constexpr uint32_t kThreads = 512;
  const uint64_t seed = 0x299f31d0a4093822u;
  const guf_array words = put(std::vector<uint32_t>(4 * kThreads, 0));
  const guf_array f = put(std::vector<float>(2 * kThreads, 0));
  const guf_array d = put(std::vector<double>(2 * kThreads, 0));
  run(find("randoms"), {4, 1, 1}, {128, 1, 1},
      {scalar_of(GUF_U64, seed), operand_of(words), operand_of(f), operand_of(d)});
  const std::vector<uint32_t> found = get<uint32_t>(words);
  const std::vector<float> floats = get<float>(f);
  const std::vector<double> doubles = get<double>(d);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const auto at = [&](uint32_t position) {
      return philox({position, 0, i, 0}, {0xa4093822u, 0x299f31d0u});
    };
    const auto uniform = [](uint32_t high, uint32_t low) {
      return ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0;
    };
    for (uint32_t k = 0; k < 4; ++k) EXPECT_EQ(found[4 * i + k], at(0)[k]) << i;
    EXPECT_EQ(floats[2 * i], static_cast<float>(at(1)[0] >> 8) / 16777216.0f);
    EXPECT_EQ(doubles[2 * i], uniform(at(2)[0], at(2)[1]));
    const long double u = uniform(at(4)[0], at(4)[1]), v = uniform(at(4)[2], at(4)[3]);
    const auto normal = static_cast<double>(std::sqrt(-2 * std::log1p(-u)) *
                                            std::cos(2 * 3.14159265358979323846264338L * v));
    EXPECT_NEAR(doubles[2 * i + 1], normal, 1e-15 * (1 + std::abs(normal)));
  }
}

}  // namespace

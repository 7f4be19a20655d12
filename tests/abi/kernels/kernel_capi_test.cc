// SPDX-License-Identifier: Apache-2.0
// Tests raw kernels through the C API: the descriptions of kernels, and each cause of each
// documented error.
#include "kernel_fixture.h"

namespace {

using testing::HasSubstr;

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
  const std::vector<guf_operand> arguments = {weak(2), array(x)};
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
  expect(launch(raise, {1, 1, 1}, {65, 1, 1}, {array(x), array(x), weak(3)}), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("expected 1 to 64 threads in a block, got 65"));
  expect(launch(scale, {1, 1, 1}, {1, 1, 1}, arguments, 1u << 20), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("got 1048576"));
  EXPECT_THAT(error_.message, HasSubstr("kernel 'raw_kernels:scale': shared memory of a block"));
  expect(launch(find("pieces"), {1, 1, 1}, {1, 1, 1},
                {array(put(std::vector<int32_t>(4))), weak(1)}, UINT32_MAX),
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
  const int64_t three[] = {3};
  guf_tensor tensor = {sizeof tensor, GUF_F32, 1,      0, reinterpret_cast<uint64_t>(alone),
                       three,         nullptr, nullptr};
  guf_tensor crooked = tensor, swapped = tensor;
  crooked.address += 1;
  crooked.device = swapped.device = device_;
  swapped.flags = GUF_TENSOR_SWAPPED;
  guf_operand host = {}, loose = {}, transposed = {}, real = {};
  host.kind = loose.kind = transposed.kind = GUF_OPERAND_TENSOR;
  host.tensor = &tensor, loose.tensor = &crooked, transposed.tensor = &swapped;
  real.kind = GUF_OPERAND_WEAK_FLOAT;
  const guf_operand nobody = {};
  struct Row {
    guf_kernel kernel;
    std::vector<guf_operand> arguments;
    guf_status status;
    const char *text;
  };
  std::vector<Row> rows = {
      {scale, {weak(2)}, GUF_E_ARG, "nargs: expected 2, got 1"},
      {scale, {weak(2), array(x), array(x)}, GUF_E_ARG, "nargs: expected 2, got 3"},
      {scale, {array(x), array(x)}, GUF_E_ARG, "argument 0: expected a scalar, got an array"},
      {scale, {weak(2), weak(2)}, GUF_E_ARG, "argument 1: expected an array, got a scalar"},
      {scale, {weak(2), nobody}, GUF_E_ARG, "argument 1: kind 0"},
      {scale,
       {scalar(GUF_F64, 0), array(x)},
       GUF_E_DTYPE,
       "argument 0: expected float32, got float64"},
      {scale, {weak(2), array(d)}, GUF_E_DTYPE, "argument 1: expected float32, got float64"},
      {scale, {weak(2), array(pairs)}, GUF_E_SHAPE, "argument 1: expected 1 dimensions, got 2"},
      {transpose,
       {array(stretched), array(stretched)},
       GUF_E_READ_ONLY,
       "argument 1: expected a writable array, got a read-only one"},
      {raise,
       {array(odd), array(x), weak(3)},
       GUF_E_ARG,
       "argument 0: expected a C-contiguous array"},
      {raise, {array(x), array(x), real}, GUF_E_DTYPE, "argument 2: expected int64, got a float"},
      {scale, {weak(2), loose}, GUF_E_ARG, "argument 1: expected aligned elements"},
      {scale,
       {weak(2), transposed},
       GUF_E_ARG,
       "argument 1: expected native byte order, got swapped elements"},
  };
  if (!on_cpu()) {
    rows.push_back({scale, {weak(2), host}, GUF_E_DEVICE_MISMATCH, "got memory of the host"});
  }
  for (const Row &row : rows) {
    expect(launch(row.kernel, {1, 1, 1}, {32, 1, 1}, row.arguments), row.status);
    EXPECT_THAT(error_.message, HasSubstr(row.text));
  }
  EXPECT_EQ(error_.argument, 1);
  const guf_array out = put(std::vector<double>(19, 0));
  std::vector<guf_operand> many = {array(out), scalar(GUF_BOOL, 1), weak(200)};
  many.resize(18, weak(0));
  expect(launch(find("numbers"), {1, 1, 1}, {1, 1, 1}, many), GUF_E_OVERFLOW);
  EXPECT_EQ(error_.argument, 2);
  many[1] = weak(1);
  expect(launch(find("numbers"), {1, 1, 1}, {1, 1, 1}, many), GUF_E_DTYPE);
  EXPECT_THAT(error_.message, HasSubstr("argument 1: expected bool, got an int"));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  if (on_cpu()) run(scale, {1, 1, 1}, {32, 1, 1}, {weak(2), host});
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
  expect(launch(kernel, {1, 1, 1}, {32, 1, 1}, {weak(2), array(x)}),
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
  run(kernel, {1, 1, 1}, {32, 1, 1}, {weak(2), array(x)});
  EXPECT_THAT(get<float>(x), testing::ElementsAre(2, 4, 6));
  // Queued work keeps the kernel and its module alive.
  constexpr uint32_t kMany = 200000;
  const guf_array many = put(std::vector<float>(kMany, 1));
  for (int i = 0; i < 20; ++i) {
    expect(launch(kernel, {(kMany + 31) / 32, 1, 1}, {32, 1, 1}, {weak(2), array(many)}));
  }
  guf_kernel_release(kernel, nullptr);
  guf_poll(0, nullptr, nullptr);
  expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  EXPECT_EQ(get<float>(many), std::vector<float>(kMany, 0x1p20f));
  module_ = load(module_path());
}

}  // namespace

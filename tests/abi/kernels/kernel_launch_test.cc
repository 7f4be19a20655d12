// SPDX-License-Identifier: Apache-2.0
// Tests what a launch passes to a kernel: indices, arguments and arrays.
#include <cstring>

#include "kernel_fixture.h"

namespace {

TEST_F(KernelTest, EachThreadHasItsIndex) {
  const guf_kernel places = find("places");
  for (const auto &[grid, block] : std::vector<std::pair<Size, Size>>{{{1, 1, 1}, {1, 1, 1}},
                                                                      {{5, 1, 1}, {33, 1, 1}},
                                                                      {{2, 3, 4}, {5, 3, 2}},
                                                                      {{1, 7, 1}, {64, 1, 4}},
                                                                      {{9, 1, 3}, {1, 1024, 1}}}) {
    const uint64_t threads = uint64_t{grid[0]} * grid[1] * grid[2] * block[0] * block[1] * block[2];
    const guf_array out = put(std::vector<int64_t>(8 * threads, -1));
    run(places, grid, block, {array(out)});
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
      {array(out), scalar(GUF_BOOL, 1), scalar(GUF_I8, bits(int8_t{-8})), weak(200),
       scalar(GUF_I16, bits(int16_t{-1600})), scalar(GUF_U16, 65000),
       scalar(GUF_I32, bits(int32_t{-320000})), weak(4000000000), weak(-(int64_t{1} << 40)),
       scalar(GUF_U64, uint64_t{1} << 62), scalar(GUF_F16, 0x3e00), scalar(GUF_BF16, 0xc000),
       weak(3), scalar(GUF_F64, bits(0.125)), scalar(GUF_C64, bits(2.0f) | bits(-4.0f) << 32),
       scalar(GUF_C128, bits(8.0), bits(-16.0)), scalar(GUF_DATETIME64, 77),
       scalar(GUF_TIMEDELTA64, bits(int64_t{-5}))});
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
    run(find(row.kernel), {2, 2, 1}, {4, 4, 1}, {array(keep(a)), array(keep(b))});
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
    run(scale, {(n + 255) / 256, 1, 1}, {256, 1, 1}, {weak(2), array(there)});
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
  expect(launch(raise, {16, 1, 1}, {64, 1, 1}, {array(start), array(first), weak(1000)}));
  expect(launch(raise, {16, 1, 1}, {64, 1, 1}, {array(first), array(second), weak(1000)}));
  expect(launch(raise, {16, 1, 1}, {64, 1, 1}, {array(second), array(out), weak(1000)}));
  guf_array_release(first, nullptr);
  guf_array_release(second, nullptr);
  expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  EXPECT_EQ(get<float>(out), std::vector<float>(1000, 3));
}

TEST_F(KernelTest, WithoutAStream) {
  const guf_array x = put(std::vector<float>{1, 2, 3});
  const guf_operand arguments[] = {weak(3), array(x)};
  const uint32_t one[] = {1, 1, 1}, threads[] = {32, 1, 1};
  expect(guf_kernel_launch(find("scale"), nullptr, one, threads, 0, 2, arguments, &error_));
  expect(guf_device_synchronize(device_, UINT64_MAX, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(3, 6, 9));
}

TEST_F(KernelTest, EmptyGridsAndArraysRunNothing) {
  const guf_array x = put(std::vector<float>{1, 2, 3});
  run(find("scale"), {0, 1, 1}, {32, 1, 1}, {weak(3), array(x)});
  run(find("scale"), {4, 1, 0}, {32, 1, 1}, {weak(3), array(x)});
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3));
  const guf_array none = put(std::vector<float>{}, {0});
  run(find("scale"), {1, 1, 1}, {32, 1, 1}, {weak(3), array(none)});
  run(find("raise"), {1, 1, 1}, {32, 1, 1}, {array(none), array(none), weak(0)});
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
  expect(launch(scale, {1, 1, 1}, {32, 1, 1}, {weak(2), array(x)}));
  expect(launch(scale, {1, 1, 1}, {32, 1, 1}, {weak(5), array(x)}));
  expect(guf_stream_end_capture(stream_, &graph, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(1, 2, 3));
  expect(guf_graph_launch(graph, stream_, &error_));
  expect(guf_graph_launch(graph, stream_, &error_));
  EXPECT_THAT(get<float>(x), testing::ElementsAre(100, 200, 300));
  guf_graph_release(graph, nullptr);
}

}  // namespace

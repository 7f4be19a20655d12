// SPDX-License-Identifier: Apache-2.0
// Tests the cooperation of the threads of a block: barriers, shared memory, sub-groups, atomics and
// random numbers.
#include <cmath>
#include <complex>
#include <numeric>

#include "kernel_fixture.h"

namespace {

TEST_F(KernelTest, BarriersOrderSharedMemory) {
  const guf_kernel sums = find("sums");
  std::vector<double> in(5000);
  std::iota(in.begin(), in.end(), 1.0);
  const guf_array there = put(in);
  for (const uint32_t threads : {2u, 32u, 64u, 256u, 1024u}) {
    const uint32_t blocks = (5000 + threads - 1) / threads;
    const guf_array out = put(std::vector<double>(blocks, -1));
    run(sums, {blocks, 1, 1}, {threads, 1, 1}, {array(there), array(out), weak(5000)}, threads * 8);
    std::vector<double> expected(blocks, 0);
    for (uint32_t i = 0; i < 5000; ++i) expected[i / threads] += in[i];
    EXPECT_EQ(get<double>(out), expected) << threads;
  }
}

TEST_F(KernelTest, SharedMemoryIsTheSumOfSourceAndLaunch) {
  const guf_kernel pieces = find("pieces");
  const guf_array out = put(std::vector<int32_t>(4, -1));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {array(out), weak(100)}, 100);
  EXPECT_THAT(get<int32_t>(out), testing::ElementsAre(1, 1, 5, 8));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {array(out), weak(101)}, 100);
  EXPECT_THAT(get<int32_t>(out), testing::ElementsAre(1, 0, 5, 8));
  run(pieces, {1, 1, 1}, {32, 1, 1}, {array(out), weak(1)});
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
    run(find("shuffles_d"), {blocks, 1, 1}, block, {array(d)});
    run(find("shuffles_H"), {blocks, 1, 1}, block, {array(h)});
    run(find("shuffles_D"), {blocks, 1, 1}, block, {array(c)});
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
    run(find(name), {blocks, 1, 1}, {threads, 1, 1}, {array(out)});
    EXPECT_EQ(get<T>(out), wanted_atomics<T>(blocks, threads)) << name;
  };
  for (const uint32_t blocks : {1u, 150u}) {
    check(int32_t{}, "atomics_i", blocks, 128);
    check(uint32_t{}, "atomics_I", blocks, 128);
    check(int64_t{}, "atomics_q", blocks, 96);
    check(uint64_t{}, "atomics_Q", blocks, 96);
  }
  const guf_array f = put(std::vector<float>(2, 0)), d = put(std::vector<double>(2, 0));
  run(find("float_sums_f"), {40, 1, 1}, {256, 1, 1}, {array(f)});
  run(find("float_sums_d"), {40, 1, 1}, {256, 1, 1}, {array(d)});
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
    const guf_operand arguments[] = {array(out)};
    const uint32_t grid[] = {3, 1, 1}, block[] = {64, 1, 1};
    expect(guf_kernel_launch(kernel, nullptr, grid, block, 0, 1, arguments, &error_), GUF_E_LAUNCH);
    EXPECT_THAT(error_.message, testing::HasSubstr(std::string("kernel '") + name + "': in block"));
    EXPECT_THAT(error_.message, testing::HasSubstr(" work-items have returned, "));
    expect(launch(kernel, {3, 1, 1}, {64, 1, 1}, {array(out)}));
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_), GUF_E_LAUNCH);
    expect(guf_stream_synchronize(stream_, UINT64_MAX, &error_));
  }
  // The next launch must work.
  const guf_array sum = put(std::vector<double>(1, 0)), in = put(std::vector<double>(32, 2));
  run(find("sums"), {1, 1, 1}, {32, 1, 1}, {array(in), array(sum), weak(32)}, 256);
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
      {scalar(GUF_U64, seed), array(words), array(f), array(d)});
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

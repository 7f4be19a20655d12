// SPDX-License-Identifier: Apache-2.0
// Compares the text of describe_method with the observed behaviour of the method.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

using testing::HasSubstr;

// Adds int64 values, and records the threads that run it.
struct Adders {
  size_t rendezvous = 0;  // number of threads that wait for each other in the loop
  std::set<std::thread::id> threads;
  std::mutex lock;
  std::condition_variable arrived;

  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Adders *>(user);
    {
      std::unique_lock hold(self.lock);
      self.threads.insert(std::this_thread::get_id());
      self.arrived.notify_all();
      self.arrived.wait_for(hold, std::chrono::seconds(20),
                            [&] { return self.threads.size() >= self.rendezvous; });
    }
    for (int64_t i = 0; i < dims[0]; ++i) {
      int64_t a = 0, b = 0;
      std::memcpy(&a, args[0] + i * steps[0], sizeof a);
      std::memcpy(&b, args[1] + i * steps[1], sizeof b);
      a += b;
      std::memcpy(args[2] + i * steps[2], &a, sizeof a);
    }
  }
};

class DescribeMethod : public testing::Test {
 protected:
  static void SetUpTestSuite() { grant("3"); }

  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }

  // Builds a method call with `items` results, each from `length` contiguous elements.
  guf_method_block block(int32_t method, int64_t items, int64_t length) {
    in_.assign(static_cast<size_t>(items * length), 1);
    out_.assign(in_.size(), 0);
    guf_method_block made = {};
    made.method = method;
    made.flags = GUF_METHOD_TREE | GUF_METHOD_ANY_THREAD;
    made.nkept = items == 1 ? 0 : 1;
    made.items = static_cast<uint64_t>(items);
    made.kept_size[0] = items;
    made.kept_input_step[0] = 8 * length;
    made.kept_output_step[0] = method == GUF_METHOD_REDUCE ? 8 : 8 * length;
    made.nfold = method == GUF_METHOD_AT ? 0 : 1;
    made.fold_size[0] = length;
    made.fold_input_step[0] = 8;
    made.fold_output_step = 8;
    made.input = reinterpret_cast<uint64_t>(in_.data());
    made.output = reinterpret_cast<uint64_t>(out_.data());
    made.input_dtype = made.output_dtype = made.loop_dtype = GUF_I64;
    made.input_flags = GUF_LAUNCH_OPERAND_READ;
    made.output_flags = GUF_LAUNCH_OPERAND_WRITTEN;
    return made;
  }

  static guf_backend_method request(const guf_method_block &block, uint32_t max_threads,
                                    Adders *user) {
    return {sizeof(guf_backend_method),
            max_threads,
            reinterpret_cast<void *>(Adders::loop),
            nullptr,
            nullptr,
            user,
            &block,
            nullptr,
            nullptr};
  }
  static std::string text_of(const guf_method_block &block, uint32_t max_threads = 0) {
    char text[1024] = "";
    guf_error error = fresh_error();
    guf_backend_method requested = request(block, max_threads, nullptr);
    requested.kernel = nullptr;  // describe_method runs no kernel
    EXPECT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error), GUF_OK)
        << error.message;
    return text;
  }
  // Runs the method, and returns the number of threads. The loop waits until `rendezvous` threads
  // have arrived.
  static size_t threads_of(const guf_method_block &block, uint32_t max_threads, size_t rendezvous) {
    Adders seen;
    seen.rendezvous = rendezvous;
    guf_error error = fresh_error();
    const guf_backend_method requested = request(block, max_threads, &seen);
    EXPECT_EQ(cpu().method(cpu_device(), &requested, &error), GUF_OK) << error.message;
    return seen.threads.size();
  }

  std::vector<int64_t> in_, out_;
};

TEST_F(DescribeMethod, ReduceByResults) {
  const guf_method_block many = block(GUF_METHOD_REDUCE, 1000, 300);
  EXPECT_THAT(text_of(many), HasSubstr("walk: result by result, up to "));
  EXPECT_THAT(text_of(block(GUF_METHOD_REDUCE, 1, 300)), HasSubstr("walk: result by result\n"));
  EXPECT_THAT(text_of(many), HasSubstr("threads: up to 3, by GUFUNC_NUM_THREADS; "));
  EXPECT_EQ(threads_of(many, 0, 3), 3u);
  EXPECT_THAT(text_of(many, 2), HasSubstr("threads: up to 2, as the call requests; "));
  EXPECT_EQ(threads_of(many, 2, 2), 2u);
  EXPECT_EQ(out_[999], 300);
}

TEST_F(DescribeMethod, ReduceBySubtrees) {
  const guf_method_block one = block(GUF_METHOD_REDUCE, 1, 400000);
  EXPECT_THAT(text_of(one), HasSubstr("walk: subtrees of 32768 elements, combined afterwards\n"));
  EXPECT_THAT(text_of(one), HasSubstr("threads: up to 3, by GUFUNC_NUM_THREADS; 13 pieces\n"));
  EXPECT_EQ(threads_of(one, 0, 3), 3u);
  EXPECT_EQ(out_[0], 400000);
}

TEST_F(DescribeMethod, AccumulateByTiles) {
  const guf_method_block one = block(GUF_METHOD_ACCUMULATE, 1, 200000);
  EXPECT_THAT(text_of(one), HasSubstr("walk: tiles of 256 elements, then the total of the "
                                      "preceding tiles is combined into each\nthreads: up to 3, "));
  EXPECT_EQ(threads_of(one, 0, 3), 3u);
  EXPECT_EQ(out_[199999], 200000);
}

TEST_F(DescribeMethod, OneThread) {
  guf_method_block small = block(GUF_METHOD_REDUCE, 10, 100);
  EXPECT_THAT(
      text_of(small),
      HasSubstr("threads: 1, as the work, 1000, is too small to share: the minimum is 32768\n"));
  EXPECT_EQ(threads_of(small, 0, 1), 1u);
  guf_method_block ordered = block(GUF_METHOD_REDUCE, 1, 100000);
  EXPECT_THAT(text_of(ordered, 1), HasSubstr("threads: 1, as the call requests one\n"));
  ordered.flags = GUF_METHOD_ANY_THREAD;
  EXPECT_THAT(text_of(ordered),
              HasSubstr("threads: 1, as the elements of a result are reduced in order\n"));
  EXPECT_EQ(threads_of(ordered, 0, 1), 1u);
  ordered.flags = GUF_METHOD_TREE;
  EXPECT_THAT(text_of(ordered), HasSubstr("as the loop must not run in threads of the backend\n"));
  EXPECT_EQ(threads_of(ordered, 0, 1), 1u);
  grant("1");
  const guf_method_block large = block(GUF_METHOD_REDUCE, 1000, 300);
  EXPECT_THAT(text_of(large), HasSubstr("threads: 1, by GUFUNC_NUM_THREADS\n"));
  EXPECT_EQ(threads_of(large, 0, 1), 1u);
  grant("3");
}

TEST_F(DescribeMethod, ReduceatWithAndWithoutIndices) {
  guf_method_block stretches = block(GUF_METHOD_REDUCEAT, 1, 100000);
  std::vector<int64_t> indices(1000);
  std::iota(indices.begin(), indices.end(), 0);
  stretches.nindices = 1000;
  EXPECT_THAT(
      text_of(stretches),
      HasSubstr(
          "walk: slice by slice, work estimated as for ascending indices\nthreads: up to 3, "));
  stretches.indices = indices.data();
  EXPECT_THAT(text_of(stretches), HasSubstr("walk: slice by slice\nthreads: up to 3, "));
  // Each segment has one element, except the last one, which has 10.
  std::fill(indices.begin(), indices.end(), 99990);
  EXPECT_THAT(
      text_of(stretches),
      HasSubstr("threads: 1, as the work, 1009, is too small to share: the minimum is 32768"));
  EXPECT_EQ(threads_of(stretches, 0, 1), 1u);
}

TEST_F(DescribeMethod, AtKeepsTheOrder) {
  guf_method_block places = block(GUF_METHOD_AT, 1, 100000);
  places.nindices = 100000;
  EXPECT_THAT(
      text_of(places),
      HasSubstr(
          "walk: runs of indices that are all different, gathered "
          "and scattered\nthreads: 1, as the indices are applied in order\ninstructions: up to "));
  places.input_dtype = GUF_I32;
  EXPECT_THAT(text_of(places),
              HasSubstr("with operands converted to the loop's dtype and byte order in blocks"));
}

TEST_F(DescribeMethod, FpFlags) {
  guf_method_block looked = block(GUF_METHOD_REDUCE, 1, 1000);
  const guf_fp_status fp_status = {};
  guf_backend_method requested = request(looked, 0, nullptr);
  requested.fp_status = &fp_status;
  char text[1024] = "";
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error), GUF_OK);
  EXPECT_THAT(text, HasSubstr("; floating-point flags are computed for every step\n"));
}

TEST_F(DescribeMethod, FillsTheBufferAndNoMore) {
  const guf_method_block small = block(GUF_METHOD_REDUCE, 10, 100);
  const std::string whole = text_of(small);
  const guf_backend_method requested = request(small, 0, nullptr);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{20}, whole.size()}) {
    std::vector<char> text(size + 1, '\x55');
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().describe_method(cpu_device(), &requested, text.data(), size, &error), GUF_OK);
    if (size > 0) {
      EXPECT_EQ(std::string(text.data()), whole.substr(0, size - 1));
    }
    EXPECT_EQ(text[size], '\x55');
  }
}

TEST_F(DescribeMethod, RefusesUnknownFlagsAndMethods) {
  guf_method_block unknown = block(GUF_METHOD_REDUCE, 10, 100);
  unknown.flags |= 1U << 30;
  const guf_backend_method requested = request(unknown, 0, nullptr);
  char text[10];
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error),
            GUF_E_UNSUPPORTED);
}

}  // namespace
}  // namespace gufunc::cpu

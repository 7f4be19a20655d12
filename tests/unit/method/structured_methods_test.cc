// SPDX-License-Identifier: Apache-2.0
// Tests methods on structured dtypes: initial values, elements that a loop receives, streams,
// messages and errors. tests/conformance/structured_methods.py tests orders and values.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/support/requests.h"
#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An element of 40 bytes does not fit into the buffer of a numeric element.
struct Sample {
  uint64_t mark;  // equal in every valid element
  uint64_t count;
  double weight[3];
  bool operator==(const Sample &) const = default;
};
constexpr uint64_t kMark = 0x5A3C'9E01;

std::atomic<int> strangers{0};        // number of invalid elements that a loop received
std::atomic<bool> loops_wait{false};  // loops wait while this is true

void add_samples(char **args, const int64_t *dims, const int64_t *steps, void *) {
  while (loops_wait) std::this_thread::yield();
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto *const a = reinterpret_cast<const Sample *>(args[0] + i * steps[0]);
    const auto *const b = reinterpret_cast<const Sample *>(args[1] + i * steps[1]);
    if (a->mark != kMark || b->mark != kMark) ++strangers;
    const Sample sum = {kMark, 2 * a->count + b->count, {a->weight[0] + b->weight[0], 0, 0}};
    *reinterpret_cast<Sample *>(args[2] + i * steps[2]) = sum;
  }
}

void double_sample(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    Sample sample = *reinterpret_cast<const Sample *>(args[0] + i * steps[0]);
    sample.count *= 2;
    *reinterpret_cast<Sample *>(args[1] + i * steps[1]) = sample;
  }
}

// A loop with the dtypes f64, sample -> f64.
void add_count(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const double total = *reinterpret_cast<const double *>(args[0] + i * steps[0]);
    const auto *const sample = reinterpret_cast<const Sample *>(args[1] + i * steps[1]);
    *reinterpret_cast<double *>(args[2] + i * steps[2]) =
        total + static_cast<double>(sample->count);
  }
}

// A loop with the dtypes sample, f64 -> sample.
void add_weight(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    Sample sample = *reinterpret_cast<const Sample *>(args[0] + i * steps[0]);
    if (sample.mark != kMark) ++strangers;
    sample.weight[0] += *reinterpret_cast<const double *>(args[1] + i * steps[1]);
    *reinterpret_cast<Sample *>(args[2] + i * steps[2]) = sample;
  }
}

constexpr uint32_t kTree = GUF_FUNCTION_COMMUTATIVE | GUF_FUNCTION_ASSOCIATIVE;

class StructuredMethods : public testing::Test {
 protected:
  void SetUp() override {
    strangers = 0;
    loops_wait = false;
    const guf_status made =
        guf_dtype_register("test_sample", sizeof(Sample), alignof(Sample), &sample_, nullptr);
    ASSERT_EQ(made, GUF_OK);
    const std::vector<guf_dtype> types = {sample_, sample_, sample_};
    static const guf_ufunc left = make_ufunc("add_samples", nullptr, 2, 1, {}, add_samples, types);
    static const guf_ufunc tree = make_ufunc("join_samples", nullptr, 2, 1, {}, add_samples, types,
                                             kTree, GUF_LOOP_ANY_THREAD);
    static const guf_ufunc twice =
        make_ufunc("double_sample", nullptr, 1, 1, {}, double_sample, {sample_, sample_});
    static const guf_ufunc counts =
        make_ufunc("add_count", nullptr, 2, 1, {}, add_count, {GUF_F64, sample_, GUF_F64});
    left_ = left;
    tree_ = tree;
    twice_ = twice;
    counts_ = counts;
  }
  static Sample sample(uint64_t count) { return {kMark, count, {1, 0, 0}}; }
  static std::vector<Sample> samples(uint64_t count) {
    std::vector<Sample> made;
    for (uint64_t i = 0; i < count; ++i) made.push_back(sample(i + 1));
    return made;
  }
  View view_of(const std::vector<Sample> &data) const { return view(sample_, data); }
  View one(const Sample &value) const { return {sample_, &value, {}, {}, 0}; }

  guf_dtype sample_ = 0;
  guf_ufunc left_ = nullptr, tree_ = nullptr, twice_ = nullptr, counts_ = nullptr;
};

TEST_F(StructuredMethods, BeginWithTheBytesThatAreGiven) {
  const std::vector<Sample> data = samples(3);
  Sample result = {};
  Reduce reduce(left_, view_of(data));
  reduce.into(one(result));
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(result, (Sample{kMark, 11, {3, 0, 0}}));  // elements 1, 2, 3: 2 * (2 * 1 + 2) + 3
  const Sample first = sample(10);
  reduce.args.initial = reduce.tensor(one(first));
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(result, (Sample{kMark, 91, {4, 0, 0}}));
  Reduce tree(tree_, view_of(data));
  tree.into(one(result));
  tree.args.initial = tree.tensor(one(first));
  ASSERT_EQ(tree.run(), GUF_OK) << tree.error.message;
  EXPECT_EQ(result, (Sample{kMark, 31, {4, 0, 0}}));  // the last step is 2 * 10 + 11
  const std::vector<Sample> none;
  Reduce empty(left_, view_of(none));
  empty.args.initial = empty.tensor(one(first));
  ASSERT_EQ(empty.run(), GUF_OK) << empty.error.message;
  EXPECT_THAT(elements_of<Sample>(empty.output), ElementsAre(first));
}

TEST_F(StructuredMethods, LoopsSeeNoElementThatIsMaskedOff) {
  const uint64_t n = 1000;
  std::vector<Sample> data = samples(n);
  std::vector<uint8_t> mask(n);
  double expected = 1;
  for (size_t i = 0; i < mask.size(); ++i) {
    mask[i] = i % 200 < 130 && i % 3 != 0;  // base blocks have no, some or all elements masked
    if (mask[i] == 0) std::memset(&data[i], 0x77, sizeof data[i]);
    expected += mask[i];
  }
  const Sample first = sample(0);
  for (const guf_ufunc ufunc : {left_, tree_}) {
    Reduce reduce(ufunc, view_of(data));
    reduce.args.where = reduce.tensor(view(GUF_BOOL, mask));
    reduce.args.initial = reduce.tensor(one(first));
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(elements_of<Sample>(reduce.output)[0].weight[0], expected);
  }
  EXPECT_EQ(strangers, 0);
}

TEST_F(StructuredMethods, ThreadsShareSubtrees) {
  const std::vector<Sample> data = samples(1 << 17);
  const auto count_of = [&](uint32_t threads) {
    Reduce reduce(tree_, view_of(data));
    reduce.args.options.threads = threads;
    EXPECT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    return elements_of<Sample>(reduce.output)[0];
  };
  const Sample alone = count_of(1);
  EXPECT_EQ(alone.weight[0], 1 << 17);
  EXPECT_EQ(count_of(4), alone);
  Accumulate scan(tree_, view_of(data));
  ASSERT_EQ(scan.run(), GUF_OK) << scan.error.message;
  EXPECT_EQ(elements_of<Sample>(scan.output).back().weight[0], 1 << 17);
}

// Overwrites stack memory that earlier calls of this thread used.
[[gnu::noinline]] void overwrite_stack() {
  volatile char buffer[64 * 1024];
  for (volatile char &byte : buffer) byte = 0x55;
}

TEST_F(StructuredMethods, QueuedReductionsKeepTheirInitialValue) {
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, nullptr), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, nullptr), GUF_OK);
  const std::vector<Sample> data = samples(1 << 17);  // too large for the caller's thread
  Sample first = {kMark, 0, {1000, 0, 0}}, result = {};
  Reduce reduce(tree_, view_of(data));
  reduce.into(one(result));
  reduce.args.options.stream = stream;
  reduce.args.initial = reduce.tensor(one(first));
  loops_wait = true;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  first = {};
  overwrite_stack();
  loops_wait = false;
  ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, nullptr), GUF_OK);
  EXPECT_EQ(result.weight[0], 1000 + (1 << 17));
  EXPECT_EQ(strangers, 0);
  guf_stream_release(stream, nullptr);
  guf_device_release(device, nullptr);
}

TEST_F(StructuredMethods, AtTakesBinaryAndUnaryLoops) {
  std::vector<Sample> data = samples(4);
  const std::vector<int64_t> places = {0, 0, 3, 0};
  const Sample ten = sample(10);
  At at("add", view_of(data));
  at.handle = left_;
  at.index(view(GUF_I64, places));
  at.with(one(ten));
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_EQ(data[0].count, 78);  // the count is 1, 12, 34 and then 78
  EXPECT_EQ(data[1].count, 2);
  EXPECT_EQ(data[3].count, 18);
  At unary("add", view_of(data));
  unary.handle = twice_;
  unary.index(view(GUF_I64, places));
  ASSERT_EQ(unary.run(), GUF_OK) << unary.error.message;
  EXPECT_EQ(data[0].count, 78 * 8);
  EXPECT_EQ(data[3].count, 36);
}

TEST_F(StructuredMethods, LoopsOfAStructuredDtypeIntoANumberReduce) {
  const std::vector<Sample> data = samples(4);
  const std::vector<double> total(1);
  Reduce reduce(counts_, view_of(data));
  reduce.into({GUF_F64, total.data(), {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_CASTING);
  EXPECT_THAT(reduce.error.message, HasSubstr("without 'initial'"));
  reduce.args.initial = reduce.weak_float(0.5);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(total, ElementsAre(10.5));
}

TEST_F(StructuredMethods, LoopsOfNumbersIntoAStructuredDtypeReduce) {
  static const guf_ufunc weights =
      make_ufunc("add_weight", nullptr, 2, 1, {}, add_weight, {sample_, GUF_F64, sample_});
  const Sample first = sample(7);
  for (const std::vector<double> &data : {std::vector<double>{}, {2, 3, 4}}) {
    Sample result = {};
    Reduce reduce(weights, view(GUF_F64, data));
    reduce.into(one(result));
    reduce.args.initial = reduce.tensor(one(first));
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(result, (Sample{kMark, 7, {data.empty() ? 1.0 : 10.0, 0, 0}}));
  }
  EXPECT_EQ(strangers, 0);
}

TEST_F(StructuredMethods, OtherDtypesAreRefused) {
  const std::vector<Sample> data = samples(3);
  guf_dtype equal = 0;
  ASSERT_EQ(guf_dtype_register("test_sample_equal", 40, 8, &equal, nullptr), GUF_OK);
  const double number = 1;
  Reduce reduce(left_, view_of(data));
  for (const guf_operand *const wrong :
       {reduce.weak_int(0), reduce.tensor({GUF_F64, &number, {}, {}, 0}),
        reduce.tensor({equal, data.data(), {}, {}, 0})}) {
    reduce.args.initial = wrong;
    EXPECT_EQ(reduce.run(), GUF_E_CASTING);
    EXPECT_THAT(reduce.error.message, HasSubstr("test_sample"));
  }
  reduce.args.initial = nullptr;
  std::vector<double> out(1);
  reduce.into({GUF_F64, out.data(), {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  reduce.args.dtype = sample_;
  EXPECT_EQ(reduce.run(), GUF_E_CASTING) << reduce.error.message;
  std::vector<double> numbers = {1, 2};
  Reduce add("add", view(GUF_F64, numbers));
  add.args.initial = add.tensor(one(data[0]));
  EXPECT_EQ(add.run(), GUF_E_CASTING) << add.error.message;
  EXPECT_THAT(add.error.message, HasSubstr("test_sample"));
  for (const char *name : {"add", "equal"}) {
    Reduce standard(name, view_of(data));
    EXPECT_EQ(standard.run(), GUF_E_NO_LOOP) << name << ": " << standard.error.message;
  }
  Reduce truth("logical_and", view_of(data));
  EXPECT_EQ(truth.run(), GUF_E_CASTING) << truth.error.message;
  EXPECT_THAT(truth.error.message, HasSubstr("to dtype('bool') according to the rule 'unsafe'"));
}

// As in NumPy, functions on structured dtypes have no identity.
TEST_F(StructuredMethods, HaveNoIdentity) {
  const std::vector<Sample> none, data = samples(4);
  Reduce empty(left_, view_of(none));
  EXPECT_EQ(empty.run(), GUF_E_VALUE);
  EXPECT_THAT(empty.error.message, HasSubstr("which has no identity"));
  Reduce square(left_, matrix(sample_, data, 2, 2));
  square.axes({0, 1});
  EXPECT_EQ(square.run(), GUF_E_VALUE);
  EXPECT_STREQ(square.error.message,
               "reduction operation 'add_samples' is not reorderable, so at most one axis may be "
               "specified");
}

// The identity of the numeric loops of a function is not an element of its structured dtype.
TEST_F(StructuredMethods, TakeNoNumberForAnElement) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = 2;
  desc.nout = 1;
  desc.name = "add_samples_or_numbers";
  desc.identity = GUF_IDENTITY_ZERO;
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, nullptr), GUF_OK);
  const guf_dtype types[] = {sample_, sample_, sample_};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.ntypes = 3;
  loop.types = types;
  loop.numpy = add_samples;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, nullptr), GUF_OK);
  const std::vector<Sample> none, data = samples(3);
  Reduce empty(ufunc, view_of(none));
  EXPECT_EQ(empty.run(), GUF_E_VALUE);
  EXPECT_THAT(empty.error.message, HasSubstr("which has no identity"));
  Reduce reduce(ufunc, view_of(data));
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_THAT(elements_of<Sample>(reduce.output), ElementsAre(Sample{kMark, 11, {3, 0, 0}}));
  guf_ufunc_release(ufunc, nullptr);
}

TEST_F(StructuredMethods, AreExplained) {
  const std::vector<Sample> data = samples(300);
  Reduce reduce(tree_, view_of(data));
  char text[2000];
  uint64_t length = sizeof text;
  const Sample first = sample(1);
  reduce.args.initial = reduce.tensor(one(first));
  reduce.args.options.threads = 1;  // regardless of the measured cost of the loop
  ASSERT_EQ(requests::explain_reduce(tree_, &reduce.args, text, &length, &reduce.error), GUF_OK)
      << reduce.error.message;
  EXPECT_THAT(text, HasSubstr("test_sample"));
  EXPECT_THAT(text, HasSubstr("order: as a tree: base blocks of 128, combined in pairs, with the "
                              "elementwise loop\ninitial: given\n"));
  EXPECT_THAT(text, HasSubstr("walk: result by result"));
  guf_resolution answer = {};
  answer.struct_size = sizeof answer;
  ASSERT_EQ(requests::resolve_reduce(tree_, &reduce.args, &answer, &reduce.error), GUF_OK);
  EXPECT_EQ(answer.dtypes[2], sample_);
}

}  // namespace
}  // namespace gufunc

// SPDX-License-Identifier: Apache-2.0
// Tests reductions with user-defined accumulators. For every layout, mask and number of threads,
// the reduction uses the same tree of base blocks, each of 128 elements in C order. Also tests
// results and errors, and accumulators over datetime types, whose loops match any unit, and over
// structured dtypes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>

#include "tests/support/requests.h"
#include "tests/unit/method/state_fixture.h"

namespace gufunc {
namespace {

struct Sample {
  std::vector<int64_t> shape, strides, mask_shape;
  std::vector<int32_t> memory;
  std::vector<uint8_t> mask;
  std::vector<bool> folded;
  bool masked = false;

  int32_t at(const std::vector<int64_t> &index) const {
    int64_t offset = 0;
    for (size_t k = 0; k < index.size(); ++k) offset += index[k] * strides[k];
    return memory[static_cast<size_t>(offset / 4)];
  }
  bool takes(const std::vector<int64_t> &index) const {
    if (!masked) return true;
    size_t place = 0;
    for (size_t k = 0; k < index.size(); ++k) {
      place = place * static_cast<size_t>(mask_shape[k]) +
              static_cast<size_t>(mask_shape[k] == 1 ? 0 : index[k]);
    }
    return mask[place] != 0;
  }
};

Sample random_sample(std::mt19937 &random) {
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  Sample sample;
  const auto ndim = static_cast<size_t>(1 + below(4));
  int64_t size = 4;
  for (size_t k = 0; k < ndim; ++k) {
    sample.shape.push_back(size < 4000 && below(4) == 0 ? 1 + below(400) : below(5));
    sample.folded.push_back(below(2) == 0);
    size *= std::max<int64_t>(sample.shape[k], 1);
  }
  size = 4;
  std::vector<size_t> order(ndim);
  for (size_t k = 0; k < ndim; ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), random);
  sample.strides.resize(ndim);
  for (const size_t k : order) {
    sample.strides[k] = size;
    size *= std::max<int64_t>(sample.shape[k], 1);
  }
  sample.memory.resize(static_cast<size_t>(size / 4));
  for (int32_t &value : sample.memory) value = static_cast<int32_t>(random());
  sample.masked = below(2) == 0;
  size_t places = 1;
  for (size_t k = 0; k < ndim; ++k) {
    sample.mask_shape.push_back(below(3) == 0 ? 1 : sample.shape[k]);
    places *= static_cast<size_t>(sample.mask_shape[k]);
  }
  sample.mask.resize(places + 1);
  for (uint8_t &bit : sample.mask) bit = below(3) != 0;
  return sample;
}

// Combines base blocks as a tree. The number of base blocks in the left part is the largest power
// of two that leaves at least one base block for the right part.
Trace tree(const std::vector<Trace> &base_blocks, size_t first, size_t end) {
  if (end - first == 1) return base_blocks[first];
  size_t left = 1;
  while (left * 2 < end - first) left *= 2;
  return joined(tree(base_blocks, first, first + left), tree(base_blocks, first + left, end));
}

// Divides the elements of every result into base blocks in C order, and returns the expected
// results.
std::vector<Trace> right_answer(const Sample &sample) {
  size_t nresults = 1;
  for (size_t k = 0; k < sample.shape.size(); ++k) {
    if (!sample.folded[k]) nresults *= static_cast<size_t>(sample.shape[k]);
  }
  std::vector<std::vector<Trace>> base_blocks(nresults, std::vector<Trace>(1, Trace{0, 0}));
  std::vector<uint64_t> numbers(nresults, 0);
  int64_t total = 1;
  for (const int64_t extent : sample.shape) total *= extent;
  for (int64_t n = 0; n < total; ++n) {
    std::vector<int64_t> index(sample.shape.size());
    int64_t rest = n;
    for (size_t k = sample.shape.size(); k-- > 0; rest /= sample.shape[k])
      index[k] = rest % sample.shape[k];
    size_t result = 0;
    for (size_t k = 0; k < index.size(); ++k) {
      if (!sample.folded[k])
        result = result * static_cast<size_t>(sample.shape[k]) + static_cast<size_t>(index[k]);
    }
    const uint64_t number = numbers[result]++;
    if (number % 128 == 0 && number != 0) base_blocks[result].push_back({0, 0});
    if (sample.takes(index)) {
      base_blocks[result].back() = seen(base_blocks[result].back(), number, sample.at(index));
    }
  }
  std::vector<Trace> answer;
  for (const auto &own : base_blocks) answer.push_back(tree(own, 0, own.size()));
  return answer;
}

void compare(const Sample &sample, uint32_t threads, bool keepdims, guf_stream stream) {
  StateReduce reduce(trace(), {GUF_I32, sample.memory.data(), sample.shape, sample.strides, 0}, 2);
  std::vector<int64_t> axes;
  for (size_t k = 0; k < sample.folded.size(); ++k) {
    if (sample.folded[k]) axes.push_back(static_cast<int64_t>(k));
  }
  reduce.axes(axes);
  reduce.args.options.threads = threads;
  reduce.args.options.stream = stream;
  if (keepdims) reduce.args.flags = GUF_CALL_KEEPDIMS;
  if (sample.masked)
    reduce.args.where = reduce.tensor({GUF_BOOL, sample.mask.data(), sample.mask_shape, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  if (stream != nullptr) {
    ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, nullptr), GUF_OK);
  }
  const std::vector<Trace> right = right_answer(sample);
  const auto hashes = elements_of<uint64_t>(reduce.results[0]);
  const auto counts = elements_of<int64_t>(reduce.results[1]);
  ASSERT_EQ(hashes.size(), right.size());
  for (size_t k = 0; k < right.size(); ++k) {
    ASSERT_EQ(hashes[k], right[k].hash) << k;
    ASSERT_EQ(counts[k], right[k].count) << k;
  }
  const guf_array_info info = info_of(reduce.results[1]);
  const size_t ndim = sample.shape.size();
  EXPECT_EQ(static_cast<size_t>(info.ndim), keepdims ? ndim : ndim - axes.size());
}

TEST(StateReduce, FollowsTheTreeWhateverTheLayoutAndThreads) {
  std::mt19937 random(20250608);
  guf_stream stream = nullptr;
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, nullptr), GUF_OK);
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, nullptr), GUF_OK);
  for (int n = 0; n < 300; ++n) {
    const Sample sample = random_sample(random);
    compare(sample, 1 + static_cast<uint32_t>(n % 3) * 3, n % 2 == 0,
            n % 5 == 0 ? stream : nullptr);
    if (HasFatalFailure()) FAIL() << "sample " << n;
  }
  guf_stream_release(stream, nullptr);
}

TEST(StateReduce, ResultsMayBeGivenAndCast) {
  const std::vector<int32_t> data(300, 1);
  float count[3] = {};
  StateReduce reduce(trace(), matrix(GUF_I32, data, 3, 100), 2);
  reduce.axes({1});
  reduce.results[1] = *reduce.tensor({GUF_F32, count, {3}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(count[2], 100);
  EXPECT_EQ(reduce.results[0].kind, GUF_OPERAND_ARRAY);
  EXPECT_EQ(reduce.results[1].kind, GUF_OPERAND_TENSOR);
}

TEST(StateReduce, AnswersBeforeItRuns) {
  const std::vector<int32_t> data(300, 1);
  StateReduce reduce(trace(), matrix(GUF_I32, data, 3, 100), 2);
  guf_resolution found = {};
  found.struct_size = sizeof found;
  ASSERT_EQ(requests::resolve_reduce(reduce.handle, &reduce.args, &found, &reduce.error), GUF_OK);
  EXPECT_EQ(found.noperands, 3);
  EXPECT_EQ(found.dtypes[1], static_cast<guf_dtype>(GUF_U64));
  EXPECT_EQ(found.output_ndims[1], 1);
  EXPECT_EQ(found.output_shapes[1][0], 100);
  char text[2000];
  uint64_t length = sizeof text;
  ASSERT_EQ(requests::explain_reduce(reduce.handle, &reduce.args, text, &length, nullptr), GUF_OK);
  EXPECT_NE(std::strstr(text, "merged in pairs by test_trace_merge\n"), nullptr) << text;
}

TEST(StateReduce, RefusalsLeaveResultsAlone) {
  const std::vector<int32_t> data(12, 1);
  const std::vector<double> real(4, 1);
  double small[2] = {7, 7};
  StateReduce reduce(trace(), matrix(GUF_I32, data, 3, 4), 2);
  reduce.results[0] = *reduce.tensor({GUF_F64, small, {2}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_SHAPE);
  EXPECT_EQ(small[0], 7);
  reduce.results[0] = {};
  reduce.args.noutputs = 1;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  reduce.args.noutputs = 2;
  reduce.args.output = &reduce.output;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  EXPECT_STREQ(reduce.error.message,
               "args->output and args->outputs are both given, expected one of them");
  reduce.args.output = nullptr;
  reduce.args.initial = reduce.weak_int(1);
  EXPECT_EQ(reduce.run(), GUF_E_UNSUPPORTED);
  reduce.args.initial = nullptr;
  reduce.results[1] = *reduce.tensor({GUF_F64, small, {4}, {0}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_OVERLAP);
  EXPECT_EQ(reduce.error.argument, 5);  // the second result is argument 5
  reduce.results[1] = *reduce.tensor({GUF_F64, small, {4}, {}, GUF_TENSOR_READ_ONLY});
  EXPECT_EQ(reduce.run(), GUF_E_READ_ONLY);
  StateReduce wrong(trace(), {GUF_F64, real.data(), {4}, {}, 0}, 2);
  EXPECT_EQ(wrong.run(), GUF_E_NO_LOOP);
}

TEST(StateReduce, ParametersAreConvertedOrZero) {
  const std::vector<double> data = {1, 2, 6};
  const auto var = [&](const guf_operand *parameter, uint32_t struct_size, double *out) {
    Reduce reduce("var", {GUF_F64, data.data(), {3}, {}, 0});
    reduce.args.struct_size = struct_size;
    reduce.args.parameters = parameter;
    reduce.args.nparameters = parameter == nullptr ? 0 : 1;
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    *out = elements_of<double>(reduce.output)[0];
  };
  guf_operand one = {};
  one.kind = GUF_OPERAND_SCALAR;
  one.dtype = GUF_U8;
  one.value[0] = 1;
  const guf_operand weak = weak_float_of(0.5);
  double all = 0, less_one = 0, less_half = 0, shorter = 0;
  var(nullptr, sizeof(guf_reduce_args), &all);
  var(&one, sizeof(guf_reduce_args), &less_one);
  var(&weak, sizeof(guf_reduce_args), &less_half);
  var(nullptr, offsetof(guf_reduce_args, parameters), &shorter);  // the struct's first version
  EXPECT_DOUBLE_EQ(all, 14.0 / 3);
  EXPECT_DOUBLE_EQ(less_one, 7);
  EXPECT_DOUBLE_EQ(less_half, 14 / 2.5);
  EXPECT_DOUBLE_EQ(shorter, all);
}

TEST(StateReduce, ParametersThatDoNotFitAreRefused) {
  const std::vector<double> data = {1, 2, 6};
  Reduce reduce("var", {GUF_F64, data.data(), {3}, {}, 0});
  guf_operand parameters[2] = {*reduce.weak_int(1), *reduce.weak_int(1)};
  reduce.args.parameters = parameters;
  reduce.args.nparameters = 2;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  EXPECT_STREQ(reduce.error.message,
               "args->nparameters: expected 0 to 1 for the reduction of var, got 2");
  reduce.args.nparameters = -1;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  reduce.args.nparameters = 1;
  reduce.args.parameters = nullptr;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  reduce.args.parameters = parameters;
  parameters[0] = *reduce.tensor({GUF_F64, data.data(), {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  EXPECT_STREQ(reduce.error.message,
               "args->parameters[0]: expected a scalar, got an array or a tensor");
  EXPECT_EQ(reduce.error.argument, 5);
  parameters[0] = {};
  parameters[0].kind = GUF_OPERAND_SCALAR;
  parameters[0].dtype = GUF_C128;
  EXPECT_EQ(reduce.run(), GUF_E_CASTING);
  EXPECT_STREQ(reduce.error.message,
               "Cannot cast array data from dtype('complex128') to dtype('float64') according to "
               "the rule 'same_kind'; argument 5 is a parameter");
  parameters[0] = {};
  parameters[0].kind = GUF_OPERAND_WEAK_COMPLEX;
  EXPECT_EQ(reduce.run(), GUF_E_CASTING);
  EXPECT_STREQ(reduce.error.message,
               "Cannot cast a complex scalar to dtype('float64') according to the rule "
               "'same_kind'; argument 5 is a parameter");
  Reduce plain("add", {GUF_F64, data.data(), {3}, {}, 0});
  plain.args.parameters = parameters;
  plain.args.nparameters = 1;
  EXPECT_EQ(plain.run(), GUF_E_ARG);
}

TEST(StateReduce, ResultsHaveThePrecisionOfTheElements) {
  const std::vector<uint64_t> zeros(8, 0);
  const guf_dtype rows[][3] = {{GUF_I32, GUF_F64, GUF_F64},    {GUF_F16, GUF_F16, GUF_F16},
                               {GUF_BF16, GUF_BF16, GUF_BF16}, {GUF_F32, GUF_F32, GUF_F32},
                               {GUF_F64, GUF_F64, GUF_F64},    {GUF_C64, GUF_C64, GUF_F32},
                               {GUF_C128, GUF_C128, GUF_F64}};
  for (const auto &[elements, mean, var] : rows) {
    for (const auto &[name, expected] : {std::pair{"mean", mean}, std::pair{"var", var}}) {
      Reduce reduce(name, {elements, zeros.data(), {4}, {}, 0});
      ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
      EXPECT_EQ(info_of(reduce.output).dtype, expected) << name << " of " << elements;
    }
  }
}

TEST(StateReduce, MoreElementsThanCountAreRefused) {
  const std::vector<int32_t> one(1, 1);
  const int64_t wide = int64_t{1} << 32;
  StateReduce reduce(trace(), {GUF_I32, one.data(), {wide, wide, 0}, {0, 0, 0}, 0}, 2);
  reduce.axes({0, 1});
  EXPECT_EQ(reduce.run(), GUF_E_SHAPE) << reduce.error.message;
}

// ---- The functions that a user-defined reduction consists of: which functions set_parts accepts.

void take_first(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i)
    store_value(args[1] + i * steps[1], load_value<double>(args[0] + i * steps[0]));
}
void take_left(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i)
    store_value(args[2] + i * steps[2], load_value<double>(args[0] + i * steps[0]));
}

// The arrays that the block function receives have two more axes after the axes that are not
// reduced: the number of the base block, and the index of the element within the base block.
TEST(StateReduce, KeepsAtMostTwoAxesLessThanTheLimit) {
  const int32_t one = 1;
  StateReduce reduce(trace(), {GUF_I32, &one, std::vector<int64_t>(64, 1), {}, 0}, 2);
  reduce.axes({0});
  EXPECT_EQ(reduce.run(), GUF_E_SHAPE);
  EXPECT_STREQ(reduce.error.message,
               "a reduction with a user-defined accumulator keeps at most 62 axes; got 63");
  reduce.axes({0, 1});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(info_of(reduce.results[0]).ndim, 62);
}

TEST(StateReduce, EmptyAxesAndMasksAreRefusedWithoutAcceptsEmpty) {
  const guf_ufunc block_function =
      make_part("test_first", "(n)->()", 1, 1, 0, {GUF_F64, GUF_F64}, take_first);
  const guf_ufunc merge =
      make_part("test_first_merge", nullptr, 2, 1, 0, {GUF_F64, GUF_F64, GUF_F64}, take_left);
  ASSERT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
  EXPECT_EQ(set_parts(block_function, merge, nullptr), GUF_E_EXISTS);
  std::vector<float> data(1000);
  for (size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k) + 0.5F;
  Reduce reduce(block_function, {GUF_F32, data.data(), {1000}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<double>(reduce.output), std::vector<double>({0.5}));
  Reduce empty(block_function, {GUF_F32, data.data(), {0, 3}, {}, 0});
  EXPECT_EQ(empty.run(), GUF_E_VALUE);
  EXPECT_STREQ(empty.error.message,
               "zero-size array to reduction operation test_first which has no identity");
  const uint8_t mask[] = {1};
  reduce.args.where = reduce.tensor({GUF_BOOL, mask, {1}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_UNSUPPORTED);
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

// The computation of the number of base blocks rounds up without overflow. The accumulators then
// need more memory than the machine has.
TEST(StateReduce, AsManyElementsAsCountNeedMemoryForTheirLeaves) {
  const guf_ufunc block_function =
      make_part("test_small", "(n)->()", 1, 1, 0, {GUF_I8, GUF_F64}, take_first);
  const guf_ufunc merge =
      make_part("test_small_merge", nullptr, 2, 1, 0, {GUF_F64, GUF_F64, GUF_F64}, take_left);
  ASSERT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
  const int8_t one = 1;
  Reduce reduce(block_function, {GUF_I8, &one, {INT64_MAX}, {0}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_MEMORY) << reduce.error.message;
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

// Counts the elements that the mask includes. The signature is (n),(n)->().
void count_included(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    double count = 0;
    for (int64_t i = 0; i < dims[1]; ++i)
      count += args[1][item * steps[1] + i * steps[4]] != 0 ? 1 : 0;
    store_value(args[2] + item * steps[2], count);
  }
}

TEST(StateReduce, MaskWithoutTheIndexOfTheFirstElement) {
  const guf_ufunc block_function =
      make_part("test_included", "(n),(n)->()", 2, 1, GUF_FUNCTION_ACCEPTS_EMPTY,
                {GUF_F64, GUF_BOOL, GUF_F64}, count_included);
  ASSERT_EQ(set_parts(block_function, find_ufunc("add"), nullptr), GUF_OK);
  const std::vector<double> data(2 * 300, 1);
  std::vector<uint8_t> mask(300, 1);
  mask[200] = mask[299] = 0;
  Reduce reduce(block_function, matrix(GUF_F64, data, 2, 300));
  reduce.axes({1});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<double>(reduce.output), (std::vector<double>{300, 300}));
  Reduce masked(block_function, matrix(GUF_F64, data, 2, 300));
  masked.axes({1});
  masked.args.where = masked.tensor({GUF_BOOL, mask.data(), {300}, {}, 0});
  ASSERT_EQ(masked.run(), GUF_OK) << masked.error.message;
  EXPECT_EQ(elements_of<double>(masked.output), (std::vector<double>{298, 298}));
  guf_ufunc_release(block_function, nullptr);
}

TEST(StateReduce, PartsThatDoNotFitAreRefused) {
  const guf_ufunc add = find_ufunc("add");
  guf_error error = fresh_error();
  EXPECT_EQ(set_parts(add, add, nullptr, &error), GUF_E_SIGNATURE);  // no block function
  const guf_ufunc block_function = make_part("test_pair_block", "(n),()->(),()", 2, 2, 0,
                                             {GUF_F64, GUF_I64, GUF_F64, GUF_I64}, take_first);
  EXPECT_EQ(set_parts(block_function, add, nullptr, &error), GUF_E_SIGNATURE);  // no merge function
  EXPECT_EQ(set_parts(block_function, nullptr, nullptr, &error), GUF_E_ARG);
  const guf_ufunc merge =
      make_part("test_pair_merge", nullptr, 4, 2, 0,
                {GUF_F32, GUF_I64, GUF_F32, GUF_I64, GUF_F32, GUF_I64}, take_left);
  // `negative` does not have the signature of a function that finishes an accumulator.
  EXPECT_EQ(set_parts(block_function, merge, find_ufunc("negative"), &error), GUF_E_SIGNATURE);
  ASSERT_EQ(set_parts(block_function, merge, nullptr, &error), GUF_OK);
  const std::vector<double> data(4, 1);
  StateReduce reduce(block_function, {GUF_F64, data.data(), {4}, {}, 0}, 2);
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);  // `merge` has no loop with the dtypes dqdq
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

// Finds the latest element and its index. The signature is (n),()->(),().
void latest_of_block(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    const char *const elements = args[0] + item * steps[0];
    int64_t best = load_value<int64_t>(elements), place = 0;
    for (int64_t i = 1; i < dims[1]; ++i) {
      const auto value = load_value<int64_t>(elements + i * steps[4]);
      if (value > best) best = value, place = i;
    }
    store_value(args[2] + item * steps[2], best);
    store_value(args[3] + item * steps[3], place + load_value<int64_t>(args[1] + item * steps[1]));
  }
}
void latest_merge(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    const bool second = load_value<int64_t>(at(2)) > load_value<int64_t>(at(0));
    std::memmove(at(4), at(second ? 2 : 0), 8);
    std::memmove(at(5), at(second ? 3 : 1), 8);
  }
}

TEST(StateTypes, DatetimesOfAnyUnit) {
  const guf_ufunc block_function =
      make_part("test_latest", "(n),()->(),()", 2, 2, 0,
                {GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64}, latest_of_block);
  const guf_ufunc merge = make_part(
      "test_latest_merge", nullptr, 4, 2, 0,
      {GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64}, latest_merge);
  ASSERT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
  std::vector<int64_t> days(1000);
  for (size_t i = 0; i < days.size(); ++i) days[i] = static_cast<int64_t>(i * 37 % 1000);
  for (const int32_t unit : {GUF_UNIT_DAY, GUF_UNIT_NANOSECOND}) {
    guf_dtype type = 0;
    ASSERT_EQ(guf_dtype_make_time(GUF_DATETIME64, unit, 7, &type, nullptr), GUF_OK);
    StateReduce reduce(block_function, {type, days.data(), {1000}, {}, 0}, 2);
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(info_of(reduce.results[0]).dtype, type);
    EXPECT_EQ(elements_of<int64_t>(reduce.results[0])[0], 999);
    EXPECT_EQ(elements_of<int64_t>(reduce.results[1])[0], 27);  // 27 * 37 == 999
  }
  StateReduce empty(block_function, {GUF_DATETIME64, days.data(), {0}, {}, 0}, 2);
  EXPECT_EQ(empty.run(), GUF_E_VALUE);
  EXPECT_STREQ(empty.error.message, "attempt to get test_latest of an empty sequence");
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

struct Point {
  float x, y;
  int32_t weight;
};

// Adds points, and returns the sum as a point. The signature is (n)->().
void sum_points(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    Point sum = {0, 0, 0};
    for (int64_t i = 0; i < dims[1]; ++i) {
      const auto point = load_value<Point>(args[0] + item * steps[0] + i * steps[2]);
      sum = {sum.x + point.x, sum.y + point.y, sum.weight + point.weight};
    }
    store_value(args[1] + item * steps[1], sum);
  }
}
void add_points(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto a = load_value<Point>(args[0] + i * steps[0]);
    const auto b = load_value<Point>(args[1] + i * steps[1]);
    store_value(args[2] + i * steps[2], Point{a.x + b.x, a.y + b.y, a.weight + b.weight});
  }
}
void weigh(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto point = load_value<Point>(args[0] + i * steps[0]);
    store_value(args[1] + i * steps[1], static_cast<double>(point.weight));
  }
}

TEST(StateTypes, StructsAsElementsAndAsState) {
  guf_dtype point = 0;
  ASSERT_EQ(guf_dtype_register("test_state_point", sizeof(Point), alignof(Point), &point, nullptr),
            GUF_OK);
  const guf_ufunc block_function =
      make_part("test_sum_points", "(n)->()", 1, 1, 0, {point, point}, sum_points);
  const guf_ufunc merge =
      make_part("test_add_points", nullptr, 2, 1, 0, {point, point, point}, add_points);
  const guf_ufunc finish = make_part("test_weigh", nullptr, 1, 1, 0, {point, GUF_F64}, weigh);
  ASSERT_EQ(set_parts(block_function, merge, finish), GUF_OK);
  std::vector<Point> points(2 * 500);
  for (size_t i = 0; i < points.size(); ++i) points[i].weight = static_cast<int32_t>(i);
  StateReduce reduce(block_function, {point, points.data(), {500, 2}, {}, 0}, 1);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<double>(reduce.results[0]), (std::vector<double>{249500, 250000}));
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
  guf_ufunc_release(finish, nullptr);
}

TEST(StateTypes, PartsOfOtherUnitsOrDtypesAreRefused) {
  guf_dtype one = 0, other = 0;
  ASSERT_EQ(guf_dtype_register("test_state_one", 8, 8, &one, nullptr), GUF_OK);
  ASSERT_EQ(guf_dtype_register("test_state_other", 8, 8, &other, nullptr), GUF_OK);
  const guf_ufunc block_function =
      make_part("test_one_block", "(n)->()", 1, 1, 0, {one, one}, sum_points);
  const guf_ufunc merge =
      make_part("test_merge_other", nullptr, 2, 1, 0, {other, other, other}, add_points);
  ASSERT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
  const int64_t data[2] = {1, 2};
  StateReduce reduce(block_function, {one, data, {2}, {}, 0}, 1);
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "test_merge_other, the function to merge accumulators, has no loop for exactly "
               "test_state_one, test_state_one");
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

void sum_block(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    double sum = 0;
    for (int64_t i = 0; i < dims[1]; ++i)
      sum += load_value<double>(args[0] + item * steps[0] + i * steps[2]);
    store_value(args[1] + item * steps[1], sum);
  }
}
void sum_merge(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    store_value(at(2), load_value<double>(at(0)) + load_value<double>(at(1)));
  }
}

TEST(StateFpFlags, AreThoseOfThePartsAndFailAtTheEnd) {
  const guf_ufunc block_function =
      make_part("test_sum_block", "(n)->()", 1, 1, 0, {GUF_F64, GUF_F64}, sum_block);
  const guf_ufunc merge =
      make_part("test_sum_merge", nullptr, 2, 1, 0, {GUF_F64, GUF_F64, GUF_F64}, sum_merge);
  ASSERT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
  std::vector<double> data(256, 0);
  data[0] = data[128] = 1e308;  // two elements in different base blocks
  double result = 0;
  uint32_t fp_flags = 0;
  StateReduce reduce(block_function, {GUF_F64, data.data(), {256}, {}, 0}, 1);
  reduce.results[0] = *reduce.tensor({GUF_F64, &result, {}, {}, 0});
  reduce.args.options.fp_flags = &fp_flags;
  reduce.args.options.fp_report = reduce.args.options.fp_fail = GUF_FP_OVERFLOW | GUF_FP_INVALID;
  EXPECT_EQ(reduce.run(), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(reduce.error.message, "overflow encountered in test_sum_merge");
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
  EXPECT_TRUE(std::isinf(result)) << "the work was done";
  data[128] = 0;
  EXPECT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  guf_ufunc_release(block_function, nullptr);
  guf_ufunc_release(merge, nullptr);
}

}  // namespace

}  // namespace gufunc

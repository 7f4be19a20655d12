// SPDX-License-Identifier: Apache-2.0
// Tests loops with the dtypes X, Y -> X. Their reduce combines elements of Y into an X, as in
// NumPy's ldexp.reduce. accumulate and reduceat reject these loops.
#include <cmath>
#include <random>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

template <class T>
T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Computes f * 2^i. Counts elements if `user` is not NULL.
void scale(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  if (user != nullptr) *static_cast<int64_t *>(user) += dims[0];
  for (int64_t n = 0; n < dims[0]; ++n) {
    const double value = std::ldexp(load<double>(args[0] + n * steps[0]),
                                    static_cast<int>(load<int32_t>(args[1] + n * steps[1])));
    std::memcpy(args[2] + n * steps[2], &value, sizeof value);
  }
}

guf_status refuse_seven(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t n = 0; n < dims[0]; ++n) {
    if (load<int32_t>(args[1] + n * steps[1]) == 7) return GUF_E_VALUE;
  }
  scale(args, dims, steps, nullptr);
  return GUF_OK;
}

// Computes 3 f + i, which is neither commutative nor associative.
void mix(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t n = 0; n < dims[0]; ++n) {
    const float value =
        3 * load<float>(args[0] + n * steps[0]) + load<int16_t>(args[1] + n * steps[1]);
    std::memcpy(args[2] + n * steps[2], &value, sizeof value);
  }
}

guf_ufunc make_ufunc(const char *name, int32_t identity, const guf_loop_desc &loop) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = 2;
  desc.nout = 1;
  desc.identity = identity;
  // These flags are wrong for a mixed loop, and must have no effect.
  desc.flags = GUF_FUNCTION_COMMUTATIVE | GUF_FUNCTION_ASSOCIATIVE;
  desc.name = name;
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, nullptr), GUF_OK);
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &loop, nullptr), GUF_OK);
  return ufunc;
}

guf_loop_desc loop_of(const guf_dtype *types, guf_loop_numpy function) {
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.ntypes = 3;
  loop.types = types;
  loop.numpy = function;
  loop.flags = GUF_LOOP_ANY_THREAD;
  return loop;
}

const guf_dtype kScale[] = {GUF_F64, GUF_I32, GUF_F64};
const guf_dtype kMix[] = {GUF_F32, GUF_I16, GUF_F32};

guf_ufunc scaler() {
  static const guf_ufunc ufunc =
      make_ufunc("test_scale", GUF_IDENTITY_NONE, loop_of(kScale, scale));
  return ufunc;
}
guf_ufunc mixer() {
  static const guf_ufunc ufunc =
      make_ufunc("test_mix", GUF_IDENTITY_REORDERABLE, loop_of(kMix, mix));
  return ufunc;
}

TEST(ReduceMixed, FirstElementIsTheFirstOperand) {
  const std::vector<int32_t> data = {1, 2, 3};
  Reduce reduce(scaler(), {GUF_I32, data.data(), {3}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(info_of(reduce.output).dtype, static_cast<guf_dtype>(GUF_F64));
  EXPECT_EQ(elements_of<double>(reduce.output), std::vector<double>({32}));
}

TEST(ReduceMixed, InitialMaskAndKeepdims) {
  const std::vector<int32_t> data = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> mask = {1, 0, 1, 0, 0, 0};
  Reduce reduce(scaler(), matrix(GUF_I32, data, 2, 3));
  reduce.axes({1});
  reduce.args.flags = GUF_CALL_KEEPDIMS;
  reduce.args.where = reduce.tensor(matrix(GUF_BOOL, mask, 2, 3));
  EXPECT_EQ(reduce.run(), GUF_E_VALUE);
  EXPECT_STREQ(reduce.error.message,
               "reduction operation 'test_scale' does not have an identity, so to use a where mask "
               "one has to specify 'initial'");
  reduce.args.initial = reduce.weak_float(1.5);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(info_of(reduce.output).ndim, 2);
  EXPECT_EQ(elements_of<double>(reduce.output), std::vector<double>({24, 1.5}));
}

// As in NumPy, the first element is cast to the dtype of the output before the loop runs.
TEST(ReduceMixed, FirstElementGoesThroughTheOutputsType) {
  const std::vector<int32_t> data = {300, 1};
  int8_t out = 0;
  Reduce reduce(scaler(), {GUF_I32, data.data(), {2}, {}, 0});
  reduce.into({GUF_I8, &out, {}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_NE(out, 0);
  double whole = 0;
  Reduce exact(scaler(), {GUF_I32, data.data(), {2}, {}, 0});
  exact.into({GUF_F64, &whole, {}, {}, 0});
  ASSERT_EQ(exact.run(), GUF_OK);
  EXPECT_EQ(whole, 600);
}

TEST(ReduceMixed, EmptyAxesNeedAValue) {
  const std::vector<int32_t> data = {0};
  Reduce reduce(scaler(), {GUF_I32, data.data(), {0}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_VALUE);
  EXPECT_STREQ(reduce.error.message,
               "zero-size array to reduction operation test_scale which has no identity");
  reduce.args.initial = reduce.weak_int(3);
  ASSERT_EQ(reduce.run(), GUF_OK);
  EXPECT_EQ(elements_of<double>(reduce.output), std::vector<double>({3}));
}

TEST(ReduceMixed, OthersRefuseAsNumPyDoes) {
  const std::vector<int32_t> data = {1, 2, 3};
  const std::vector<int64_t> indices = {0, 1};
  Accumulate scan(scaler(), {GUF_I32, data.data(), {3}, {}, 0});
  EXPECT_EQ(scan.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(scan.error.message,
               "the resolved dtypes are not compatible with test_scale.accumulate. Resolved "
               "(dtype('float64'), dtype('int32'), dtype('float64'))");
  EXPECT_EQ(scan.run_at({GUF_I64, indices.data(), {2}, {}, 0}), GUF_E_NO_LOOP);
  EXPECT_STREQ(scan.error.message,
               "the resolved dtypes are not compatible with test_scale.reduceat. Resolved "
               "(dtype('float64'), dtype('int32'), dtype('float64'))");
  const std::vector<double> real = {1, 2};
  Reduce no_loop(scaler(), {GUF_F64, real.data(), {2}, {}, 0});
  EXPECT_EQ(no_loop.run(), GUF_E_NO_LOOP);
}

TEST(ReduceMixed, AFailingLoopFailsTheCallAndSeesNoMaskedElement) {
  guf_loop_desc loop = loop_of(kScale, nullptr);
  loop.kind = GUF_LOOP_STATUS;
  loop.status = refuse_seven;
  const guf_ufunc ufunc = make_ufunc("test_refuse_seven", GUF_IDENTITY_NONE, loop);
  const std::vector<int32_t> data = {1, 7, 2};
  const std::vector<uint8_t> mask = {1, 0, 1};
  Reduce reduce(ufunc, {GUF_I32, data.data(), {3}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_VALUE);
  reduce.args.initial = reduce.weak_int(1);
  reduce.args.where = reduce.tensor({GUF_BOOL, mask.data(), {3}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<double>(reduce.output), std::vector<double>({8}));
  guf_ufunc_release(ufunc, nullptr);
}

// A random number generator for cases with random dtype, alignment and order of axes.
struct Random {
  std::mt19937 engine{20250607};
  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }
};

struct Sample {
  std::vector<int64_t> shape = {1, 1, 1}, strides = {0, 0, 0};
  std::vector<unsigned char> bytes;
  bool small = false;  // the elements are int8 and require a cast
  std::vector<bool> folded = {false, false, false};

  int64_t at(int64_t i, int64_t j, int64_t k) const {
    const unsigned char *from =
        bytes.data() + i * strides[0] + j * strides[1] + k * strides[2] + (small ? 0 : 1);
    if (small) return static_cast<signed char>(*from);
    int16_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};

Sample random_sample(Random &random) {
  Sample sample;
  sample.small = random.below(2) == 0;
  int64_t size = 1;
  for (int64_t &extent : sample.shape) {
    extent = 1 + random.below(size < 100 && random.below(3) == 0 ? 300 : 6);
    size *= extent;
  }
  int64_t stride = sample.small ? 1 : 2 + 2 * random.below(2);
  int order[3] = {0, 1, 2};
  std::shuffle(order, order + 3, random.engine);
  for (const int axis : order) {
    const auto place = static_cast<size_t>(axis);
    sample.strides[place] = stride;
    stride *= sample.shape[place];
  }
  sample.bytes.resize(static_cast<size_t>(stride) + 2);
  for (unsigned char &byte : sample.bytes) byte = static_cast<unsigned char>(random.engine());
  for (int axis = 0; axis < 3; ++axis) {
    sample.folded[static_cast<size_t>(axis)] = random.below(2) == 0;
  }
  return sample;
}

std::vector<float> folded_slowly(const Sample &sample) {
  std::vector<float> results;
  std::vector<bool> begun;
  for (int64_t i = 0; i < sample.shape[0]; ++i) {
    for (int64_t j = 0; j < sample.shape[1]; ++j) {
      for (int64_t k = 0; k < sample.shape[2]; ++k) {
        size_t place = 0;
        const int64_t index[3] = {i, j, k};
        for (size_t axis = 0; axis < 3; ++axis) {
          if (sample.folded[axis]) continue;
          place =
              place * static_cast<size_t>(sample.shape[axis]) + static_cast<size_t>(index[axis]);
        }
        if (place >= results.size()) {
          results.resize(place + 1);
          begun.resize(place + 1);
        }
        const auto element = static_cast<float>(sample.at(i, j, k));
        results[place] = begun[place] ? 3 * results[place] + element : element;
        begun[place] = true;
      }
    }
  }
  return results;
}

TEST(ReduceMixed, IsALeftFoldInCOrderWhateverTheLayoutAndThreads) {
  Random random;
  for (int n = 0; n < 300; ++n) {
    const Sample sample = random_sample(random);
    const std::vector<float> right = folded_slowly(sample);
    for (const uint32_t threads : {1U, 5U}) {
      Reduce reduce(
          mixer(), {sample.small ? guf_dtype{GUF_I8} : guf_dtype{GUF_I16},
                    sample.bytes.data() + (sample.small ? 0 : 1), sample.shape, sample.strides, 0});
      std::vector<int64_t> axes;
      for (size_t axis = 0; axis < 3; ++axis) {
        if (sample.folded[axis]) axes.push_back(static_cast<int64_t>(axis));
      }
      reduce.axes(axes);
      reduce.args.options.threads = threads;
      ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
      const std::vector<float> found = elements_of<float>(reduce.output);
      ASSERT_EQ(found.size(), right.size());
      ASSERT_EQ(std::memcmp(found.data(), right.data(), right.size() * sizeof(float)), 0) << n;
    }
  }
}

}  // namespace
}  // namespace gufunc

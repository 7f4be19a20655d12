// SPDX-License-Identifier: Apache-2.0
// Tests that the details of guf_loop_error reach the caller, however the loop is run.
#include <cstdio>
#include <cstring>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

constexpr int32_t kNative = 42;

// Adds nonnegative numbers. If a number is negative, the loop fails and reports a status, operand,
// axis and native code.
guf_status add_positive(char **args, const int64_t *dims, const int64_t *steps, void *user,
                        guf_error *error) {
  if (error->struct_size != sizeof *error || error->status != GUF_OK || error->argument != -1 ||
      error->axis != -1 || error->native_code != 0 || error->message[0] != '\0') {
    return GUF_E_INTERNAL;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    double sum = 0;
    for (int32_t k = 0; k < 2; ++k) {
      double value;
      std::memcpy(&value, args[k] + i * steps[k], sizeof value);
      sum += value;
      if (value >= 0) continue;
      error->argument = k;
      error->axis = 7;
      error->native_code = kNative;
      std::snprintf(error->message, sizeof error->message, "the value %g is negative", value);
      return *static_cast<guf_status *>(user);
    }
    std::memcpy(args[2] + i * steps[2], &sum, sizeof sum);
  }
  return GUF_OK;
}

class LoopError : public testing::Test {
 public:
  void SetUp() override {
    guf_error error = fresh_error();
    guf_ufunc_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.nin = 2;
    desc.nout = 1;
    desc.name = "add_positive";
    ASSERT_EQ(guf_context_create(0, &context_, &error), GUF_OK);
    ASSERT_EQ(guf_ufunc_create(context_, &desc, &ufunc_, &error), GUF_OK) << error.message;
    const guf_dtype types[] = {GUF_F64, GUF_F64, GUF_F64};
    guf_loop_desc loop = {};
    loop.struct_size = sizeof loop;
    loop.kind = GUF_LOOP_ERROR;
    loop.flags = GUF_LOOP_ANY_THREAD;
    loop.ntypes = 3;
    loop.types = types;
    loop.error = add_positive;
    loop.user = &returned_;
    ASSERT_EQ(guf_ufunc_add_loop(ufunc_, &loop, &error), GUF_OK) << error.message;
  }
  void TearDown() override {
    guf_ufunc_release(ufunc_, nullptr);
    guf_context_release(context_, nullptr);
  }

  static void expect(guf_status status, const guf_error &error, int32_t argument,
                     const char *text) {
    EXPECT_EQ(status, GUF_E_INDEX);
    EXPECT_EQ(error.status, GUF_E_INDEX);
    EXPECT_EQ(error.argument, argument);
    EXPECT_EQ(error.axis, 7);
    EXPECT_EQ(error.native_code, kNative);
    EXPECT_STREQ(error.message, text);
  }

  guf_context context_ = nullptr;
  guf_ufunc ufunc_ = nullptr;
  guf_status returned_ = GUF_E_INDEX;
};

TEST_F(LoopError, OfACall) {
  const std::vector<double> x = {1, 2, 3}, y = {4, -5, 6};
  std::vector<double> z(3);
  Call call(ufunc_);
  call.in(view(GUF_F64, x)).in(view(GUF_F64, x)).out(view(GUF_F64, z));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(z, std::vector<double>({2, 4, 6}));
  Call failing(ufunc_);
  failing.in(view(GUF_F64, x)).in(view(GUF_F64, y)).out(view(GUF_F64, z));
  expect(failing.run(), failing.error, 1, "the value -5 is negative");
}

TEST_F(LoopError, OfACallWithCastsAndFpFlags) {
  const std::vector<int8_t> x = {1, -2, 3};
  std::vector<double> z(3);
  uint32_t fp_flags = 0;
  Call failing(ufunc_);
  failing.args.options.fp_report = GUF_FP_INVALID;
  failing.args.options.fp_flags = &fp_flags;
  failing.in(view(GUF_I8, x)).in(view(GUF_I8, x)).out(view(GUF_F64, z));
  expect(failing.run(), failing.error, 0, "the value -2 is negative");
}

TEST_F(LoopError, OfThreadsIsThatOfTheFirstElement) {
  std::vector<double> x(1 << 20, 1), z(x.size());
  for (size_t i = 700; i < x.size(); i += 997) x[i] = -static_cast<double>(i);
  for (int repeat = 0; repeat < 5; ++repeat) {
    Call failing(ufunc_);
    failing.in(view(GUF_F64, x)).in(view(GUF_F64, x)).out(view(GUF_F64, z));
    expect(failing.run(), failing.error, 0, "the value -700 is negative");
  }
}

TEST_F(LoopError, OfAStreamComesWithItsSynchronize) {
  guf_error error = fresh_error();
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, &error), GUF_OK);
  const std::vector<double> x = {1, -2, 3};
  std::vector<double> z(3);
  Call failing(ufunc_);
  failing.args.options.stream = stream;
  failing.in(view(GUF_F64, x)).in(view(GUF_F64, x)).out(view(GUF_F64, z));
  EXPECT_EQ(failing.run(), GUF_OK) << failing.error.message;
  expect(guf_stream_synchronize(stream, UINT64_MAX, &error), error, 0,
         "the value -2 is negative; launch 1 of the stream");
  EXPECT_EQ(guf_stream_release(stream, nullptr), GUF_OK);
}

TEST_F(LoopError, OfMethods) {
  std::vector<double> x = {1, 2, -3, 4};
  const char *const text = "the value -3 is negative";
  Reduce reduce(ufunc_, view(GUF_F64, x));
  expect(reduce.run(), reduce.error, 1, text);
  Accumulate accumulate(ufunc_, view(GUF_F64, x));
  expect(accumulate.run(), accumulate.error, 1, text);
  const std::vector<int64_t> indices = {1, 2};
  Accumulate reduceat(ufunc_, view(GUF_F64, x));
  expect(reduceat.run_at(view(GUF_I64, indices)), reduceat.error, 0, text);
  guf_at_args at = {};
  at.struct_size = sizeof at;
  Operands operands;
  at.array = operands.tensor(view(GUF_F64, x));
  at.indices = operands.tensor({GUF_I64, indices.data(), {1}, {}, 0});
  at.nindices = 1;
  guf_error error = fresh_error();
  x = {-3, 2, 1, 4};
  at.operand = operands.tensor({GUF_F64, x.data(), {1}, {}, 0});
  expect(guf_at(ufunc_, &at, &error), error, 1, text);
}

TEST_F(LoopError, OfNoErrorCodeIsALoopsError) {
  const std::vector<double> x = {-1};
  std::vector<double> z(1);
  returned_ = GUF_TIMEOUT;
  Call failing(ufunc_);
  failing.in(view(GUF_F64, x)).in(view(GUF_F64, x)).out(view(GUF_F64, z));
  EXPECT_EQ(failing.run(), GUF_E_LOOP);
  EXPECT_EQ(failing.error.status, GUF_E_LOOP);
  EXPECT_EQ(failing.error.native_code, kNative);
  EXPECT_STREQ(failing.error.message, "the value -1 is negative");
}

// A loop that always fails. If the first byte of the input is not 0, the loop fills the whole
// message of the error record, without a NUL; otherwise it leaves the record unchanged.
guf_status shout(char **args, const int64_t *, const int64_t *, void *, guf_error *error) {
  if (args[0][0] != 0) std::memset(error->message, 'A', sizeof error->message);
  return GUF_E_VALUE;
}

TEST_F(LoopError, NeedsNoTextAndNoEndOfIt) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = 1;
  desc.name = "shout";
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(context_, &desc, &ufunc, nullptr), GUF_OK);
  const guf_dtype type = GUF_U8;
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_ERROR;
  loop.ntypes = 1;
  loop.types = &type;
  loop.error = shout;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, nullptr), GUF_OK);
  const std::vector<uint8_t> loud = {1}, quiet = {0};
  Call first(ufunc), second(ufunc);
  first.in(view(GUF_U8, loud));
  EXPECT_EQ(first.run(), GUF_E_VALUE);
  EXPECT_EQ(first.error.message, std::string(sizeof first.error.message - 1, 'A'));
  EXPECT_EQ(first.error.argument, -1);
  second.in(view(GUF_U8, quiet));
  EXPECT_EQ(second.run(), GUF_E_VALUE);
  EXPECT_STREQ(second.error.message, "a loop failed with status 304");
  EXPECT_EQ(guf_ufunc_release(ufunc, nullptr), GUF_OK);
}

}  // namespace
}  // namespace gufunc

// SPDX-License-Identifier: Apache-2.0
// Tests the program's callback for core dimensions. The callback runs on every call, resolution and
// plan creation. It sets sizes that only outputs have, or returns an error with its own message.
#include <cstdio>
#include <cstring>

#include "tests/support/requests.h"
#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

struct Log {
  int calls = 0;
  int destroyed = 0;
  std::vector<int64_t> sizes;
};

// Handles (m),(n)->(p) with p = m + n - 1, and rejects m = 0 and n = 0, like the function
// conv1d_full among NumPy's examples.
guf_status full(int32_t ndims, int64_t *sizes, void *user, guf_error *error) {
  Log *const log = static_cast<Log *>(user);
  if (log != nullptr) {
    ++log->calls;
    log->sizes.assign(sizes, sizes + ndims);
  }
  if (sizes[0] == 0 || sizes[1] == 0) {
    std::snprintf(error->message, sizeof error->message, "conv1d: both inputs need elements");
    error->argument = sizes[0] == 0 ? 0 : 1;
    return GUF_E_VALUE;
  }
  const int64_t expected = sizes[0] + sizes[1] - 1;
  if (sizes[2] == -1) sizes[2] = expected;
  if (sizes[2] == expected) return GUF_OK;
  std::snprintf(error->message, sizeof error->message, "conv1d: p: expected %lld, got %lld",
                static_cast<long long>(expected), static_cast<long long>(sizes[2]));
  return GUF_E_SHAPE;
}

guf_status misbehaves(int32_t, int64_t *sizes, void *user, guf_error *) {
  switch (*static_cast<int *>(user)) {
    case 0:
      return 7;  // not an error status
    case 1:
      sizes[0] += 1;
      return GUF_OK;
    case 2:
      sizes[2] = -5;
      return GUF_OK;
    case 3:
      return GUF_E_SHAPE;  // an error without a message
    case 4:
      return 123456;  // not a valid status
    default:
      return GUF_OK;  // does not set p
  }
}

void convolve(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    for (int64_t k = 0; k < dims[3]; ++k) {
      double sum = 0;
      for (int64_t i = 0; i < dims[1]; ++i) {
        const int64_t j = k - i;
        if (j < 0 || j >= dims[2]) continue;
        double a, b;
        std::memcpy(&a, args[0] + item * steps[0] + i * steps[3], sizeof a);
        std::memcpy(&b, args[1] + item * steps[1] + j * steps[4], sizeof b);
        sum += a * b;
      }
      std::memcpy(args[2] + item * steps[2] + k * steps[5], &sum, sizeof sum);
    }
  }
}

guf_ufunc make(const char *name, guf_core_dims_fn hook, void *user, guf_destroy_fn destroy) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.name = name;
  desc.signature = "(m),(n)->(p)";
  desc.core_dims = hook;
  desc.user = user;
  desc.destroy = destroy;
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, nullptr), GUF_OK);
  const guf_dtype types[] = {GUF_F64, GUF_F64, GUF_F64};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.ntypes = 3;
  loop.types = types;
  loop.numpy = convolve;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &loop, nullptr), GUF_OK);
  return ufunc;
}

const std::vector<double> kLong = {1, 2, 3}, kShort = {1, 10};

// A call without an output. give() gives the call an output.
struct Convolution : Call {
  explicit Convolution(guf_ufunc ufunc, int64_t nshort = 2) : Call(ufunc) {
    in(view(GUF_F64, kLong)).in({GUF_F64, kShort.data(), {nshort}, {}, 0}).out_missing();
    ready();
  }
  void give() { outputs[0] = *kept.tensor({GUF_F64, result, {4}, {}, 0}); }

  double result[8] = {};
  Operands kept;
};

TEST(CoreDimsHook, FillsTheOutputsSize) {
  Log log;
  const guf_ufunc ufunc =
      make("test_conv", full, &log, [](void *user) { ++static_cast<Log *>(user)->destroyed; });
  Convolution call(ufunc);
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(log.sizes, std::vector<int64_t>({3, 2, -1}));
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(call.outputs[0].array, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.shape[0], 4);
  double found[4];
  ASSERT_EQ(guf_array_copy_to_host(call.outputs[0].array, found, sizeof found, GUF_ORDER_C, nullptr,
                                   nullptr),
            GUF_OK);
  EXPECT_EQ(found[1], 12);
  guf_array_release(call.outputs[0].array, nullptr);
  // The callback runs again, because its sizes are not cached.
  Convolution given(ufunc);
  given.give();
  ASSERT_EQ(given.run(), GUF_OK) << given.error.message;
  EXPECT_EQ(log.sizes, std::vector<int64_t>({3, 2, 4}));
  EXPECT_EQ(given.result[3], 30);
  Convolution requested(ufunc);
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  ASSERT_EQ(requests::resolve_call(ufunc, &requested.args, &resolution, &requested.error), GUF_OK);
  EXPECT_EQ(resolution.output_shapes[0][0], 4);
  EXPECT_EQ(log.calls, 3);
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(ufunc, &given.args, &plan, &given.error), GUF_OK);
  EXPECT_EQ(log.calls, 4);
  guf_plan_release(plan, nullptr);
  const guf_dim wrong = {"p", 9};
  requested.args.dims = &wrong;
  requested.args.ndims = 1;
  EXPECT_EQ(requested.run(), GUF_E_SHAPE);
  EXPECT_STREQ(requested.error.message, "conv1d: p: expected 4, got 9");
  EXPECT_EQ(log.destroyed, 0);
}

TEST(CoreDimsHook, ItsRefusalIsTheCalls) {
  const guf_ufunc ufunc = make("test_conv_refuses", full, nullptr, nullptr);
  Convolution call(ufunc, 0);
  EXPECT_EQ(call.run(), GUF_E_VALUE);
  EXPECT_STREQ(call.error.message, "conv1d: both inputs need elements");
  EXPECT_EQ(call.error.argument, 1);
  EXPECT_EQ(call.outputs[0].kind, GUF_OPERAND_NONE);
  guf_ufunc_release(ufunc, nullptr);
}

TEST(CoreDimsHook, MayNotChangeKnownSizes) {
  int kind = 0;
  const guf_ufunc ufunc = make("test_conv_misbehaves", misbehaves, &kind, nullptr);
  const guf_status expected[] = {GUF_E_LOOP,  GUF_E_SHAPE, GUF_E_SHAPE,
                                 GUF_E_SHAPE, GUF_E_LOOP,  GUF_E_SHAPE};
  const char *const texts[] = {
      "returned 7, which is not an error",        "set m to 4; expected 3, got 4",
      "set p to -5; expected at least 0, got -5", "refused the sizes",
      "returned 123456, which is not an error",   "has core dimension 0 unspecified"};
  for (kind = 0; kind < 6; ++kind) {
    Convolution call(ufunc);
    EXPECT_EQ(call.run(), expected[kind]);
    EXPECT_NE(std::strstr(call.error.message, texts[kind]), nullptr) << call.error.message;
  }
  guf_ufunc_release(ufunc, nullptr);
}

TEST(CoreDimsHook, NeedsASignature) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.name = "test_hook_elementwise";
  desc.nin = desc.nout = 1;
  desc.core_dims = full;
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, nullptr), GUF_E_ARG);
  desc.core_dims = nullptr;
  desc.user = &desc;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, nullptr), GUF_E_ARG);
}

}  // namespace
}  // namespace gufunc

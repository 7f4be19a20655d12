// SPDX-License-Identifier: Apache-2.0
// Tests that the next synchronize call reports a failure of queued work, even if other calls are
// made between the failure and the synchronize call.
#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

guf_status fail_always(char **, const int64_t *, const int64_t *, void *) {
  return GUF_E_VALUE;
}

// The second call fails on the host. This failure must not clear the failure of the queued work.
TEST(StreamFailures, SurviveACallThatIsRefused) {
  guf_error error = {};
  error.struct_size = sizeof error;
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, &error), GUF_OK);
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = desc.nout = 1;
  desc.name = "fail_always";
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  const guf_dtype types[] = {GUF_F64, GUF_F64};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_STATUS;
  loop.ntypes = 2;
  loop.types = types;
  loop.status = fail_always;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error), GUF_OK) << error.message;
  std::vector<double> x = {1, 2, 3};
  std::vector<double> z(3);
  Call failing(ufunc);
  failing.args.options.stream = stream;
  failing.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  EXPECT_EQ(failing.run(), GUF_OK) << failing.error.message;
  Call refused("add");  // the output would need more memory than any machine has
  refused.args.options.stream = stream;
  const int64_t too_many = int64_t{1} << 50;
  refused.in({GUF_F64, x.data(), {too_many, 1}, {0, 8}, 0})
      .in({GUF_F64, x.data(), {3}, {}, 0})
      .out_missing();
  EXPECT_NE(refused.run(), GUF_OK);
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_E_VALUE);
  EXPECT_EQ(guf_stream_release(stream, &error), GUF_OK);
}

}  // namespace
}  // namespace gufunc

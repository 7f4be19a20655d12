// SPDX-License-Identifier: Apache-2.0
// A program captures its own stream with the functions of the vendor. The library, which does not
// know about the capture, queues work on this stream and must not break the capture.
#include <dlfcn.h>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;

class ForeignCapture : public Devices {
 protected:
  template <class Function>
  Function driver(const char *cuda, const char *hip) {
    const char *const name = backend_ == "cuda" ? cuda : hip;
    const auto found = reinterpret_cast<Function>(dlsym(sim().library, name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  void SetUp() override {
    uint64_t native = 0;
    ASSERT_EQ(guf_stream_get_native(nullptr, stream(device_), &native, &error_), GUF_OK);
    native_ = reinterpret_cast<void *>(native);
    ASSERT_EQ(guf_stream_adopt(device_, native, 0, &adopted_, &error_), GUF_OK) << error_.message;
    streams_.push_back(adopted_);
  }
  // Begins a capture. During the capture, the driver forbids functions that could disturb the
  // capture: in all threads if `mode` is 0, in this thread if `mode` is 1, and in no thread if
  // `mode` is 2.
  void begin(int mode) {
    const Current current(sim(), 0);
    const auto function =
        driver<int (*)(void *, int)>("cuStreamBeginCapture_v2", "hipStreamBeginCapture");
    ASSERT_EQ(function(native_, mode), 0);
  }
  // Ends the capture, and runs the work of the graph once.
  void end_and_run() {
    const Current current(sim(), 0);
    void *graph = nullptr, *made = nullptr;
    ASSERT_EQ((driver<int (*)(void *, void **)>("cuStreamEndCapture", "hipStreamEndCapture")(
                  native_, &graph)),
              0);
    if (backend_ == "cuda") {
      ASSERT_EQ((driver<int (*)(void **, void *, unsigned long long)>("cuGraphInstantiateWithFlags",
                                                                      "")(&made, graph, 0)),
                0);
    } else {
      ASSERT_EQ((driver<int (*)(void **, void *, void *, char *, size_t)>(
                    "", "hipGraphInstantiate")(&made, graph, nullptr, nullptr, 0)),
                0);
    }
    ASSERT_EQ((driver<int (*)(void *, void *)>("cuGraphLaunch", "hipGraphLaunch")(made, native_)),
              0);
    synchronize(adopted_);
    EXPECT_EQ((driver<int (*)(void *)>("cuGraphExecDestroy", "hipGraphExecDestroy")(made)), 0);
    EXPECT_EQ((driver<int (*)(void *)>("cuGraphDestroy", "hipGraphDestroy")(graph)), 0);
  }

  const guf_device device_ = device(0);
  guf_stream adopted_ = nullptr;
  void *native_ = nullptr;
};

TEST_P(ForeignCapture, TakesCallsThatAllocateNothing) {
  const guf_stream busy = stream(device_);
  for (const int mode : {0, 1, 2}) {
    const guf_array a = filled(device_, 100, 1), b = filled(device_, 100, 2),
                    out = filled(device_, 100, 0), copied = filled(device_, 100, 0);
    const guf_operand x = operand_of(a), y = operand_of(b);
    const guf_operand whole = operand_of(empty(device_, {100}, GUF_I64));
    ASSERT_EQ(call("add", {x, y}, operand_of(filled(device_, 100, 0)), busy), GUF_OK);
    begin(mode);
    EXPECT_EQ(call("add", {x, y}, operand_of(out), adopted_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_array_assign(copied, out, 0, adopted_, &error_), GUF_OK) << error_.message;
    // The following calls are rejected, and the capture continues.
    EXPECT_EQ(guf_stream_query(adopted_, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(guf_stream_synchronize(adopted_, UINT64_MAX, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(guf_stream_synchronize(adopted_, 1000, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(call("add", {x, y}, {}, adopted_), GUF_E_CAPTURE);
    // This call is rejected because its loop can fail.
    EXPECT_EQ(call("power", {whole, whole}, whole, adopted_), GUF_E_CAPTURE);
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_copy(a, GUF_ORDER_C, adopted_, &made, &error_), GUF_E_CAPTURE);
    std::vector<float> host(100);
    EXPECT_EQ(guf_array_copy_to_host(a, host.data(), 400, GUF_ORDER_C, adopted_, &error_),
              GUF_E_CAPTURE);
    // Work on other streams does not disturb the capture.
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(call("multiply", {x, y}, {}, busy), GUF_OK) << error_.message;
    EXPECT_EQ(guf_stream_query(busy, &error_) & ~GUF_NOT_READY, GUF_OK) << error_.message;
    EXPECT_THAT(values(out), Each(0.0F));
    end_and_run();
    EXPECT_THAT(values(out), Each(3.0F)) << mode;
    EXPECT_THAT(values(copied), Each(3.0F)) << mode;
  }
}

TEST_P(ForeignCapture, TakesPlans) {
  const guf_array x = filled(device_, 100, 4), out = filled(device_, 100, 0);
  guf_operand in = operand_of(x), to = operand_of(out);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &in;
  args.outputs = &to;
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(find("negative"), &args, &plan, &error_), GUF_OK) << error_.message;
  guf_array_info from = {}, into = {};
  from.struct_size = into.struct_size = sizeof from;
  guf_array_get_info(x, &from, nullptr);
  guf_array_get_info(out, &into, nullptr);
  const uint64_t addresses[] = {from.address, into.address};
  begin(0);
  EXPECT_EQ(guf_plan_launch(plan, adopted_, 2, addresses, 0, &error_), GUF_OK) << error_.message;
  end_and_run();
  EXPECT_THAT(values(out), Each(-4.0F));
  guf_plan_release(plan, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, ForeignCapture, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test

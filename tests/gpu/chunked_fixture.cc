// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/chunked_fixture.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/support/operands.h"

namespace gufunc::gpu_test {
guf_device ChunkedCalls::find_device(const std::string &spec) {
  guf_device device = nullptr;
  guf_error error = fresh_error();
  EXPECT_EQ(guf_device_get(nullptr, spec.c_str(), &device, &error), GUF_OK) << error.message;
  return device;
}

void ChunkedCalls::use_another_device() {
  static int last = 0;
  device_ = find_device((is_cuda() ? "cuda:" : "roc:") + std::to_string(++last));
}

void ChunkedCalls::SetUpTestSuite() {
  static bool loaded = false;
  if (std::exchange(loaded, true)) return;
  std::istringstream paths(GUFUNC_TEST_MODULES);
  for (std::string path; std::getline(paths, path, ':');) {
    guf_error error = fresh_error();
    guf_module module = nullptr;  // the module stays loaded until the process ends
    ASSERT_EQ(guf_module_load(nullptr, path.c_str(), 0, &module, &error), GUF_OK) << error.message;
  }
}

void ChunkedCalls::SetUp() {
  options_.struct_size = sizeof options_;
  options_.progress = report;
  options_.user = this;
  device_ = find_device(!is_on_device() ? "cpu" : is_cuda() ? "cuda:0" : "roc:0");
  violations_ = sim().violations();
}

void ChunkedCalls::TearDown() {
  sim().clear_faults();
  for (uint32_t i = violations_; i < sim().violations(); ++i) ADD_FAILURE() << sim().violation(i);
}

int32_t ChunkedCalls::report(void *user, int64_t done, int64_t items) {
  auto *const self = static_cast<ChunkedCalls *>(user);
  self->report_.push_back(done);
  self->items_ = items;
  if (self->at_progress_) self->at_progress_();
  return done >= self->stop_at_ ? 1 : 0;
}

guf_status ChunkedCalls::run(Case &given, bool in_chunks) {
  Operands operands;
  const auto operand = [&](const Values &values) {
    if (values.array != nullptr || values.dtype == 0) return operand_of(values.array);
    return *operands.tensor({values.dtype, values.bytes.data() + values.first, values.shape,
                             values.strides, values.flags});
  };
  std::vector<guf_operand> inputs, outputs;
  for (const Values &values : given.inputs) inputs.push_back(operand(values));
  for (const Values &values : given.outputs) outputs.push_back(operand(values));
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = static_cast<int32_t>(given.inputs.size());
  args.noutputs = static_cast<int32_t>(given.outputs.size());
  args.inputs = inputs.data();
  args.outputs = outputs.data();
  if (!given.where.empty()) args.where = operands.keep(operand(given.where[0]));
  args.dtype = given.dtype;
  args.casting = given.casting;
  args.options.fp_fail = given.fp_fail;
  if (in_chunks) args.options.stream = stream_;
  args.options.device = in_chunks || whole_on_device_ ? device_ : nullptr;
  guf_ufunc ufunc = nullptr;
  error_ = fresh_error();
  guf_status status = guf_ufunc_find(nullptr, given.ufunc.c_str(), &ufunc, &error_);
  if (status == GUF_OK) {
    report_.clear();
    items_ = -1;
    status = in_chunks ? guf_call_chunked(ufunc, &args, &options_, &done_, &error_)
                       : guf_call(ufunc, &args, &error_);
  }
  guf_ufunc_release(ufunc, nullptr);
  return status;
}

guf_status ChunkedCalls::call(Case &given) {
  return run(given, false);
}

guf_status ChunkedCalls::call_chunked(Case &given) {
  return run(given, true);
}

void ChunkedCalls::expect_same(const Case &given, const std::vector<uint64_t> &sizes) {
  Case expected = given;
  ASSERT_EQ(call(expected), GUF_OK) << error_.message;
  for (const uint64_t bytes : sizes) {
    Case found = given;
    options_.chunk_bytes = bytes;
    ASSERT_EQ(call_chunked(found), GUF_OK) << given.ufunc << ": " << error_.message;
    for (size_t k = 0; k < given.inputs.size(); ++k)
      EXPECT_EQ(found.inputs[k].bytes, expected.inputs[k].bytes) << given.ufunc << " " << bytes;
    for (size_t k = 0; k < given.outputs.size(); ++k)
      EXPECT_EQ(found.outputs[k].bytes, expected.outputs[k].bytes) << given.ufunc << " " << bytes;
    EXPECT_TRUE(std::is_sorted(report_.begin(), report_.end()));
    if (items_ < 0) continue;  // a call without items reports no progress
    EXPECT_EQ(report_.back(), items_);
    EXPECT_EQ(done_, items_);
  }
}

std::string ChunkedCalls::objects_alive() {
  guf_poll(0, nullptr, nullptr);
  std::string text = live_objects();
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  if (is_on_device()) {
    EXPECT_EQ(guf_device_get_memory(device_, &memory, &error_), GUF_OK) << error_.message;
    text += "bytes " + std::to_string(memory.live_bytes);
  }
  return text;
}

}  // namespace gufunc::gpu_test

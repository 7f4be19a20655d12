// SPDX-License-Identifier: Apache-2.0
#include "auto_fixture.h"

#include <cstdlib>

#include "tests/support/requests.h"

namespace device_test {

const char *chosen() {
  const char *const name = std::getenv("GUFUNC_TEST_AUTO");
  return name == nullptr ? "cuda" : name;
}

std::string line_of(const std::string &text, const std::string &begin) {
  const size_t at = text.rfind(begin, 0) == 0 ? 0 : text.find("\n" + begin);
  if (at == std::string::npos) return "";
  const size_t first = at == 0 ? 0 : at + 1;
  return text.substr(first, text.find('\n', first) - first);
}

Auto::Auto() {
  static const bool loaded = [] {
    for (const char *name : {"auto_both", "auto_host_only", "auto_device_only"}) {
      guf_error error = fresh_error();
      guf_module module = nullptr;  // never released
      const std::string path = std::string(GUFUNC_TEST_MODULES) + "/" + name + ".so";
      EXPECT_EQ(guf_module_load(nullptr, path.c_str(), 0, &module, &error), GUF_OK)
          << error.message;
    }
    return true;
  }();
  EXPECT_TRUE(loaded);
  EXPECT_EQ(guf_device_get(nullptr, "auto", &auto_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu_, &error_), GUF_OK) << error_.message;
  args_.struct_size = sizeof args_;
  args_.options.device = auto_;
  seen_ = launches();
}

guf_operand Auto::here(std::vector<double> &values, std::vector<int64_t> shape) {
  shapes_.push_back(std::move(shape));
  tensors_.push_back({sizeof(guf_tensor), GUF_F64, static_cast<int32_t>(shapes_.back().size()), 0,
                      reinterpret_cast<uint64_t>(values.data()), shapes_.back().data(), nullptr,
                      nullptr});
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_TENSOR;
  operand.tensor = &tensors_.back();
  return operand;
}

guf_operand Auto::stretched(double &value, std::vector<int64_t> shape) {
  static constexpr int64_t kNone[8] = {};
  std::vector<double> none;
  const guf_operand operand = here(none, std::move(shape));
  tensors_.back().address = reinterpret_cast<uint64_t>(&value);
  tensors_.back().strides = kNone;
  return operand;
}

guf_operand Auto::looped(std::vector<double> &values) {
  static constexpr int64_t kStrides[] = {0, sizeof(double)};
  const guf_operand operand = here(values, {kUnits, static_cast<int64_t>(values.size())});
  tensors_.back().strides = kStrides;
  return operand;
}

guf_operand Auto::looped(std::vector<float> &values) {
  static constexpr int64_t kStrides[] = {0, sizeof(float)};
  std::vector<double> none;
  const guf_operand operand = here(none, {kUnits, static_cast<int64_t>(values.size())});
  tensors_.back().address = reinterpret_cast<uint64_t>(values.data());
  tensors_.back().strides = kStrides;
  tensors_.back().dtype = GUF_F32;
  return operand;
}

guf_call_args *Auto::ready(std::vector<guf_operand> inputs, std::vector<guf_operand> outputs) {
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  args_.inputs = inputs_.data();
  args_.ninputs = static_cast<int32_t>(inputs_.size());
  args_.outputs = outputs_.empty() ? nullptr : outputs_.data();
  args_.noutputs = static_cast<int32_t>(outputs_.size());
  error_ = fresh_error();
  return &args_;
}

guf_status Auto::run(const char *name, std::vector<guf_operand> inputs, guf_operand output) {
  const bool missing = output.kind == GUF_OPERAND_NONE;
  const guf_status status = guf_call(find(name), ready(std::move(inputs), {output}), &error_);
  if (status == GUF_OK && missing) keep(outputs_[0].array);
  return status;
}

std::string Auto::explain(const char *name, std::vector<guf_operand> inputs) {
  std::string text(8192, '\0');
  uint64_t length = text.size();
  EXPECT_EQ(requests::explain_call(find(name), ready(std::move(inputs), {guf_operand{}}),
                                   text.data(), &length, &error_),
            GUF_OK)
      << error_.message;
  text.resize(length - 1);
  return text;
}

uint64_t Auto::launches() const {
  if (on_cpu()) return 0;
  return sim().calls(backend_ == "cuda" ? "cuLaunchKernel" : "hipModuleLaunchKernel");
}

bool Auto::ran_on_device() {
  const uint64_t before = std::exchange(seen_, launches());
  return seen_ != before;
}

std::string Auto::spec_of(guf_device device) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_device_get_info(device, &info, &error_), GUF_OK) << error_.message;
  return info.spec;
}

std::string Auto::place_of(guf_array array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK) << error_.message;
  return info.device == nullptr ? "host" : spec_of(info.device);
}

}  // namespace device_test

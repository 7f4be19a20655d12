// SPDX-License-Identifier: Apache-2.0
#include "prepared_call.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "driver_peer.h"

namespace gufunc::bench {

void check(guf_status status, const guf_error &error) {
  if (status == GUF_OK) return;
  throw Failure{std::string(guf_status_name(status)) + ": " + error.message};
}

std::string device_spec() {
  const char *const named = std::getenv("GUFUNC_BENCH_DEVICE");
  return named == nullptr ? "cuda:0" : named;
}

std::string module_path(const std::string &name) {
  const char *const named = std::getenv("GUFUNC_BENCH_MODULES");
  std::istringstream folders(named == nullptr ? "" : named);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = folder + "/" + name + ".so";
    if (std::filesystem::exists(path)) return path;
  }
  throw Failure{name + ".so is in none of the folders that GUFUNC_BENCH_MODULES names"};
}

void load_module(const std::string &name) {
  static std::map<std::string, guf_module> loaded;  // modules stay loaded until the process ends
  if (loaded.count(name) != 0) return;
  guf_error error = {};
  error.struct_size = sizeof error;
  guf_module module = nullptr;
  check(guf_module_load(nullptr, module_path(name).c_str(), 0, &module, &error), error);
  loaded[name] = module;
}

void PreparedCall::prepare(const char *name, guf_dtype dtype, int noperands, const Layout &layout,
                           bool on_stream) {
  error_.struct_size = sizeof error_;
  noperands_ = noperands;
  check(guf_device_get(nullptr, device_spec().c_str(), &device_, &error_), error_);
  check(guf_ufunc_find(nullptr, name, &ufunc_, &error_), error_);
  if (on_stream) check(guf_stream_create(device_, 0, &stream_, &error_), error_);
  for (int i = 0; i < noperands; ++i) {
    check(guf_array_alloc(device_, dtype, static_cast<int32_t>(layout.shape.size()),
                          layout.shape.data(),
                          layout.strides.empty() ? nullptr : layout.strides.data(), GUF_ORDER_C,
                          &array_[i], &error_),
          error_);
    operand_[i].kind = GUF_OPERAND_ARRAY;
    operand_[i].array = array_[i];
    guf_array_info info = {};
    info.struct_size = sizeof info;
    check(guf_array_get_info(array_[i], &info, &error_), error_);
    address_[i] = info.address;
  }
  args_.struct_size = sizeof args_;
  args_.noutputs = noperands > 1 ? 1 : 0;
  args_.ninputs = noperands - args_.noutputs;
  args_.inputs = operand_;
  args_.outputs = operand_ + args_.ninputs;
  args_.options.stream = stream_;
  check(guf_plan_create(ufunc_, &args_, &plan_, &error_), error_);
}

PreparedCall::~PreparedCall() {
  guf_plan_release(plan_, nullptr);
  for (const guf_array one : array_) guf_array_release(one, nullptr);
  guf_ufunc_release(ufunc_, nullptr);
  guf_stream_release(stream_, nullptr);
  guf_poll(0, nullptr, nullptr);
}

}  // namespace gufunc::bench

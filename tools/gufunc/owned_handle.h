// SPDX-License-Identifier: Apache-2.0
// RAII owners of library handles, and the modules that one run of the program loads.
#ifndef GUFUNC_TOOLS_GUFUNC_OWNED_HANDLE_H
#define GUFUNC_TOOLS_GUFUNC_OWNED_HANDLE_H

#include <gufunc/gufunc.h>

#include <string>
#include <utility>
#include <vector>

#include "outcome.h"

namespace gufunc::cli {

template <class T, guf_status (*Release)(T, guf_error *)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() { Release(value_, nullptr); }
  T get() const { return value_; }
  T *out() { return &value_; }

 private:
  T value_ = nullptr;
};

using ArrayHandle = Handle<guf_array, guf_array_release>;
using KernelHandle = Handle<guf_kernel, guf_kernel_release>;
using ModuleHandle = Handle<guf_module, guf_module_release>;
using PlanHandle = Handle<guf_plan, guf_plan_release>;
using StreamHandle = Handle<guf_stream, guf_stream_release>;
using UfuncHandle = Handle<guf_ufunc, guf_ufunc_release>;

inline std::vector<ModuleHandle> load_modules(const std::vector<std::string> &paths) {
  std::vector<ModuleHandle> modules;
  for (const std::string &path : paths) {
    Call call;
    ModuleHandle module;
    const guf_status status = guf_module_load(nullptr, path.c_str(), 0, module.out(), call.error());
    call.check(status, "--module " + path + ": ");
    modules.push_back(std::move(module));
  }
  return modules;
}

inline UfuncHandle find_ufunc(const std::string &name) {
  Call call;
  UfuncHandle ufunc;
  call.check(guf_ufunc_find(nullptr, name.c_str(), ufunc.out(), call.error()));
  return ufunc;
}

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_OWNED_HANDLE_H

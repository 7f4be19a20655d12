// SPDX-License-Identifier: Apache-2.0
// Modules, which gufcc compiles, and their raw kernels.
#ifndef GUFUNC_CPP_MODULE_HPP
#define GUFUNC_CPP_MODULE_HPP

#include <gufunc/kernels.h>
#include <gufunc/cpp/array.hpp>

#include <string>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// The number of blocks in a grid, or of threads in a block, in three dimensions.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

// A raw kernel of a module. The program chooses the grid of blocks for each launch.
class Kernel : public Handle<guf_kernel, guf_kernel_retain, guf_kernel_release> {
 public:
  using Handle::Handle;
  static Result<Kernel> find(guf_module module, const std::string &name) {
    detail::Record record;
    guf_kernel found = nullptr;
    const guf_status status = guf_kernel_find(module, name.c_str(), &found, record);
    return detail::result(status, record, [&] { return Kernel(found); });
  }
  Result<guf_kernel_info> info() const {
    detail::Record record;
    guf_kernel_info found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_kernel_get_info(get(), &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Returns a parameter of the kernel. Index 0 is the first parameter after the guf::block.
  Result<guf_module_parameter> parameter(uint32_t index) const {
    detail::Record record;
    guf_module_parameter found = {};
    const guf_status status = guf_kernel_get_parameter(get(), index, &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Returns the limits and resources of the kernel on a device. Loads the kernel's code on the
  // device.
  Result<guf_kernel_device_info> device_info(Device device = {}) const {
    detail::Record record;
    guf_kernel_device_info found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_kernel_get_device_info(get(), device.get(), &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Launches the kernel on the stream's device. Without a stream, the kernel runs on the device of
  // its array arguments, or on the cpu if it has no array arguments. A launch on the cpu without a
  // stream is complete on return.
  Result<void> launch(Dim3 grid, Dim3 block, Operands arguments, guf_stream stream = nullptr,
                      uint32_t shared_bytes = 0) const {
    detail::COperands operands(arguments);
    const uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
    detail::Record record;
    const guf_status status =
        guf_kernel_launch(get(), stream, blocks, threads, shared_bytes,
                          static_cast<int32_t>(arguments.size()), operands.data(), record);
    return detail::done(status, record);
  }
};

// A loaded file of ufuncs and raw kernels. A program finds the ufuncs by name, and every ufunc
// keeps its module loaded.
class Module : public Handle<guf_module, guf_module_retain, guf_module_release> {
 public:
  using Handle::Handle;
#ifndef GUFUNC_NO_EXCEPTIONS
  explicit Module(const std::string &path, guf_context context = nullptr)
      : Module(load(path, context)) {}
#endif
  operator guf_module() const noexcept { return get(); }
  // `flags` is a combination of guf_module_flag values.
  static Result<Module> load(const std::string &path, guf_context context = nullptr,
                             uint32_t flags = 0) {
    detail::Record record;
    guf_module made = nullptr;
    const guf_status status = guf_module_load(context, path.c_str(), flags, &made, record);
    return detail::result(status, record, [&] { return Module(made); });
  }
  // Registers a module that is linked into the program. Its table must never be freed.
  static Result<Module> link(const guf_module_v1 &table, guf_context context = nullptr) {
    detail::Record record;
    guf_module made = nullptr;
    const guf_status status = guf_module_register(context, &table, &made, record);
    return detail::result(status, record, [&] { return Module(made); });
  }
  Result<guf_module_info> info() const {
    detail::Record record;
    guf_module_info found = {};
    found.struct_size = sizeof found;
    const guf_status status = guf_module_get_info(get(), &found, record);
    return detail::result(status, record, [&] { return found; });
  }
  // function_at returns the full name of a function, and kernel_at the name of a raw kernel without
  // the module's name.
  Result<std::string> function_at(uint32_t index) const {
    return named(guf_module_function_at, index);
  }
  Result<std::string> kernel_at(uint32_t index) const { return named(guf_module_kernel_at, index); }
  Result<Kernel> kernel(const std::string &name) const { return Kernel::find(get(), name); }

 private:
  template <class Function>
  Result<std::string> named(Function function, uint32_t index) const {
    detail::Record record;
    char name[2 * GUF_MAX_NAME + 2];
    const guf_status status = function(get(), index, name, sizeof name, record);
    return detail::result(status, record, [&] { return std::string(name); });
  }
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_MODULE_HPP

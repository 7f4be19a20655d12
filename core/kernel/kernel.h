// SPDX-License-Identifier: Apache-2.0
// Raw kernels of modules, with their compiled code for each device, and their launches. The
// arguments of a launch are checked against the kernel's parameters and packed into one block,
// which the launch passes by value.
#ifndef GUFUNC_CORE_KERNEL_KERNEL_H
#define GUFUNC_CORE_KERNEL_KERNEL_H

#include <array>
#include <atomic>
#include <span>

#include "core/backend/extension.h"
#include "core/backend/kernel_table.h"
#include "core/backend/load_kernel.h"
#include "core/module/module.h"
#include "core/op/call_view.h"

namespace gufunc::kernel {

class RawKernel final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kKernel;

  // Finds a raw kernel by name.
  // Errors  GUF_E_NOT_FOUND <= the module has no kernel of this name
  static guf_status find(const base::Ref<module::Module> &module, const char *name,
                         base::Ref<RawKernel> *out, guf_error *error);

  RawKernel(const base::Ref<module::Module> &module, const guf_module_kernel &row)
      : Object(kKind), module_(module), row_(row) {}

  const guf_module_kernel &row() const { return row_; }
  const char *module_name() const { return module_->table().name; }
  std::span<const guf_module_parameter> parameters() const {
    return {row_.parameters->list, row_.parameters->count};
  }

  // Returns the code of the kernel for a device, and the backend's table that launches it. After
  // the first call for a device, this costs two loads.
  // Errors  as backend::load_raw_kernel and backend::kernels_extension
  guf_status on(backend::Device &device, void **out_kernel, const guf_kernels_api **out_api,
                guf_error *error);

 private:
  const base::Ref<module::Module> module_;
  const guf_module_kernel &row_;
  std::array<std::atomic<void *>, op::kMaxDevices> kernels_ = {};  // indexed by device number
};

struct KernelCall {
  backend::Stream *stream;  // nullptr selects the default stream
  const uint32_t *grid;     // three values, as in `block`
  const uint32_t *block;
  uint32_t shared_bytes;
  std::span<op::OperandView> arguments;  // one per parameter; weak scalars are converted in place
};

// Launches a raw kernel. Allocates nothing if the stream is null and the kernel's code is already
// loaded.
// Errors  as guf_kernel_launch
guf_status launch_kernel(RawKernel &kernel, const KernelCall &call, guf_error *error);

}  // namespace gufunc::kernel

#endif  // GUFUNC_CORE_KERNEL_KERNEL_H

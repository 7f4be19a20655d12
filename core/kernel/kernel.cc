// SPDX-License-Identifier: Apache-2.0
// Finds raw kernels and launches them.
#include "core/kernel/kernel.h"

#include <gufunc/kernels.h>

#include <algorithm>
#include <cstring>

#include "core/array/array.h"
#include "core/backend/pending.h"
#include "core/base/utf8.h"
#include "core/dtype/dtype.h"
#include "core/plugin/find_device.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::kernel {
namespace {

using backend::Device;
using base::kNone;
using op::OperandView;

bool in_host_memory(const Device *device) {
  return device == nullptr || device->host_memory;
}

// Returns the beginning of an error message, such as "kernel 'm:scale', argument 1".
base::Text who(const RawKernel &kernel, int32_t index) {
  base::Text text;
  text.add("kernel '%s:%s', argument %d", kernel.module_name(), kernel.row().name, index);
  return text;
}

[[gnu::cold]] guf_status fail_limit(const RawKernel &kernel, const char *what, char axis,
                                    uint64_t found, uint64_t low, uint64_t high, guf_error *error) {
  return base::fail(error, GUF_E_ARG, kNone, kNone,
                    "kernel '%s:%s', %s.%c: expected %llu to %llu, got %llu", kernel.module_name(),
                    kernel.row().name, what, axis, static_cast<unsigned long long>(low),
                    static_cast<unsigned long long>(high), static_cast<unsigned long long>(found));
}

// Checks the grid and the block. The limits are the same for all devices, so that a launch that one
// device accepts is accepted by all.
guf_status check_limits(const RawKernel &kernel, const KernelCall &call, guf_error *error) {
  static constexpr uint32_t kGrid[] = {GUF_MAX_GRID_X, GUF_MAX_GRID_YZ, GUF_MAX_GRID_YZ};
  static constexpr uint32_t kBlock[] = {GUF_MAX_BLOCK_XY, GUF_MAX_BLOCK_XY, GUF_MAX_BLOCK_Z};
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    const char axis = "xyz"[d];
    if (call.grid[d] > kGrid[d]) {
      return fail_limit(kernel, "grid", axis, call.grid[d], 0, kGrid[d], error);
    }
    if (call.block[d] == 0 || call.block[d] > kBlock[d]) {
      return fail_limit(kernel, "block", axis, call.block[d], 1, kBlock[d], error);
    }
    threads *= call.block[d];
    if (uint64_t{call.grid[d]} * call.block[d] > UINT32_MAX) {
      return fail_limit(kernel, "grid * block", axis, uint64_t{call.grid[d]} * call.block[d], 0,
                        UINT32_MAX, error);
    }
  }
  const uint32_t most = kernel.row().max_threads;
  if (threads <= most) return GUF_OK;
  return base::fail(error, GUF_E_ARG, kNone, kNone,
                    "kernel '%s:%s': expected 1 to %u threads in a block, got %llu",
                    kernel.module_name(), kernel.row().name, most,
                    static_cast<unsigned long long>(threads));
}

// If the plugin rejected the launch because of its shared memory, rewrites the error. The new
// message contains the name of the module, which plugins do not receive.
[[gnu::cold]] void report_shared_limit(const RawKernel &kernel, const Device &device,
                                       const guf_kernels_api &api,
                                       const guf_backend_kernel_launch &request, guf_error *error) {
  guf_backend_kernel_limits limits = {};
  limits.struct_size = sizeof limits;
  backend::ErrorRecord nobody(nullptr);
  if (api.kernel_limits(device.native, request.kernel, &limits, nobody.get()) != GUF_OK) return;
  if (request.shared_bytes <= limits.max_shared_bytes) return;
  base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
             "kernel '%s:%s': shared memory of a block on %s: expected at most %u bytes, got %u",
             kernel.module_name(), kernel.row().name, device.spec.c_str(), limits.max_shared_bytes,
             request.shared_bytes);
}

guf_status find_device(const KernelCall &call, Device **out, guf_error *error) {
  if (call.stream != nullptr) {
    *out = call.stream->device;
    return GUF_OK;
  }
  Device *host = nullptr;
  for (const OperandView &argument : call.arguments) {
    if ((argument.flags & op::kScalar) != 0) continue;
    if (!in_host_memory(argument.device)) {
      *out = argument.device;
      return GUF_OK;
    }
    if (host == nullptr) host = argument.device;
  }
  *out = host;
  return host != nullptr ? guf_status{GUF_OK} : plugin::cpu_device(out, error);
}

bool reads(const Device &device, const OperandView &argument) {
  if (argument.device == &device) return true;
  if (device.host_memory) return in_host_memory(argument.device);
  return argument.array != nullptr && in_host_memory(argument.device) &&
         argument.array->storage()->reader() == &device;
}

// Removes the unit of a dtype, because kernel parameters of datetime types accept any unit.
guf_dtype without_unit(guf_dtype type) {
  if (dtype::is_datetime(type)) return GUF_DATETIME64;
  return dtype::is_timedelta(type) ? static_cast<guf_dtype>(GUF_TIMEDELTA64) : type;
}

guf_status check_dtype(const RawKernel &kernel, guf_dtype found, guf_dtype expected, int32_t index,
                       guf_error *error) {
  if (__builtin_expect(without_unit(found) == expected, 1)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, index, kNone, "%s: expected %s, got %s",
                    who(kernel, index).c_str(), dtype::name(expected), dtype::name(found));
}

[[gnu::cold]] guf_status fail_argument(const RawKernel &kernel, guf_status status, int32_t index,
                                       const char *message, guf_error *error) {
  return base::fail(error, status, index, kNone, "%s: %s", who(kernel, index).c_str(), message);
}

guf_status check_array(const RawKernel &kernel, const guf_module_parameter &parameter,
                       const OperandView &argument, const Device &device, int32_t index,
                       guf_error *error) {
  if ((argument.flags & op::kScalar) != 0) {
    return fail_argument(kernel, GUF_E_ARG, index, "expected an array, got a scalar", error);
  }
  GUF_TRY(check_dtype(kernel, argument.layout.dtype, parameter.dtype, index, error));
  if ((argument.flags & op::kSwapped) != 0) {
    return fail_argument(kernel, GUF_E_ARG, index,
                         "expected native byte order, got swapped elements", error);
  }
  const bool writes = (parameter.flags & GUF_PARAMETER_READ_ONLY) == 0;
  if (writes && (argument.flags & op::kReadOnly) != 0) {
    return fail_argument(kernel, GUF_E_READ_ONLY, index,
                         "expected a writable array, got a read-only one", error);
  }
  if (!reads(device, argument)) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, index, kNone,
                      "%s: got memory of %s, which %s cannot access", who(kernel, index).c_str(),
                      argument.device == nullptr ? "the host" : argument.device->spec.c_str(),
                      device.spec.c_str());
  }
  if (!array::is_aligned(argument.layout)) {
    return fail_argument(kernel, GUF_E_ARG, index, "expected aligned elements", error);
  }
  if (parameter.kind == GUF_PARAMETER_POINTER) {
    if (array::is_contiguous(argument.layout, false)) return GUF_OK;
    return fail_argument(kernel, GUF_E_ARG, index,
                         "expected a C-contiguous array for a pointer parameter", error);
  }
  if (argument.layout.ndim == parameter.ndim) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, index, kNone, "%s: expected %d dimensions, got %d",
                    who(kernel, index).c_str(), parameter.ndim, argument.layout.ndim);
}

uint64_t *put_array(const guf_module_parameter &parameter, const OperandView &argument,
                    uint64_t *word) {
  *word++ = argument.layout.address;
  for (int32_t axis = 0; axis < parameter.ndim; ++axis) {
    word[axis] = static_cast<uint64_t>(argument.layout.shape[axis]);
    word[parameter.ndim + axis] = static_cast<uint64_t>(argument.layout.strides[axis]);
  }
  return word + ptrdiff_t{2} * parameter.ndim;
}

guf_status put_number(const RawKernel &kernel, const guf_module_parameter &parameter,
                      OperandView *argument, int32_t index, uint64_t **inout_word,
                      guf_error *error) {
  if ((argument->flags & op::kScalar) == 0) {
    return fail_argument(kernel, GUF_E_ARG, index, "expected a scalar, got an array", error);
  }
  const uint32_t words = backend::parameter_words(parameter);
  const void *value = argument->value;
  if (resolve::is_weak(*argument)) {
    if (!resolve::adopts(argument->kind, parameter.dtype)) {
      return base::fail(error, GUF_E_DTYPE, index, kNone, "%s: expected %s, got %s",
                        who(kernel, index).c_str(), dtype::name(parameter.dtype),
                        resolve::is_weak_int(*argument)            ? "an int"
                        : argument->kind == GUF_OPERAND_WEAK_FLOAT ? "a float"
                                                                   : "a complex number");
    }
    GUF_TRY(resolve::convert(argument, index, parameter.dtype, error));
    value = argument->cast_value;
  } else {
    GUF_TRY(check_dtype(kernel, argument->layout.dtype, parameter.dtype, index, error));
  }
  (*inout_word)[words - 1] = 0;
  std::memcpy(*inout_word, value, dtype::itemsize(parameter.dtype));
  *inout_word += words;
  return GUF_OK;
}

struct Block {
  guf_kernel_head head;
  uint64_t word[GUF_MAX_KERNEL_BYTES / 8];
};

guf_status pack_arguments(const RawKernel &kernel, const KernelCall &call, const Device &device,
                          uint64_t *word, guf_error *error) {
  const std::span<const guf_module_parameter> parameters = kernel.parameters();
  word[0] = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    if (parameters[i].kind == GUF_PARAMETER_NUMBER) {
      GUF_TRY(put_number(kernel, parameters[i], &call.arguments[i], index, &word, error));
    } else {
      GUF_TRY(check_array(kernel, parameters[i], call.arguments[i], device, index, error));
      word = put_array(parameters[i], call.arguments[i], word);
    }
  }
  return GUF_OK;
}

}  // namespace

guf_status RawKernel::find(const base::Ref<module::Module> &module, const char *name,
                           base::Ref<RawKernel> *out, guf_error *error) {
  const std::span<const guf_module_kernel> all = backend::raw_kernels_of(module->table());
  const auto row = std::find_if(all.begin(), all.end(), [&](const guf_module_kernel &kernel) {
    return std::strcmp(kernel.name, name) == 0;
  });
  if (row != all.end()) {
    *out = base::Ref<RawKernel>::adopt(new RawKernel(module, *row));
    return GUF_OK;
  }
  base::Text names;
  for (const guf_module_kernel &kernel : all) {
    names.add("%s%s", names.c_str()[0] == '\0' ? "" : ", ", kernel.name);
  }
  return base::fail(error, GUF_E_NOT_FOUND, base::kNone, base::kNone,
                    "module '%s' has no raw kernel '%.*s'; it has: %s", module->table().name,
                    base::utf8_prefix(name, 64), name, all.empty() ? "none" : names.c_str());
}

guf_status RawKernel::on(backend::Device &device, void **out_kernel,
                         const guf_kernels_api **out_api, guf_error *error) {
  GUF_TRY(backend::kernels_extension(device, out_api, error));
  std::atomic<void *> &known = kernels_[static_cast<size_t>(device.number)];
  *out_kernel = known.load(std::memory_order_acquire);
  if (__builtin_expect(*out_kernel != nullptr, 1)) return GUF_OK;
  GUF_TRY(backend::load_raw_kernel(module_->table(), row_, device, out_kernel, error));
  known.store(*out_kernel, std::memory_order_release);
  return GUF_OK;
}

guf_status launch_kernel(RawKernel &kernel, const KernelCall &call, guf_error *error) {
  const guf_module_kernel &row = kernel.row();
  GUF_TRY(check_limits(kernel, call, error));
  Device *device = nullptr;
  GUF_TRY(find_device(call, &device, error));
  Block block;
  GUF_TRY(pack_arguments(kernel, call, *device, block.word, error));
  if (call.shared_bytes > UINT32_MAX - row.shared_bytes) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "shared_bytes: expected at most %u, got %u",
                      UINT32_MAX - row.shared_bytes, call.shared_bytes);
  }
  void *native = nullptr;
  const guf_kernels_api *api = nullptr;
  GUF_TRY(kernel.on(*device, &native, &api, error));
  if (call.grid[0] == 0 || call.grid[1] == 0 || call.grid[2] == 0) return GUF_OK;

  backend::RetainedObjects retained(call.stream);
  for (const OperandView &argument : call.arguments) retained.add(argument.array);
  retained.add(&kernel);
  const uint32_t shared = row.shared_bytes + call.shared_bytes;
  guf_backend_kernel_launch request = {sizeof request,
                                       row.flags,
                                       native,
                                       call.stream == nullptr ? nullptr : call.stream->native,
                                       row.name,
                                       {},
                                       {},
                                       shared,
                                       row.parameters->block_bytes,
                                       &block};
  std::memcpy(request.grid, call.grid, sizeof request.grid);
  std::memcpy(request.block, call.block, sizeof request.block);
  std::memcpy(block.head.grid, call.grid, sizeof block.head.grid);
  std::memcpy(block.head.block, call.block, sizeof block.head.block);
  block.head.shared_bytes = shared;
  block.head.reserved = 0;
  backend::ErrorRecord record(error);
  const guf_status status = api->kernel_launch(device->native, &request, record.get());
  if (status == GUF_E_UNSUPPORTED) report_shared_limit(kernel, *device, *api, request, error);
  return status;
}

}  // namespace gufunc::kernel

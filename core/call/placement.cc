// SPDX-License-Identifier: Apache-2.0
// Determines the device of a call and the operands that are copied to it. The decision does not
// depend on elements, shapes or dtypes. For the device "auto" only, a later step compares the
// estimated time on the host with the estimated time on the device, including transfers.
#include "core/call/placement.h"

#include <algorithm>
#include <cstdio>

#include "core/backend/backend.h"
#include "core/base/checked.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/plugin/registry.h"
#include "core/trace/trace.h"

namespace gufunc::call {
namespace {

using backend::Device;
using base::kNone;

// The locations of the operands.
struct Locations {
  Device *device = nullptr;   // the device of operands in device memory
  Device *host = nullptr;     // the first device with host memory that owns an operand
  int32_t on_device = kNone;  // index of an operand in device memory
  int32_t on_host = kNone;    // index of an operand in host memory (scalars have no location)
};

[[gnu::cold, gnu::noinline]] guf_status fail_mismatch(int32_t operand, const Device *found,
                                                      const Device *expected, guf_error *error) {
  return base::fail(
      error, GUF_E_DEVICE_MISMATCH, operand, kNone,
      "operands are on devices that a call may not mix; argument %d: expected %s, got %s", operand,
      expected == nullptr ? "host memory" : expected->spec.c_str(),
      found == nullptr ? "host memory" : found->spec.c_str());
}

// Reports that the requested device differs from the device of the operands or the stream.
[[gnu::cold, gnu::noinline]] guf_status fail_requested(const op::CallView &call,
                                                       const Device &expected, guf_error *error) {
  return base::fail(error, GUF_E_DEVICE_MISMATCH, kNone, kNone,
                    "device: expected %s, the device of the %s, got %s", expected.spec.c_str(),
                    call.stream != nullptr ? "stream" : "operands", call.device->spec.c_str());
}

guf_status look_at(op::OperandView &operand, int32_t index, Locations *locations,
                   guf_error *error) {
  if ((operand.flags & (op::kScalar | op::kMissing)) != 0) return GUF_OK;
  Device *const device = operand.device;
  if (device == nullptr || device->host_memory) {
    if (locations->host == nullptr) locations->host = device;
    locations->on_host = index;
    return GUF_OK;
  }
  operand.flags |= op::kDeviceMemory;
  if (locations->device != nullptr && locations->device != device) {
    return fail_mismatch(index, device, locations->device, error);
  }
  locations->device = device;
  locations->on_device = index;
  return GUF_OK;
}

// Returns whether an operand must be copied to the device. If the device reads the operand's host
// memory in place, assigns the operand to the device instead.
bool is_copied(op::OperandView &operand, Device *device) {
  if ((operand.flags & (op::kScalar | op::kMissing | op::kDeviceMemory)) != 0) return false;
  if (operand.array == nullptr || operand.array->storage()->reader() != device) return true;
  operand.device = device;
  return false;
}

// Determines the copies for a device that cannot read host memory. A scalar mask is copied if it is
// false, and removed if it is true.
guf_status place_on_device(op::CallView &call, Locations locations, guf_error *error) {
  bool scalar_mask = false;
  if (call.has_where && (call.where.flags & op::kScalar) != 0) {
    scalar_mask = (call.where.value[0] & 0xFF) == 0;
    call.has_where = scalar_mask;
  }
  locations.on_host = kNone;
  const int32_t count = call.noperands + call.nseparate;
  for (int32_t i = 0; i < count; ++i) {
    if (is_copied(call.operand[i], call.device)) locations.on_host = i;
  }
  if (call.has_where && is_copied(call.where, call.device)) locations.on_host = count;
  if (locations.on_host == kNone && !scalar_mask) return GUF_OK;
  if (locations.on_host != kNone && locations.on_device != kNone) {
    const int32_t policy = call.args->host_policy;
    if (policy == GUF_HOST_DEFAULT)
      return fail_mismatch(locations.on_host, locations.host, call.device, error);
    if (policy == GUF_HOST_COPY_AND_WARN) {
      base::log(base::LogLevel::kWarning, "%s: argument %d is in host memory and is copied to %s",
                call.ufunc->name.c_str(), locations.on_host, call.device->spec.c_str());
    }
  }
  const bool all = locations.on_device == kNone && locations.on_host != kNone;
  call.host_copies = all ? op::HostCopies::kAll : op::HostCopies::kSome;
  return GUF_OK;
}

// Returns the device that "auto" requests. Returns nullptr if there is neither a stream nor an
// operand in device memory, because `decide_auto_placement` then decides later.
Device *find_auto_device(const Locations &locations, op::CallView *call) {
  const bool open =
      locations.device == nullptr && call->stream == nullptr && !call->automatic->host_memory;
  call->auto_placement =
      open ? op::AutoPlacement::kTransferOutweighsWork : op::AutoPlacement::kResident;
  return open ? nullptr : call->automatic;
}

using op::AutoPlacement;

// docs/decisions/0013-device-auto.md explains where these constants come from.
constexpr uint64_t kBusBytes = 8;       // bytes per ns: pageable memory over PCIe, in one direction
constexpr uint64_t kCallNs = 50'000;    // fixed cost of copies, a launch and a wait
constexpr uint64_t kHostBytes = 2'560;  // bytes per ns that 16 cores process
constexpr uint64_t kBlockBytes = 40;    // bytes per ns that one thread block of a GPU processes

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return base::checked_mul(a, b, &product) ? product : UINT64_MAX;
}

uint64_t plus(uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

// Returns the number of bytes to transfer. Elements of a broadcast dimension are transferred once.
uint64_t bytes_of(const array::Layout &layout) {
  uint64_t bytes = dtype::itemsize(layout.dtype);
  for (int32_t k = 0; k < layout.ndim; ++k) {
    if (layout.strides[k] != 0 || layout.shape[k] == 0)
      bytes = times(bytes, static_cast<uint64_t>(layout.shape[k]));
  }
  return bytes;
}

uint64_t missing_bytes(const op::CallView &call, const broadcast::LoopShape &loop, int32_t i) {
  const op::Signature &signature = call.ufunc->signature;
  const auto index = static_cast<size_t>(i);
  uint64_t bytes = times(loop.items, dtype::itemsize(call.operand[i].layout.dtype));
  for (int32_t k = 0; k < signature.core_ndim[index]; ++k) {
    const auto place = static_cast<size_t>(signature.core_offset[index] + k);
    bytes = times(bytes, static_cast<uint64_t>(loop.core_size[signature.operand_dims[place]]));
  }
  return bytes;
}

uint64_t moved_bytes(const op::CallView &call, const broadcast::LoopShape &loop) {
  const op::Signature &signature = call.ufunc->signature;
  uint64_t bytes =
      call.has_where && (call.where.flags & op::kScalar) == 0 ? bytes_of(call.where.layout) : 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const op::OperandView &operand = call.operand[i];
    if ((operand.flags & op::kScalar) != 0) continue;
    const uint64_t once =
        op::is_missing(operand) ? missing_bytes(call, loop, i) : bytes_of(operand.layout);
    if (signature.reads(i)) bytes = plus(bytes, once);
    if (signature.writes(i)) bytes = plus(bytes, once);
  }
  return bytes;
}

// Returns the number of thread blocks that run at the same time. At most one block computes an
// item, and a compute unit is assumed to run one block at a time.
uint64_t blocks_of(const op::CallView &call, const broadcast::LoopShape &loop) {
  const uint64_t units = std::max<uint64_t>(call.automatic->info.units, 1);
  return std::clamp<uint64_t>(loop.items, 1, units);
}

// Returns whether the amount of work is proportional to the size of a dimension. This is false for
// a dimension whose size is computed from other sizes, such as p in "(m),(n)->(p)" with p=m+n-1.
bool is_work(const op::Ufunc &ufunc, const op::CoreDim &dim) {
  return dim.in_inputs || (dim.rule < 0 && ufunc.core_dims == nullptr);
}

bool has_memory_for(const backend::Device &device, uint64_t bytes) {
  return device.info.memory_bytes == 0 || bytes <= device.info.memory_bytes;
}

// Determines whether the loop has a kernel for the device.
// Errors  as load_kernel, except GUF_E_NO_IMAGE
guf_status has_kernel(const op::CallView &call, const op::Loop &loop, backend::Device &device,
                      bool *out, guf_error *error) {
  backend::ErrorRecord record(error);
  void *kernel = nullptr;
  const guf_status status = backend::load_kernel(*call.ufunc, loop, device, &kernel, record.get());
  *out = status == GUF_OK;
  return status == GUF_E_NO_IMAGE ? GUF_OK : status;
}

guf_status offload_to_device(op::CallView &call, const op::Loop &loop, guf_error *error) {
  bool runs = false;
  if (loop.host == nullptr) GUF_TRY(has_kernel(call, loop, *call.automatic, &runs, error));
  call.auto_placement =
      runs ? AutoPlacement::kWorkOutweighsTransfer : AutoPlacement::kNoDeviceKernel;
  return runs ? place_on_automatic(call, error) : GUF_OK;
}

// Places a call that is faster on the host. The host may have no kernel for the call, because a
// module may have images for GPUs only. If neither device has a kernel, the launch fails later.
guf_status place_on_host(op::CallView &call, const op::Loop &loop, guf_error *error) {
  bool on_host = false, on_device = false;
  GUF_TRY(has_kernel(call, loop, *call.device, &on_host, error));
  if (on_host) return GUF_OK;
  GUF_TRY(has_kernel(call, loop, *call.automatic, &on_device, error));
  if (!on_device) return GUF_OK;
  call.auto_placement = AutoPlacement::kNoHostKernel;
  return place_on_automatic(call, error);
}

std::string begin_line(const op::CallView &call) {
  return "device auto is " + call.automatic->spec + ": ";
}

constexpr const char *kShortReasons[] = {
    "a stream or an operand is on it",
    "not used, as the host is faster",
    "used, as the work outweighs the transfer",
    "not used, as it has no kernel for the loop",
    "not used, as the operands are larger than its memory",
    "used, as the host has no kernel for the loop",
    "not used, as a plan does not transfer operands",
};

const char *short_reason(const op::CallView &call) {
  if (call.automatic->host_memory) return "the host itself";
  return kShortReasons[static_cast<size_t>(call.auto_placement)];
}

}  // namespace

guf_status place(op::CallView &call, guf_error *error) {
  if (__builtin_expect(plugin::is_shut_down(), 0)) {
    return base::fail(error, GUF_E_SHUTDOWN, kNone, kNone, "the library was shut down");
  }
  Locations locations;
  const int32_t count = call.noperands + call.nseparate;
  for (int32_t i = 0; i < count; ++i) GUF_TRY(look_at(call.operand[i], i, &locations, error));
  if (call.has_where) GUF_TRY(look_at(call.where, count, &locations, error));
  Device *requested = call.device;
  if (__builtin_expect(call.automatic != nullptr, 0))
    requested = find_auto_device(locations, &call);
  Device *device = locations.device;
  if (call.stream != nullptr) {
    if (call.stream->fork_epoch != base::fork_epoch()) {
      return base::fail(error, GUF_E_FORKED, kNone, kNone, "the stream was made before a fork");
    }
    device = call.stream->device;
  }
  if (device == nullptr) device = requested != nullptr ? requested : locations.host;
  if (device == nullptr) GUF_TRY(plugin::cpu_device(&device, error));
  if (requested != nullptr && requested != device) return fail_requested(call, *device, error);
  if (locations.device != nullptr && locations.device != device) {
    return fail_mismatch(locations.on_device, locations.device, device, error);
  }
  call.device = device;
  call.host_copies = op::HostCopies::kNone;
  return __builtin_expect(device->host_memory, 1) ? GUF_OK
                                                  : place_on_device(call, locations, error);
}

guf_status place_on_automatic(op::CallView &call, guf_error *error) {
  call.device = call.automatic;
  GUF_TRY(place_on_device(call, {}, error));
  call.host_copies = op::HostCopies::kAll;  // results are in host memory, even without copies
  return GUF_OK;
}

AutoCost estimate_cost(const op::CallView &call, const resolve::Choice &choice,
                       const broadcast::LoopShape &loop) {
  const op::Signature &signature = call.ufunc->signature;
  AutoCost cost = {moved_bytes(call, loop), loop.items, 1, blocks_of(call, loop)};
  for (size_t dim = 0; dim < signature.dims.size(); ++dim) {
    if (is_work(*call.ufunc, signature.dims[dim]))
      cost.steps = times(cost.steps, static_cast<uint64_t>(loop.core_size[dim]));
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    const uint64_t width = dtype::itemsize(choice.loop->types[static_cast<size_t>(i)]);
    cost.width = std::max(cost.width, width);
  }
  return cost;
}

bool exceeds_transfer_cost(const AutoCost &cost) {
  const uint64_t work = times(cost.steps, cost.width);
  const uint64_t device_ns = work / times(cost.blocks, kBlockBytes);
  const uint64_t bus_ns = plus(cost.bytes / kBusBytes, kCallNs);
  return work / kHostBytes > plus(device_ns, bus_ns);
}

guf_status decide_auto_placement(op::CallView &call, const resolve::Choice &choice,
                                 const broadcast::LoopShape &loop, AutoOffload offload,
                                 guf_error *error) {
  if (offload == AutoOffload::kNever || loop.items == 0 ||
      call.auto_placement != AutoPlacement::kTransferOutweighsWork) {
    return GUF_OK;
  }
  if (call.ufunc->signature.generalized) {
    const AutoCost cost = estimate_cost(call, choice, loop);
    if (exceeds_transfer_cost(cost)) {
      if (offload == AutoOffload::kInChunks || has_memory_for(*call.automatic, cost.bytes))
        return offload_to_device(call, *choice.loop, error);
      call.auto_placement = AutoPlacement::kTooLarge;
      return GUF_OK;
    }
  }
  return place_on_host(call, *choice.loop, error);
}

std::string describe_auto(const op::CallView &call, const resolve::Choice &choice,
                          const broadcast::LoopShape &loop) {
  if (call.automatic == nullptr) return {};
  const bool compared = call.auto_placement == AutoPlacement::kTransferOutweighsWork ||
                        call.auto_placement == AutoPlacement::kWorkOutweighsTransfer;
  if (!compared || call.automatic->host_memory || !call.ufunc->signature.generalized)
    return describe_auto(call);
  const AutoCost cost = estimate_cost(call, choice, loop);
  return begin_line(call) + short_reason(call) + ": " + std::to_string(cost.steps) +
         " steps of work in " + std::to_string(cost.blocks) +
         (cost.blocks == 1 ? " block, " : " blocks, ") + std::to_string(cost.bytes) +
         " bytes to transfer\n";
}

std::string describe_auto(const op::CallView &call) {
  return call.automatic == nullptr ? std::string() : begin_line(call) + short_reason(call) + "\n";
}

void trace_auto(const op::CallView &call) {
  if (call.automatic == nullptr || !trace::on()) return;
  char text[96];
  std::snprintf(text, sizeof text, "device auto is %s: %s", call.automatic->spec.c_str(),
                short_reason(call));
  trace::note(text);
}

}  // namespace gufunc::call

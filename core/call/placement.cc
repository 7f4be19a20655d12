// SPDX-License-Identifier: Apache-2.0
// Determines the device of a call and the operands that are copied to it. The decision does not
// depend on elements, shapes or dtypes.
#include "core/call/placement.h"

#include "core/backend/backend.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/plugin/registry.h"

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

// Returns the device that "auto" requests. If all operands are on the host, no device is requested
// yet, because `decide_auto_placement` decides later.
Device *find_auto_device(const Locations &locations, op::CallView *call) {
  const bool open =
      locations.device == nullptr && call->stream == nullptr && !call->automatic->host_memory;
  call->auto_placement =
      open ? op::AutoPlacement::kTransferOutweighsWork : op::AutoPlacement::kResident;
  return open ? nullptr : call->automatic;
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

}  // namespace gufunc::call

// SPDX-License-Identifier: Apache-2.0
// The core's view of a call, which the C API layer fills on the caller's stack. The view owns
// nothing.
#ifndef GUFUNC_CORE_OP_CALL_VIEW_H
#define GUFUNC_CORE_OP_CALL_VIEW_H

#include <gufunc/call.h>

#include "core/array/array.h"
#include "core/op/ufunc.h"

namespace gufunc::backend {
class Stream;
}

namespace gufunc::op {

enum OperandFlag : uint32_t {
  kReadOnly = 1U << 0,
  kSwapped = 1U << 1,
  kMissing = 1U << 3,            // an output that the pipeline lays out and allocates
  kDeviceMemory = 1U << 5,       // the host cannot read the memory; set by placement
  kHasSeparateOutput = 1U << 6,  // an inout operand with a separate output, so it is only read
  kScalar = 1U << 4,             // layout.address points to `value` or `cast_value`
};

// Whether operands in host memory are copied, because the call's device cannot read host memory.
enum class HostCopies : uint8_t {
  kNone,
  kSome,  // operands are copied; results are allocated on the device
  kAll    // operands are copied; results are allocated in host memory
};

// The placement of a call on the device "auto": the chosen device and the reason.
enum class AutoPlacement : uint8_t {
  kResident,               // on the device: it has the stream or an operand, or is the host
  kTransferOutweighsWork,  // on the host: transferring the operands takes longer than the work
  kWorkOutweighsTransfer,  // on the device: the work takes longer than the transfer
  kNoDeviceKernel,         // on the host: the device has no kernel for the loop
  kTooLarge,               // on the host: the operands exceed the memory of the device
  kNoHostKernel,           // on the device: the host has no kernel for the loop
  kPlan                    // on the host: plans do not transfer operands
};

// One operand. Its fields are uninitialised until the C API layer sets the fields that the call
// uses.
struct OperandView {
  array::Layout layout;  // shape and strides are borrowed
  array::ByteSpan span;  // the bytes of the caller's operand; empty for scalars and missing outputs
  uint32_t flags;
  int32_t kind;             // a guf_operand_kind; resolution treats weak kinds differently
  backend::Device *device;  // nullptr for scalars and for host memory without a backend
  array::Array *array;      // nullptr for tensors and scalars
  uint64_t value[2];        // scalars: the bits of the value that the caller passed
  alignas(16) unsigned char cast_value[16];  // weak scalars: the value in the loop's dtype
};

inline bool is_missing(const OperandView &operand) {
  return (operand.flags & kMissing) != 0;
}

struct CallView {
  Ufunc *ufunc;
  int32_t noperands;
  // The number of separate outputs. If the signature has no outputs, a call may
  // pass separate outputs for its inout operands. They are stored in
  // operand[noperands .. noperands + nseparate - 1], in the order of the inout operands.
  int32_t nseparate;
  bool has_where;
  OperandView operand[GUF_MAX_OPERANDS];
  OperandView where;
  const guf_call_args *args;  // extended to this version's struct_size
  int32_t casting;            // a guf_casting other than DEFAULT
  backend::Stream *stream;
  backend::Device *device;  // the requested device or nullptr; placement sets the chosen device
  HostCopies host_copies;   // set by placement
  // The automatic device if args->options.device is "auto", otherwise nullptr. Placement then sets
  // auto_placement.
  backend::Device *automatic = nullptr;
  AutoPlacement auto_placement = AutoPlacement::kResident;
  // Strides that the library computes for operands: C-contiguous strides for tensors that were
  // passed without strides, and the strides of permuted and of missing operands. Otherwise
  // uninitialised.
  int64_t stride_buffer[GUF_MAX_OPERANDS + 1][GUF_MAX_NDIM];
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_CALL_VIEW_H

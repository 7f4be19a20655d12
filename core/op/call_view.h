// SPDX-License-Identifier: Apache-2.0
// A call as the core sees it: borrowed, flat, on the caller's stack, filled by the C API layer.
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
  kMissing = 1U << 3,           // an output to allocate; layout is set by the pipeline
  kDeviceMemory = 1U << 5,      // the host cannot read it; set by placement
  kWrittenElsewhere = 1U << 6,  // an inout operand with a separate output: here it is only read
  kScalar = 1U << 4,            // layout.address points at `value` or at `cast_value`
};

// Operands in host memory of a call that runs on a device which cannot read it.
enum class HostCopies : uint8_t {
  kNone,
  kSome,  // results are made on the device
  kAll    // results are made in host memory too
};

// Where a call on device auto runs, and why.
enum class AutoPlacement : uint8_t {
  kResident,               // on the device: a stream or an operand is there, or it is the host
  kTransferOutweighsWork,  // on the host: transferring the operands takes longer than the work
  kWorkOutweighsTransfer,  // on the device: the work takes longer than the transfer
  kNoDeviceKernel,         // on the host: the device has no kernel for the loop
  kTooLarge,               // on the host: the operands exceed the memory of the device
  kNoHostKernel,           // on the device: the host has no kernel for the loop
  kPlan                    // on the host: plans do not transfer operands
};

// One operand. Not initialised as a whole: the C API layer sets what exists.
struct OperandView {
  array::Layout layout;  // shape and strides borrowed
  array::ByteSpan span;  // what the caller's memory covers; empty: scalars, missing outputs
  uint32_t flags;
  int32_t kind;             // guf_operand_kind: weak kinds matter to resolution
  backend::Device *device;  // nullptr: host memory that no backend owns, and scalars
  array::Array *array;      // nullptr for tensors and scalars
  uint64_t value[2];        // scalars: the bits as given
  alignas(16) unsigned char cast_value[16];  // weak scalars: the value in the loop's dtype
};

inline bool is_missing(const OperandView &operand) {
  return (operand.flags & kMissing) != 0;
}

struct CallView {
  Ufunc *ufunc;
  int32_t noperands;
  // A signature without outputs may write elsewhere: operands noperands .. noperands + nseparate
  // - 1 are the separate outputs of its written operands, in order.
  int32_t nseparate;
  bool has_where;
  OperandView operand[GUF_MAX_OPERANDS];
  OperandView where;
  const guf_call_args
      *args;        // casting, order, dtype, signature, axes, dims, flags: struct_size extended
  int32_t casting;  // never DEFAULT
  backend::Stream *stream;
  backend::Device *device;  // args->device or nullptr; then, set by placement, where it runs
  HostCopies host_copies;   // set by placement
  // Where args->device is "auto": the device that it stands for. Then placement sets
  // auto_placement.
  backend::Device *automatic = nullptr;
  AutoPlacement auto_placement = AutoPlacement::kResident;
  // C-contiguous strides of tensors that came without; uninitialised otherwise.
  int64_t stride_room[GUF_MAX_OPERANDS + 1][GUF_MAX_NDIM];
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_CALL_VIEW_H

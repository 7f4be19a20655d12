// SPDX-License-Identifier: Apache-2.0
// Imports DLPack tensors with arbitrary fields. Each tensor is rejected with a message, or becomes
// an array whose deleter runs once.
#include <gufunc/dlpack.h>

#include "guarded_memory.h"
#include "target.h"

namespace gufunc::fuzz {
namespace {

int deleted = 0;

struct Drawn {
  int64_t shape[GUF_MAX_NDIM + 2];
  int64_t strides[GUF_MAX_NDIM + 2];
  guf_dlpack versioned;
  guf_dlpack_unversioned unversioned;
};

int64_t draw_number(ByteReader *bytes) {
  const auto small = static_cast<int8_t>(bytes->byte());
  return small == 127 ? bytes->value<int64_t>() : small % 9;
}

void draw_tensor(ByteReader *bytes, Drawn *drawn, guf_dlpack_tensor *tensor) {
  constexpr guf_dtype kDtypes[] = {GUF_F64, GUF_F32, GUF_BOOL, GUF_C128, GUF_BF16, 0x00010080, 0};
  static GuardedMemory memory;
  tensor->ndim = static_cast<int32_t>(bytes->below(5));
  if (bytes->one_in(8)) tensor->ndim = static_cast<int8_t>(bytes->byte());
  if (tensor->ndim > GUF_MAX_NDIM + 2) tensor->ndim = GUF_MAX_NDIM + 1;
  tensor->device_type =
      bytes->one_in(8) ? static_cast<int8_t>(bytes->byte()) : int32_t{GUF_DLPACK_CPU};
  tensor->device_id = bytes->one_in(8) ? static_cast<int8_t>(bytes->byte()) : 0;
  tensor->dtype = bytes->one_in(8) ? bytes->value<uint32_t>() : bytes->pick(kDtypes);
  const bool has_strides = bytes->one_in(2);
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    drawn->shape[i] = draw_number(bytes);
    drawn->strides[i] = draw_number(bytes);
  }
  tensor->shape = bytes->one_in(16) ? nullptr : drawn->shape;
  tensor->strides = has_strides ? drawn->strides : nullptr;
  tensor->byte_offset = bytes->one_in(8) ? bytes->value<uint64_t>() : bytes->below(4) * 8;
  // The data of the tensor begins in the middle of the memory, so that elements with small strides
  // of either sign are inside the memory.
  tensor->data = bytes->one_in(16) ? nullptr : memory.place(GuardedMemory::kBytes / 2, true);
}

// Whatever the status of the import is, the library must have taken ownership of the tensor, and
// must have called the deleter of the tensor exactly once.
void demand_deleted_once(guf_status status, guf_array array, int before, const guf_error &error) {
  demand_report(status, error);
  guf_array_release(array, nullptr);
  guf_poll(0, nullptr, nullptr);  // runs the deleters of released arrays
  check(deleted == before + 1, "a tensor's deleter runs once");
}

void import(ByteReader *bytes) {
  Drawn drawn = {};
  const bool has_version = bytes->one_in(2);
  guf_array array = nullptr;
  guf_error error = fresh_error();
  const int before = deleted;
  const uint32_t flags = bytes->one_in(8) ? bytes->byte() : 0;
  if (has_version) {
    drawn.versioned.major = bytes->one_in(8) ? bytes->byte() : 1;
    drawn.versioned.flags = bytes->one_in(8) ? bytes->value<uint64_t>() : 0;
    drawn.versioned.deleter = [](guf_dlpack *) { ++deleted; };
    draw_tensor(bytes, &drawn, &drawn.versioned.tensor);
    const guf_status status =
        guf_array_from_dlpack(&drawn.versioned, nullptr, flags, &array, &error);
    demand_deleted_once(status, array, before, error);
  } else {
    drawn.unversioned.deleter = [](guf_dlpack_unversioned *) { ++deleted; };
    draw_tensor(bytes, &drawn, &drawn.unversioned.tensor);
    const guf_status status =
        guf_array_from_dlpack_unversioned(&drawn.unversioned, nullptr, flags, &array, &error);
    demand_deleted_once(status, array, before, error);
  }
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::ByteReader bytes(data, size);
  gufunc::fuzz::import(&bytes);
  return 0;
}

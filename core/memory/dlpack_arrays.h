// SPDX-License-Identifier: Apache-2.0
// Imports tensors of other libraries as arrays, and exports arrays as tensors (gufunc/dlpack.h).
#ifndef GUFUNC_CORE_MEMORY_DLPACK_ARRAYS_H
#define GUFUNC_CORE_MEMORY_DLPACK_ARRAYS_H

#include <gufunc/dlpack.h>

#include "core/memory/memory.h"

namespace gufunc::memory {

// An imported tensor. If `arm` was called, the deleter runs when the last reference is released.
class ImportedTensor final : public BorrowedMemory {
 public:
  using Delete = void (*)(void *managed);
  ImportedTensor(void *managed, Delete call) : managed_(managed), delete_(call) {}
  ~ImportedTensor() override {
    if (armed()) delete_(managed_);
  }

 private:
  void *const managed_;
  const Delete delete_;
};

// Streams that other libraries use and that have no handle in this library. The values are the
// numbers of these streams in the drivers of both vendors (CUDA and HIP).
enum class DlpackStream : uint64_t { kNone = 0, kLegacy = 1, kPerThread = 2 };

// The other library's stream: a stream with a handle, a stream without a handle, or none.
struct DlpackPartner {
  backend::Stream *stream;
  DlpackStream other;
};

// Imports a tensor whose version has been checked. Parameters and errors are as
// guf_array_from_dlpack.
guf_status from_dlpack(const guf_dlpack_tensor &tensor, bool read_only,
                       const base::Ref<ImportedTensor> &taken, const DlpackPartner &ready_on,
                       base::Ref<array::Array> *out, guf_error *error);

// An array that is exported as a tensor, in both forms of DLPack (versioned and unversioned). The
// object owns a reference to itself. The consumer releases this reference by calling a deleter.
class ExportedTensor final : public base::Object {
 public:
  ExportedTensor(array::Array &array, bool copied);
  ~ExportedTensor() override;

  // Errors  as guf_array_to_dlpack
  guf_status describe(guf_error *error);
  guf_status make_consumer_wait(const DlpackPartner &consumer, guf_error *error);

  guf_dlpack *versioned() { return &versioned_; }
  guf_dlpack_unversioned *unversioned() { return &unversioned_; }

 private:
  guf_status place(guf_error *error);
  guf_status measure(guf_error *error);

  base::Ref<array::Array> array_;
  base::Ref<backend::Stream> consumer_;
  guf_dlpack versioned_ = {};
  guf_dlpack_unversioned unversioned_ = {};
  int64_t shape_[GUF_MAX_NDIM];
  int64_t strides_[GUF_MAX_NDIM];
};

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_DLPACK_ARRAYS_H

// SPDX-License-Identifier: Apache-2.0
// Arrays: a dtype, a shape and signed byte strides over storage that views share.
#ifndef GUFUNC_CORE_ARRAY_ARRAY_H
#define GUFUNC_CORE_ARRAY_ARRAY_H

#include <gufunc/array.h>

#include <memory>

#include "core/base/object.h"
#include "core/dtype/dtype.h"

namespace gufunc::backend {
class Device;
}

namespace gufunc::array {

// Memory that arrays share. Subclasses (core/memory) know how to give it back.
class Storage : public base::Object {
 public:
  Storage() : Object(base::Kind::kArray) {}

  // A device, beside the array's own, that reads and writes it in place.
  backend::Device *reader() const { return reader_; }
  void set_reader(backend::Device *device) { reader_ = device; }

 private:
  backend::Device *reader_ = nullptr;
};

// What every room works on: borrowed dimensions, no ownership.
struct Layout {
  guf_dtype dtype;
  int32_t ndim;
  const int64_t *shape;
  const int64_t *strides;
  uint64_t address;
};

// The bytes from the first to one past the last that a layout touches; equal when it has no
// element.
struct ByteSpan {
  uint64_t first;
  uint64_t end;
};

// The caller has checked the layout of what has elements.
inline ByteSpan span_of(const Layout &layout) {
  uint64_t first = layout.address;
  uint64_t last = layout.address;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    if (extent == 0) return {layout.address, layout.address};
    const auto reach =  // modulo 2^64: without elements a stride may be anything
        static_cast<uint64_t>(layout.strides[axis]) * static_cast<uint64_t>(extent - 1);
    if (layout.strides[axis] < 0) {
      first += reach;
    } else {
      last += reach;
    }
  }
  return {first, last + dtype::itemsize(layout.dtype)};
}

class Array final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kArray;

  // Copies the dimensions. `flags` are GUF_ARRAY_READ_ONLY, SWAPPED and OWNS_DATA; the others are
  // computed. The caller has checked sizes. Throws std::bad_alloc.
  Array(const Layout &layout, uint32_t flags, backend::Device *device, base::Ref<Storage> storage);

  const Layout &layout() const { return layout_; }
  const ByteSpan &span() const { return span_; }
  uint32_t flags() const { return flags_; }  // guf_array_flag
  backend::Device *device() const { return device_; }
  const base::Ref<Storage> &storage() const { return storage_; }
  uint64_t size() const { return size_; }
  uint64_t nbytes() const { return size_ * dtype::itemsize(layout_.dtype); }

 private:
  static constexpr int32_t kInlineNdim = 4;
  Layout layout_;
  ByteSpan span_;
  uint32_t flags_;
  uint64_t size_;
  backend::Device *device_;
  base::Ref<Storage> storage_;
  int64_t inline_[2 * kInlineNdim];
  std::unique_ptr<int64_t[]> heap_;
};

// Elements of a shape.  Errors  GUF_E_SHAPE <= an extent negative, ndim out of range, or the
// product times itemsize overflows int64 (zero extents do not hide an overflow of the others, as in
// NumPy)
guf_status count_elements(guf_dtype dtype, int32_t ndim, const int64_t *shape, uint64_t *out_size,
                          guf_error *error);

// Extents of 1 have no say, and an empty array is both, as in NumPy.
bool is_contiguous(const Layout &layout, bool fortran);
bool is_aligned(const Layout &layout);

// Strides of a C- or F-contiguous array.
void contiguous_strides(guf_dtype dtype, int32_t ndim, const int64_t *shape, int32_t order,
                        int64_t *out_strides);

// Strides of a layout without elements, which may be any numbers: 0 instead of those that reach
// further than an address can, so that they may be computed with like any others. `out_strides` may
// be the layout's own.
void bound_strides(const Layout &layout, int64_t *out_strides);

// Lowest and one past the highest byte that the layout touches, relative to its address; both 0
// when empty. False on overflow.
[[nodiscard]] bool byte_bounds(const Layout &layout, int64_t *out_low, int64_t *out_high);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_ARRAY_H

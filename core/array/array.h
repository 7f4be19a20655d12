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

// Memory that arrays share. The destructors of subclasses (core/memory) release it.
class Storage : public base::Object {
 public:
  Storage() : Object(base::Kind::kArray) {}

  // Returns the device that accesses the storage in place in addition to the device of the arrays,
  // or nullptr if there is none.
  backend::Device *reader() const { return reader_; }
  void set_reader(backend::Device *device) { reader_ = device; }

 private:
  backend::Device *reader_ = nullptr;
};

// The dtype, shape, strides and address of an array or tensor. `shape` and `strides` are borrowed.
struct Layout {
  guf_dtype dtype;
  int32_t ndim;
  const int64_t *shape;
  const int64_t *strides;
  uint64_t address;
};

// The byte range [first, end) that the elements of a layout occupy. first == end if the layout has
// no elements.
struct ByteSpan {
  uint64_t first;
  uint64_t end;
};

// Returns the byte range of a layout. The caller must have checked that the range of a layout with
// elements does not overflow.
inline ByteSpan span_of(const Layout &layout) {
  uint64_t first = layout.address;
  uint64_t last = layout.address;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    if (extent == 0) return {layout.address, layout.address};
    const auto reach =  // modulo 2^64, because an empty layout has arbitrary strides
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

  // Copies the shape and strides. `flags` may contain GUF_ARRAY_READ_ONLY, SWAPPED and OWNS_DATA;
  // the other flags are computed. The caller must have checked the sizes. Throws std::bad_alloc.
  Array(const Layout &layout, uint32_t flags, backend::Device *device, base::Ref<Storage> storage);

  const Layout &layout() const { return layout_; }
  const ByteSpan &span() const { return span_; }
  uint32_t flags() const { return flags_; }  // bits of guf_array_flag
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

// Errors  GUF_E_SHAPE <= ndim is negative or exceeds GUF_MAX_NDIM
guf_status check_ndim(int64_t ndim, guf_error *error);

// Counts the elements of a shape. As in NumPy, an overflow of the product of the nonzero extents is
// an error even if another extent is 0.
// Errors  GUF_E_SHAPE <= a negative extent, ndim out of range, or the size in bytes overflows int64
guf_status count_elements(guf_dtype dtype, int32_t ndim, const int64_t *shape, uint64_t *out_size,
                          guf_error *error);

// Returns whether a layout is contiguous in C or F order. As in NumPy, axes of extent 1 are
// ignored, and an empty array is contiguous in both orders.
bool is_contiguous(const Layout &layout, bool fortran);
bool is_aligned(const Layout &layout);

// Writes the strides of a C- or F-contiguous array.
void contiguous_strides(guf_dtype dtype, int32_t ndim, const int64_t *shape, int32_t order,
                        int64_t *out_strides);

// Copies the strides of a layout without elements. Such strides may be arbitrary. Strides that are
// too large for an address space become 0, so that later arithmetic does not overflow.
// `out_strides` may be the layout's own strides.
void bound_strides(const Layout &layout, int64_t *out_strides);

// Computes the range of bytes that the elements occupy, relative to the address of the layout: the
// lowest byte and one past the highest byte. Both bounds are 0 if the layout is empty. Returns
// false on overflow.
[[nodiscard]] bool byte_bounds(const Layout &layout, int64_t *out_low, int64_t *out_high);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_ARRAY_H

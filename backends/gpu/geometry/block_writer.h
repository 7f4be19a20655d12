// SPDX-License-Identifier: Apache-2.0
// Writes the parameter blocks of device entries for a number of operands that is known only at run
// time. The bytes have the layout of the templates in device_block.hpp: a head, followed by arrays
// with an element for each operand.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_WRITER_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_WRITER_H

#include <gufunc/kernel/device_block.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {

template <class Head, size_t Bytes>
class BlockWriter {
 public:
  static_assert(sizeof(Head) % 8 == 0 && sizeof(Head) < Bytes, "arrays follow the head");

  BlockWriter() : used_(sizeof(Head)) {}
  Head &head() { return *reinterpret_cast<Head *>(bytes_); }

  template <class T>
  void add(const T *values, int count) {
    const size_t size = static_cast<size_t>(count) * sizeof(T);
    std::memcpy(bytes_ + used_, values, size);
    used_ += size;
  }
  // Leaves bytes uninitialised, because entries never read the steps of unused dimensions.
  void skip(size_t bytes) { used_ += bytes; }

  const void *data() const { return bytes_; }
  uint32_t size() {
    used_ = (used_ + 7) & ~size_t{7};
    return static_cast<uint32_t>(used_);
  }

 private:
  alignas(16) unsigned char bytes_[Bytes];
  size_t used_;
};

// Writes the head of a block of items: its dimensions and its mask.
// The shape has at most kDims dimensions.
template <class Head>
void write_items(const LaunchShape &shape, Head *head) {
  head->mask = shape.mask;
  head->items = static_cast<uint32_t>(shape.items);
  head->ndim = static_cast<uint32_t>(shape.ndim);
  for (int d = 0; d < shape.ndim; ++d) {
    head->dim[d] = divisor_of(static_cast<uint32_t>(shape.size[d]));
    head->mask_stride[d] = shape.step[d][kMaskColumn];
  }
}

// Writes address[count] and then stride[kDims][count].
template <class Writer>
void write_strides(const LaunchShape &shape, Writer *writer) {
  writer->add(shape.address, shape.count);
  for (int d = 0; d < shape.ndim; ++d) writer->add(shape.step[d], shape.count);
  const auto unused = static_cast<size_t>(guf::device::kDims - shape.ndim);
  writer->skip(unused * static_cast<size_t>(shape.count) * sizeof(int64_t));
}

template <int N>
constexpr bool block_layouts_match() {
  namespace dev = guf::device;
  constexpr size_t kCount = N, kForms = (kCount * 4 + 7) / 8 * 8;
  return sizeof(dev::row_block<N>) == sizeof(dev::row_head) + kCount * 8 * (2 + dev::kOuter) &&
         sizeof(dev::nd_block<N>) ==
             sizeof(dev::items_head) + kCount * 8 * (1 + dev::kDims) + kForms &&
         sizeof(dev::generalized_block<N>) ==
             sizeof(dev::generalized_head) + kCount * 8 * (1 + dev::kDims + dev::kCoreStrides) &&
         sizeof(dev::staged_block<N>) ==
             sizeof(dev::generalized_block<N>) + kCount * sizeof(dev::staged_row);
}
static_assert(block_layouts_match<1>() && block_layouts_match<2>() && block_layouts_match<12>());

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_BLOCK_WRITER_H

// SPDX-License-Identifier: Apache-2.0
// The entries of the copy and cast kernels of device backends
// (gufunc/kernel/device_copies.hpp), such as guf_copy_convert and guf_copy_elements1.
// backends/gpu/geometry/copy_*.cc writes their parameter blocks.
#include <gufunc/kernel.hpp>
#if !defined(GUF_SCAN)
#include <gufunc/kernel/device_copies.hpp>

namespace copy_cast {

using namespace guf::device;

GUF_DEVICE_ONLY void convert(const convert_block &p) {
  convert_elements(p);
}
GUF_DEVICE_ONLY void elements1(const copy_block &p) {
  copy_rows<guf::u8>(p);
}
GUF_DEVICE_ONLY void elements2(const copy_block &p) {
  copy_rows<guf::u16>(p);
}
GUF_DEVICE_ONLY void elements4(const copy_block &p) {
  copy_rows<guf::u32>(p);
}
GUF_DEVICE_ONLY void elements8(const copy_block &p) {
  copy_rows<guf::u64>(p);
}
GUF_DEVICE_ONLY void elements16(const copy_block &p) {
  copy_rows<guf::c128>(p);
}
GUF_DEVICE_ONLY void tile1(const tile_block &p, char *shared) {
  copy_tile<guf::u8>(p, shared);
}
GUF_DEVICE_ONLY void tile2(const tile_block &p, char *shared) {
  copy_tile<guf::u16>(p, shared);
}
GUF_DEVICE_ONLY void tile4(const tile_block &p, char *shared) {
  copy_tile<guf::u32>(p, shared);
}
GUF_DEVICE_ONLY void tile8(const tile_block &p, char *shared) {
  copy_tile<guf::u64>(p, shared);
}
GUF_DEVICE_ONLY void tile16(const tile_block &p, char *shared) {
  copy_tile<guf::c128>(p, shared);
}
GUF_DEVICE_ONLY void bytes(const bytes_block &p) {
  copy_structured(p);
}
GUF_DEVICE_ONLY void fill(const fill_block &p) {
  fill_words(p);
}

}  // namespace copy_cast
#endif

GUF_ENTRY(copy_cast::convert, "guf::device::convert_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::elements1, "guf::device::copy_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::elements2, "guf::device::copy_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::elements4, "guf::device::copy_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::elements8, "guf::device::copy_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::elements16, "guf::device::copy_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::tile1, "guf::device::tile_block", "guf::device::kThreads", "shared");
GUF_ENTRY(copy_cast::tile2, "guf::device::tile_block", "guf::device::kThreads", "shared");
GUF_ENTRY(copy_cast::tile4, "guf::device::tile_block", "guf::device::kThreads", "shared");
GUF_ENTRY(copy_cast::tile8, "guf::device::tile_block", "guf::device::kThreads", "shared");
GUF_ENTRY(copy_cast::tile16, "guf::device::tile_block", "guf::device::kThreads", "shared");
GUF_ENTRY(copy_cast::bytes, "guf::device::bytes_block", "guf::device::kThreads");
GUF_ENTRY(copy_cast::fill, "guf::device::fill_block", "guf::device::kThreads");

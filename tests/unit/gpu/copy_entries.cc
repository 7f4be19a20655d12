// SPDX-License-Identifier: Apache-2.0
// Compiles the copy and cast kernels of the backend for the host.
#include "kernels/standard/copy_cast.guf.cpp"
#include "tests/unit/gpu/host_entry.h"
#include "tests/unit/gpu/host_sink.h"

namespace gufunc::gpu {

const std::vector<HostEntry> &copy_entries() {
  namespace dev = guf::device;
  static const std::vector<HostEntry> all = [] {
    std::vector<HostEntry> table(static_cast<size_t>(Entry::kEntries));
    const auto at = [&](Entry entry) -> HostEntry & { return table[static_cast<size_t>(entry)]; };
    at(Entry::kConvert) = plain_entry<dev::convert_block, copy_cast::convert>(dev::kThreads);
    at(Entry::kCopy1) = plain_entry<dev::copy_block, copy_cast::elements1>(dev::kThreads);
    at(Entry::kCopy2) = plain_entry<dev::copy_block, copy_cast::elements2>(dev::kThreads);
    at(Entry::kCopy4) = plain_entry<dev::copy_block, copy_cast::elements4>(dev::kThreads);
    at(Entry::kCopy8) = plain_entry<dev::copy_block, copy_cast::elements8>(dev::kThreads);
    at(Entry::kCopy16) = plain_entry<dev::copy_block, copy_cast::elements16>(dev::kThreads);
    at(Entry::kTile1) = shared_entry<dev::tile_block, copy_cast::tile1>(dev::kThreads);
    at(Entry::kTile2) = shared_entry<dev::tile_block, copy_cast::tile2>(dev::kThreads);
    at(Entry::kTile4) = shared_entry<dev::tile_block, copy_cast::tile4>(dev::kThreads);
    at(Entry::kTile8) = shared_entry<dev::tile_block, copy_cast::tile8>(dev::kThreads);
    at(Entry::kTile16) = shared_entry<dev::tile_block, copy_cast::tile16>(dev::kThreads);
    at(Entry::kBytes) = plain_entry<dev::bytes_block, copy_cast::bytes>(dev::kThreads);
    at(Entry::kFill) = plain_entry<dev::fill_block, copy_cast::fill>(dev::kThreads);
    return table;
  }();
  return all;
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
// Excerpts of a PTX module, which contain only the text that some of its kernels need.
// The driver compiles every kernel in the text that it receives,
// and a family of functions has hundreds of kernels.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_TEXT_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/gpu/geometry/host_array.h"

namespace gufunc::gpu {

class PtxText {
 public:
  enum class Result : uint8_t {
    kText,
    kWhole,  // no excerpt is possible; the whole text must be used
    kNoMemory
  };

  // Copies the text up to its first NUL byte, and finds its declarations and definitions.
  // Must be called only once. The time is linear in the size of the text.
  // Returns kWhole if the text contains something that excerpts do not preserve,
  // such as debug information.
  Result open(const void *data, uint64_t size);

  // Returns the whole text, followed by a NUL byte.
  // The result is valid after open() has returned kText and until the object is destroyed.
  const char *whole() { return text_.data(); }
  bool has_entry(std::string_view name);

  // Writes the text of the given entries and of everything that they use, directly or indirectly,
  // in the original order. Names that are not in the text are ignored.
  // Returns kWhole if the entries use a variable that kernels may write. The kernels of a module
  // share such a variable, so they must be loaded together.
  Result excerpt(const std::string_view *entries, size_t count, HostArray<char> *out);

  // Writes the head of the text and a kernel that does nothing.
  // A driver that refuses the text because of its version or target also refuses this probe.
  Result probe(HostArray<char> *out);

 private:
  struct Item {
    uint32_t begin, end;  // positions in the text
    uint32_t name, name_length;
    uint32_t next;  // 1 + number of the next item with this name; 0: none
    bool is_entry;
    bool is_writable;
  };

  bool scan(uint64_t *out_count, bool keep);
  bool open_table();
  uint32_t *slot_of(std::string_view name);
  void reach(std::string_view name, uint8_t *reached, uint32_t *queue, uint32_t *inout_length);
  std::string_view view(uint32_t begin, uint32_t end) {
    return {text_.data() + begin, end - begin};
  }

  HostArray<char> text_;
  uint32_t size_ = 0;
  uint32_t head_end_ = 0;  // position after .version, .target and .address_size
  HostArray<Item> items_;
  uint32_t nitems_ = 0;
  // A hash table of names with open addressing. A slot contains 1 + the number of an item; 0: free.
  HostArray<uint32_t> table_;
  uint32_t table_mask_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_TEXT_H

// SPDX-License-Identifier: Apache-2.0
// Excerpts of a module in PTX: the text that some of its kernels need. The driver compiles every
// kernel of the text that it is given, and a family of functions has hundreds.
#ifndef GUFUNC_BACKENDS_GPU_PTX_TEXT_H
#define GUFUNC_BACKENDS_GPU_PTX_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/gpu/host_array.h"

namespace gufunc::gpu {

class PtxText {
 public:
  enum class Result : uint8_t {
    kText,
    kWhole,  // only the whole text will do
    kNoMemory
  };

  // Copies the text, up to its first NUL byte, and finds its declarations and definitions. Once per
  // object. Time is linear in the size.
  // Returns kWhole where the text has something that excerpts do not keep, such as debugging
  // information.
  Result open(const void *data, uint64_t size);

  // The whole text, with a NUL byte behind it. Valid while the object lives, after kText.
  const char *whole() { return text_.data(); }
  bool has_entry(std::string_view name);

  // Writes the text of these entries and of everything that they name, directly or not, in the
  // order of the original; names that the text does not have are passed over.
  // Returns kWhole where they reach a variable that kernels may write: the kernels of a module
  // share it, so all of them must be loaded together.
  Result excerpt(const std::string_view *entries, size_t count, HostArray<char> *out);

  // Writes the head of the text and a kernel that does nothing: what a driver refuses for its
  // version or its target it refuses with this head, too.
  Result probe(HostArray<char> *out);

 private:
  struct Item {
    uint32_t begin, end;  // in the text
    uint32_t name, name_length;
    uint32_t next;  // the next item of this name, plus 1; 0: none
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
  uint32_t head_end_ = 0;  // behind .version, .target and .address_size
  HostArray<Item> items_;
  uint32_t nitems_ = 0;
  HostArray<uint32_t> table_;  // open addressing by name: an item's number plus 1; 0: free
  uint32_t table_mask_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_PTX_TEXT_H

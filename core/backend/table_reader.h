// SPDX-License-Identifier: Apache-2.0
// Checks the pointers of a kernel table before they are dereferenced.
#ifndef GUFUNC_CORE_BACKEND_TABLE_READER_H
#define GUFUNC_CORE_BACKEND_TABLE_READER_H

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/backend/kernel_table.h"
#include "core/base/checked.h"

namespace gufunc::backend {

inline bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= GUF_MAX_NAME && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

inline bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

class TableReader {
 public:
  explicit TableReader(const TableRules &rules) : rules_(rules) {}

  // Returns whether the table's memory contains `count` objects of type T at `pointer`.
  template <class T>
  bool contains(const T *pointer, uint64_t count = 1) const {
    const auto first = reinterpret_cast<uint64_t>(pointer);
    uint64_t size = 0, end = 0;
    if (first == 0 || first % alignof(T) != 0) return false;
    if (!base::checked_mul<uint64_t>(count, sizeof(T), &size)) return false;
    if (!base::checked_add(first, size, &end)) return false;
    return rules_.regions.empty() || find_region(first, end) != nullptr;
  }
  bool contains_code(void (*function)(void)) const {
    const auto address = reinterpret_cast<uint64_t>(function);
    if (address == 0) return false;
    if (rules_.regions.empty()) return true;
    const Region *const region = find_region(address, address + 1);
    return region != nullptr && region->executable;
  }
  // Reads a string of at most `limit` characters. Returns false if the string is longer or does not
  // end inside the table's memory.
  bool read_text(const char *pointer, size_t limit, std::string_view *out) const {
    if (!contains(pointer)) return false;
    uint64_t most = limit + 1;
    if (!rules_.regions.empty()) {
      const auto first = reinterpret_cast<uint64_t>(pointer);
      most = std::min(most, find_region(first, first + 1)->end - first);
    }
    *out = {pointer, strnlen(pointer, most)};
    return out->size() < most;
  }
  // Adds `work` (one unit is about one nanosecond) to the cost of checking the table. Returns false
  // if the total exceeds the limit for a file. The size of the file does not limit the work,
  // because several entries of a table may point to the same data.
  bool within_budget(uint64_t work) const {
    work_ += work;
    return rules_.regions.empty() || work_ <= kMaxWork;
  }

 private:
  static constexpr uint64_t kMaxWork = uint64_t{1} << 28;

  const Region *find_region(uint64_t first, uint64_t end) const {
    for (const Region &region : rules_.regions) {
      if (first >= region.first && end <= region.end) return &region;
    }
    return nullptr;
  }

  const TableRules &rules_;
  mutable uint64_t work_ = 0;
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_TABLE_READER_H

// SPDX-License-Identifier: Apache-2.0
// Elements are converted in blocks that stay in the L1 cache:
// copies change byte order and alignment, and the typed cast loop runs on the blocks.
//
// PERF  Blocks of 256 elements take 1.0 to 1.6 times as long as a loop that is templated on the
//       operand types. A switch for each element takes 4 to 10 times as long.
#include "backends/cpu/loops/element_convert.h"

#include <algorithm>

#include "backends/cpu/loops/cast_table.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/element_copy.h"
#include "backends/cpu/loops/time_cast.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kBlock = 256;

void run_cast(guf_loop_numpy cast, const guf::time::conversion &units, const char *from,
              int64_t from_step, char *to, int64_t to_step, int64_t count) {
  char *args[2] = {const_cast<char *>(from), to};
  const int64_t steps[2] = {from_step, to_step};
  cast(args, &count, steps, const_cast<guf::time::conversion *>(&units));
}

}  // namespace

bool ElementConverter::choose(const ElementForm &from, const ElementForm &to) {
  if (is_structured(from.dtype) && (from.swapped || to.swapped)) return false;
  from_bytes_ = dtype_size(from.dtype);
  to_bytes_ = dtype_size(to.dtype);
  from_swap_ = from.swapped ? dtype_swap_bytes(from.dtype) : 0;
  to_swap_ = to.swapped ? dtype_swap_bytes(to.dtype) : 0;
  from_staged_ = from.swapped || from.unaligned;
  to_staged_ = to.swapped || to.unaligned;
  return choose_cast(from.dtype, to.dtype);
}

bool ElementConverter::choose_cast(guf_dtype from, guf_dtype to) {
  cast_ = nullptr;
  if (is_structured(from) || is_structured(to)) return from == to;
  if (is_time(from) && is_time(to)) return choose_time_cast(from, to, &cast_, &units_);
  if (is_time(from)) from = GUF_I64;
  if (is_time(to)) {
    cast_ = find_cast_to_time(from);
    if (cast_ != nullptr) return true;
    to = GUF_I64;
  }
  if (from == to) return dtype_index(from) >= 0;
  cast_ = find_cast(from, to);
  return cast_ != nullptr;
}

void ElementConverter::row(char *to, int64_t to_step, const char *from, int64_t from_step,
                           int64_t count) const {
  if (cast_ == nullptr) {
    const uint32_t swap = from_swap_ != to_swap_ ? from_swap_ | to_swap_ : 0;
    copy_elements(to, to_step, from, from_step, count, from_bytes_, swap);
  } else if (!from_staged_ && !to_staged_) {
    run_cast(cast_, units_, from, from_step, to, to_step, count);
  } else {
    row_by_blocks(to, to_step, from, from_step, count);
  }
}

void ElementConverter::row_by_blocks(char *to, int64_t to_step, const char *from, int64_t from_step,
                                     int64_t count) const {
  alignas(64) char native_from[kBlock * kMaxElementBytes];
  alignas(64) char native_to[kBlock * kMaxElementBytes];
  const int64_t from_size = from_bytes_, to_size = to_bytes_;
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t n = std::min(kBlock, count - done);
    const char *source = from + done * from_step;
    int64_t source_step = from_step;
    if (from_staged_) {
      copy_elements(native_from, from_size, source, from_step, n, from_bytes_, from_swap_);
      source = native_from;
      source_step = from_size;
    }
    char *target = to + done * to_step;
    if (to_staged_) {
      run_cast(cast_, units_, source, source_step, native_to, to_size, n);
      copy_elements(target, to_step, native_to, to_size, n, to_bytes_, to_swap_);
    } else {
      run_cast(cast_, units_, source, source_step, target, to_step, n);
    }
  }
}

void ElementConverter::convert_nd(char *to, const int64_t *to_step, const char *from,
                                  const int64_t *from_step, const int64_t *size, int ndim) const {
  int longest = 0;
  for (int d = 0; d < ndim; ++d) {
    if (size[d] == 0) return;
    if (size[d] > size[longest]) longest = d;
  }
  if (ndim == 0) return row(to, 0, from, 0, 1);
  int64_t index[kMaxDims] = {};
  for (;;) {
    row(to, to_step[longest], from, from_step[longest], size[longest]);
    int d = 0;
    for (; d < ndim; ++d) {
      if (d == longest) continue;
      // The addresses never step past the last element, because a dimension of extent 1 may have
      // any stride.
      if (++index[d] < size[d]) {
        to += to_step[d];
        from += from_step[d];
        break;
      }
      to -= to_step[d] * (size[d] - 1);
      from -= from_step[d] * (size[d] - 1);
      index[d] = 0;
    }
    if (d == ndim) return;
  }
}

}  // namespace gufunc::cpu

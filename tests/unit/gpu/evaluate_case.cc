// SPDX-License-Identifier: Apache-2.0
// Evaluates a launch item by item and element by element, as the backend interface documents it.
#include <algorithm>
#include <cstring>

#include "tests/unit/gpu/launch_case.h"

namespace gufunc::gpu::test {
namespace {

// The current item of an operand, and the core dimensions of the item.
struct Walk {
  int64_t item = 0;                // byte offset of the item from the address of the operand
  std::vector<int64_t> core_size;  // outermost dimension first
  std::vector<int64_t> core_step;
};

class Evaluation {
 public:
  Evaluation(const LaunchCase &launch, std::vector<Memory> *memory)
      : launch_(launch), block_(launch.block), memory_(*memory) {
    int place = 0;
    for (int i = 0; i < block_.noperands; ++i) {
      Walk walk;
      for (int j = 0; j < block_.core_ndim[i]; ++j, ++place) {
        walk.core_size.push_back(block_.size[1 + block_.core_name[place]]);
        walk.core_step.push_back(block_.step[block_.noperands + place]);
      }
      walk_.push_back(walk);
    }
  }

  void run_all() {
    if (block_.items == 0) return;
    std::vector<int64_t> index(static_cast<size_t>(block_.nloop), 0);
    for (;;) {
      int64_t mask_at = 0;
      for (int i = 0; i < block_.noperands; ++i) walk_[static_cast<size_t>(i)].item = 0;
      for (int d = 0; d < block_.nloop; ++d) {
        const int64_t at = index[static_cast<size_t>(d)];
        mask_at += at * block_.mask_step[d];
        for (int i = 0; i < block_.noperands; ++i) {
          walk_[static_cast<size_t>(i)].item +=
              at * (d == 0 ? block_.step[i] : block_.outer_step[d - 1][i]);
        }
      }
      const bool masked = (block_.flags & GUF_LAUNCH_MASKED) != 0;
      if (!masked || launch_.mask.memory.data()[launch_.mask.first + mask_at] != 0) run_item();
      int d = 0;
      for (; d < block_.nloop; ++d) {
        const int64_t size = d == 0 ? block_.size[0] : block_.outer_size[d - 1];
        if (++index[static_cast<size_t>(d)] < size) break;
        index[static_cast<size_t>(d)] = 0;
      }
      if (d == block_.nloop) return;
    }
  }

  uint32_t status = 0;

 private:
  char *first_of(int i) const {
    const int source = launch_.shares >= 0 && i == block_.nin ? launch_.shares : i;
    const auto at = static_cast<size_t>(source);
    return memory_[at].data() + launch_.operand[at].first;
  }

  // Calls visit(address, n) for every element of the current item, where n is the number of the
  // element in C order.
  template <class Visitor>
  void each_element(int i, Visitor visit) {
    const Walk &walk = walk_[static_cast<size_t>(i)];
    int64_t count = 1;
    for (const int64_t size : walk.core_size) count *= size;
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n, at = walk.item;
      for (size_t j = walk.core_size.size(); j-- > 0;) {
        at += rest % walk.core_size[j] * walk.core_step[j];
        rest /= walk.core_size[j];
      }
      visit(first_of(i) + at, static_cast<size_t>(n));
    }
  }

  void load(int i, std::vector<double> *packed) {
    const guf_dtype from = block_.dtype[i], own = block_.loop_dtype[i];
    each_element(i, [&](const char *address, size_t n) {
      char element[16];
      std::memcpy(element, address, bytes_of(from));
      if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_SWAPPED) != 0) swap_element(from, element);
      // Two doubles per element are large and aligned enough for every dtype.
      if (packed->size() < 2 * (n + 1)) packed->resize(2 * (n + 1));
      cast_plainly(from, element, own,
                   reinterpret_cast<char *>(packed->data()) + n * bytes_of(own));
    });
    if (packed->empty()) packed->resize(2);
  }

  void store(int i, const std::vector<double> &packed) {
    const guf_dtype to = block_.dtype[i], own = block_.loop_dtype[i];
    each_element(i, [&](char *address, size_t n) {
      char element[16];
      cast_plainly(own, reinterpret_cast<const char *>(packed.data()) + n * bytes_of(own), to,
                   element);
      if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_SWAPPED) != 0) swap_element(to, element);
      std::memcpy(address, element, bytes_of(to));
    });
  }

  uint32_t classes(int i, const std::vector<double> &packed) {
    uint32_t all = 0;
    each_element(i, [&](const char *, size_t n) {
      all |= class_of(block_.loop_dtype[i], reinterpret_cast<const char *>(packed.data()) +
                                                n * bytes_of(block_.loop_dtype[i]));
    });
    return all;
  }

  bool is_zero_divisor(const std::vector<double> &packed) const {
    const int last = block_.nin - 1;
    const uint32_t code = block_.loop_dtype[last] & 0xFF;
    if (code > 1 && code < 0x80) return false;
    const char zeros[8] = {};
    return std::memcmp(packed.data(), zeros, bytes_of(block_.loop_dtype[last])) == 0;
  }

  void run_item() {
    std::vector<std::vector<double>> packed(static_cast<size_t>(block_.noperands));
    std::vector<char *> operands;
    uint32_t seen = 0, found = 0;
    for (int i = 0; i < block_.noperands; ++i) {
      std::vector<double> &values = packed[static_cast<size_t>(i)];
      load(i, &values);
      operands.push_back(reinterpret_cast<char *>(values.data()));
      if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0) seen |= classes(i, values);
    }
    const bool divides = (launch_.fp_status.function_flags & GUF_FUNCTION_DIVIDES) != 0;
    if (divides && block_.ncore == 0 &&
        is_zero_divisor(packed[static_cast<size_t>(block_.nin - 1)])) {
      found |= GUF_FP_INTEGER_DIVIDE;
    }
    if (launch_.loop->evaluate(operands.data(), block_.size + 1)) status |= 0x80000000U;
    for (int i = 0; i < block_.noperands; ++i) {
      if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) == 0) continue;
      store(i, packed[static_cast<size_t>(i)]);
      found |= fp_flags(seen, classes(i, packed[static_cast<size_t>(i)]));
    }
    if (launch_.has_fp_status)
      status |= found & (launch_.fp_status.report | launch_.fp_status.fail);
  }

  // Implements the table in docs/fp-flags.md row by row.
  uint32_t fp_flags(uint32_t seen, uint32_t made) const {
    const bool finite = (seen & 3U) == 0, zero = (seen & 4U) != 0;
    const bool underflows = (launch_.fp_status.function_flags & GUF_FUNCTION_UNDERFLOWS) != 0;
    if ((made & 1U) != 0 && (seen & 1U) == 0) return GUF_FP_INVALID;
    uint32_t all = 0;
    if ((made & 2U) != 0 && finite) {
      all |= zero && block_.ncore == 0 ? GUF_FP_DIVIDE : GUF_FP_OVERFLOW;
    }
    if ((made & 8U) != 0 && finite && !zero && underflows) all |= GUF_FP_UNDERFLOW;
    return all;
  }

  const LaunchCase &launch_;
  const guf_launch_block &block_;
  std::vector<Memory> &memory_;
  std::vector<Walk> walk_;
};

}  // namespace

uint32_t evaluate_case(const LaunchCase &launch, std::vector<Memory> *out) {
  for (const ArrayLayout &laid : launch.operand) out->push_back(laid.memory.copy());
  Evaluation evaluation(launch, out);
  evaluation.run_all();
  return evaluation.status;
}

}  // namespace gufunc::gpu::test

// SPDX-License-Identifier: Apache-2.0
// Makes random launches, and evaluates a launch item by item and element by element, as the backend
// interface documents it.
#include "tests/unit/gpu/launch_case.h"

#include <algorithm>
#include <cstring>

namespace gufunc::gpu::test {
namespace {

constexpr guf_dtype kAll[] = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                              GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                              GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};

guf_dtype time_of(int code, int unit, uint32_t multiple) {
  return static_cast<guf_dtype>(code) | static_cast<guf_dtype>(unit) << 8 | multiple << 16;
}

// Returns `count` random sizes near the block sizes of the kernels. The product of the sizes is at
// most `most`.
std::vector<int64_t> random_sizes(int count, int64_t most, Random &random) {
  const int64_t sizes[] = {1,  2,  3,  4,  5,   7,   8,   16,  17,   31,
                           32, 33, 40, 64, 100, 255, 256, 257, 1023, 1025};
  std::vector<int64_t> result;
  int64_t all = 1;
  for (int d = 0; d < count; ++d) {
    int64_t size = sizes[below(random, std::size(sizes))];
    if (all * size > most) size = 1 + static_cast<int64_t>(below(random, 3));
    if (all * size > most) size = 1;
    if (chance(random, 1)) size = 0;
    all *= std::max<int64_t>(size, 1);
    result.push_back(size);
  }
  if (chance(random, 50)) std::shuffle(result.begin(), result.end(), random);
  return result;
}

struct Geometry {
  std::vector<int64_t> loop, core;
};

Geometry random_geometry(const SampleLoop &loop, Random &random) {
  Geometry shape;
  const bool generalized = loop.ncore >= 0;
  const int ndim = chance(random, 60) ? static_cast<int>(below(random, 3))
                                      : static_cast<int>(below(random, GUF_MAX_LOOP_NDIM + 1));
  const bool big_items = generalized && chance(random, 40);
  const bool large = !generalized && chance(random, 4);
  shape.loop = random_sizes(ndim,
                            generalized ? (big_items ? 40 : 600)
                            : large     ? 70000
                                        : 5000,
                            random);
  if (generalized) {
    shape.core = random_sizes(loop.ncore, big_items ? 5000 : 40, random);
    // If an item has a long dimension, the reduction tree of the item has several base blocks, and
    // each work-item handles several elements.
    const int64_t long_sizes[] = {600, 900, 1600, 2049, 4097, 5000};
    if (big_items && chance(random, 50)) {
      shape.core.assign(shape.core.size(), 1);
      shape.core[below(random, shape.core.size())] = long_sizes[below(random, 6)];
    }
  }
  return shape;
}

// Returns the dimensions of one operand, innermost first: core dimensions in reverse order, then
// loop dimensions.
std::vector<Extent> extents_of(const LaunchCase &launch, int operand, const Geometry &shape,
                               bool may_stretch, Random &random) {
  std::vector<Extent> extents;
  int place = 0;
  for (int i = 0; i < operand; ++i) place += launch.loop->core_ndim[i];
  for (int j = launch.loop->core_ndim[operand] - 1; j >= 0; --j) {
    extents.push_back({shape.core[launch.loop->core_name[place + j]], false});
  }
  for (const int64_t size : shape.loop) {
    extents.push_back({size, may_stretch && chance(random, 20)});
  }
  return extents;
}

guf_dtype random_dtype(guf_dtype own, Random &random) {
  const bool is_time = (own & 0x80) != 0;
  if (is_time && chance(random, 70)) {
    const int units[] = {GUF_UNIT_MILLISECOND, GUF_UNIT_SECOND, GUF_UNIT_HOUR, GUF_UNIT_DAY};
    return time_of(0x81, units[below(random, 4)], chance(random, 30) ? 25 : 1);
  }
  return kAll[below(random, std::size(kAll))];
}

void set_steps(guf_launch_block *block, int operand, const SampleLoop &loop, const Geometry &shape,
               const std::vector<int64_t> &step) {
  const int core = loop.ncore < 0 ? 0 : loop.core_ndim[operand];
  int place = 0;
  for (int i = 0; i < operand; ++i) place += loop.ncore < 0 ? 0 : loop.core_ndim[i];
  for (int j = 0; j < core; ++j) {
    block->step[block->noperands + place + j] = step[static_cast<size_t>(core - 1 - j)];
  }
  for (size_t d = 0; d < shape.loop.size(); ++d) {
    const int64_t value = step[static_cast<size_t>(core) + d];
    if (d == 0) {
      block->step[operand] = value;
    } else {
      block->outer_step[d - 1][operand] = value;
    }
  }
}

// Makes operand `i` of the launch. `odd` scales the probability of unusual layouts, in percent.
void make_operand(LaunchCase *launch, int i, const Geometry &shape, Order order, int odd,
                  Values values, Random &random) {
  const SampleLoop &loop = *launch->loop;
  guf_launch_block &block = launch->block;
  const bool input = i < loop.nin;
  const bool written = !input || (loop.reads_output && i == loop.nin - 1 && loop.nout == 0);
  const guf_dtype own = block.loop_dtype[i];
  if (chance(random, 12 * odd / 100)) block.dtype[i] = random_dtype(own, random);
  const bool swapped = bytes_of(block.dtype[i]) > 1 && chance(random, 8 * odd / 100);
  const bool unaligned = bytes_of(block.dtype[i]) > 1 && chance(random, 6 * odd / 100);
  std::vector<Extent> extents =
      extents_of(*launch, i, shape, input && !written && odd != 0, random);
  const bool immediate = input && !written && chance(random, 8 * odd / 100) &&
                         (loop.ncore < 0 || loop.core_ndim[i] == 0);
  if (immediate) {
    for (Extent &extent : extents) extent.stretched = true;
  }
  ArrayLayout laid = lay_out_array(extents, bytes_of(block.dtype[i]), unit_of(block.dtype[i]),
                                   order, unaligned && !immediate, random);
  fill_array(block.dtype[i], swapped, values, extents, laid, random);
  set_steps(&block, i, loop, shape, laid.step);
  block.address[i] = laid.address();
  uint32_t flags = written ? GUF_LAUNCH_OPERAND_WRITTEN : GUF_LAUNCH_OPERAND_READ;
  if (written && loop.reads_output) flags |= GUF_LAUNCH_OPERAND_READ;
  if (swapped) flags |= GUF_LAUNCH_OPERAND_SWAPPED;
  if (laid.unaligned) flags |= GUF_LAUNCH_OPERAND_UNALIGNED;
  if (immediate) flags |= GUF_LAUNCH_OPERAND_IMMEDIATE;
  block.operand_flags[i] = flags;
  if (block.dtype[i] != own) block.flags |= GUF_LAUNCH_CAST;
  if (swapped || laid.unaligned) block.flags |= GUF_LAUNCH_SWAPPED;
  launch->operand.push_back(std::move(laid));
}

// Makes the first output the same view as an input with the same dtype.
void share_memory(LaunchCase *launch, const Geometry &shape) {
  guf_launch_block &block = launch->block;
  const int out = launch->loop->nin;
  for (int i = 0; i < launch->loop->nin; ++i) {
    const uint32_t odd = GUF_LAUNCH_OPERAND_IMMEDIATE;
    if (block.dtype[i] != block.dtype[out] || (block.operand_flags[i] & odd) != 0) continue;
    const ArrayLayout &laid = launch->operand[static_cast<size_t>(i)];
    bool stretched = false;
    for (size_t d = 0; d < shape.loop.size(); ++d) stretched = stretched || laid.step[d] == 0;
    if (stretched) continue;
    launch->shares = i;
    set_steps(&block, out, *launch->loop, shape, laid.step);
    block.address[out] = block.address[i];
    const uint32_t stored = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;
    block.operand_flags[out] =
        (block.operand_flags[out] & ~stored) | (block.operand_flags[i] & stored);
    return;
  }
}

void make_mask(LaunchCase *launch, const Geometry &shape, Random &random) {
  std::vector<Extent> extents;
  for (const int64_t size : shape.loop) extents.push_back({size, chance(random, 20)});
  launch->mask = lay_out_array(extents, 1, 1, Order::kAny, false, random);
  fill_array(GUF_BOOL, false, Values::kAny, extents, launch->mask, random);
  launch->block.flags |= GUF_LAUNCH_MASKED;
  launch->block.mask = launch->mask.address();
  for (size_t d = 0; d < shape.loop.size(); ++d) launch->block.mask_step[d] = launch->mask.step[d];
}

void describe_case(LaunchCase *launch, const Geometry &shape) {
  std::string &text = launch->text;
  const guf_launch_block &block = launch->block;
  text = std::string(launch->loop->name) + " loop";
  for (const int64_t size : shape.loop) text += " " + std::to_string(size);
  text += " core";
  for (const int64_t size : shape.core) text += " " + std::to_string(size);
  for (int i = 0; i < block.noperands; ++i) {
    text += "; operand " + std::to_string(i) + " dtype " + std::to_string(block.dtype[i]) +
            " flags " + std::to_string(block.operand_flags[i]) + " steps";
    for (const int64_t step : launch->operand[static_cast<size_t>(i)].step) {
      text += " " + std::to_string(step);
    }
  }
  if ((block.flags & GUF_LAUNCH_MASKED) != 0) text += "; masked";
  if (launch->has_fp_status) text += "; with floating-point flags";
  if (launch->shares >= 0) text += "; in place of " + std::to_string(launch->shares);
}

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

LaunchCase make_case(const SampleLoop &loop, Random &random) {
  LaunchCase launch = {};
  launch.loop = &loop;
  launch.shares = -1;
  const Geometry shape = random_geometry(loop, random);
  guf_launch_block &block = launch.block;
  block.noperands = loop.nin + loop.nout;
  block.nin = loop.nin;
  block.nloop = static_cast<int32_t>(shape.loop.size());
  block.ncore = std::max(loop.ncore, 0);
  block.items = 1;
  block.size[0] = 1;
  for (size_t d = 0; d < shape.loop.size(); ++d) {
    (d == 0 ? block.size[0] : block.outer_size[d - 1]) = shape.loop[d];
    block.items *= static_cast<uint64_t>(shape.loop[d]);
  }
  for (size_t d = 0; d < shape.core.size(); ++d) block.size[1 + d] = shape.core[d];
  block.flags = GUF_LAUNCH_ANY_THREAD;
  if (loop.ncore >= 0) block.flags |= GUF_LAUNCH_GENERALIZED;
  if (loop.may_fail) block.flags |= GUF_LAUNCH_STATUS;
  const int odd = chance(random, 25) ? 0 : 100;
  const Order order = odd == 0 || chance(random, 50) ? Order::kDense : Order::kAny;
  const Values values = chance(random, 60) ? Values::kPlain : Values::kAny;
  for (int i = 0; i < block.noperands; ++i) {
    const bool is_time = (loop.dtype[i] & 0x80) != 0;
    block.loop_dtype[i] = is_time ? time_of(0x81, GUF_UNIT_SECOND, 1) : loop.dtype[i];
    block.dtype[i] = block.loop_dtype[i];
    if (loop.ncore >= 0) {
      block.core_ndim[i] = loop.core_ndim[i];
      for (int j = 0; j < loop.core_ndim[i]; ++j) {
        block.core_name[block.ncorestrides] = loop.core_name[block.ncorestrides];
        ++block.ncorestrides;
      }
    }
    const bool usual = odd == 0 || chance(random, 85);
    make_operand(&launch, i, shape, usual ? order : Order::kAny, odd, values, random);
  }
  if (loop.ncore < 0 && chance(random, 15)) share_memory(&launch, shape);
  if (chance(random, 20 * odd / 100)) make_mask(&launch, shape, random);
  launch.has_fp_status = chance(random, 15 * odd / 100);
  launch.fp_status = {loop.name,
                      chance(random, 50) ? GUF_FUNCTION_UNDERFLOWS | GUF_FUNCTION_DIVIDES : 0U,
                      static_cast<uint32_t>(below(random, 32)),
                      static_cast<uint32_t>(below(random, 32)),
                      0,
                      nullptr};
  describe_case(&launch, shape);
  return launch;
}

uint32_t evaluate_case(const LaunchCase &launch, std::vector<Memory> *out) {
  for (const ArrayLayout &laid : launch.operand) out->push_back(laid.memory.copy());
  Evaluation evaluation(launch, out);
  evaluation.run_all();
  return evaluation.status;
}

}  // namespace gufunc::gpu::test

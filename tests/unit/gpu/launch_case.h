// SPDX-License-Identifier: Apache-2.0
// Random launches over every kind of layout, and their naive evaluation.
#ifndef GUFUNC_TESTS_UNIT_GPU_LAUNCH_CASE_H
#define GUFUNC_TESTS_UNIT_GPU_LAUNCH_CASE_H

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/gpu/sample_loops.h"

namespace gufunc::gpu::test {

using Random = std::mt19937_64;

inline uint64_t below(Random &random, uint64_t n) {
  return random() % n;
}
inline bool chance(Random &random, int percent) {
  return static_cast<int>(below(random, 100)) < percent;
}

// Memory whose last byte is the allocation's: sanitizers see what goes beyond.
class Memory {
 public:
  Memory() = default;
  Memory(size_t bytes, size_t offset);
  char *data() const { return data_.get() + offset_; }
  size_t bytes() const { return bytes_; }
  Memory copy() const;

 private:
  std::unique_ptr<char, decltype(&std::free)> data_{nullptr, &std::free};
  size_t bytes_ = 0, offset_ = 0;
};

// One dimension that an array is laid out over; `stretched`: without moving along it.
struct Extent {
  int64_t size;
  bool stretched;
};

// How an array lies: steps of all its dimensions, memory, and where element 0 is.
struct Laid {
  std::vector<int64_t> step;
  Memory memory;
  int64_t first;  // byte in `memory`
  bool unaligned;
  uint64_t address() const { return reinterpret_cast<uint64_t>(memory.data() + first); }
};
enum class Order { kDense, kAny };
Laid lay_out_array(const std::vector<Extent> &extents, uint32_t bytes, uint32_t alignment,
                   Order order, bool unaligned, Random &random);

// kPlain: neither infinite nor NaN nor near either, so that an order of sums shows in the result.
enum class Values { kPlain, kAny };
// A random element of any of the fifteen types or a time, in the host's order.
void random_element(guf_dtype dtype, Values values, Random &random, char *to);
uint32_t bytes_of(guf_dtype dtype);
uint32_t unit_of(guf_dtype dtype);  // that swaps as one
void swap_element(guf_dtype dtype, char *element);
void fill_array(guf_dtype dtype, bool swapped, Values values, const std::vector<Extent> &extents,
                Laid &laid, Random &random);

// From one dtype to another as docs say: guf::cast, units of times, numbers to times.
void cast_plainly(guf_dtype from_dtype, const char *from, guf_dtype to_dtype, char *to);

struct LaunchCase {
  const SampleLoop *loop;
  guf_launch_block block;
  guf_launch_watch watch;
  bool watches;
  std::vector<Laid> operand;
  int shares = -1;  // the input whose memory is the first output's too
  Laid mask;
  std::string text;  // what it is, for people
};
LaunchCase make_case(const SampleLoop &loop, Random &random);

// Runs it over copies of the operands' memory; returns what the status word has to be.
uint32_t evaluate_case(const LaunchCase &launch, std::vector<Memory> *out);

// Classes of an element as docs/fp-events.md has them: bits 1 NaN, 2 infinite, 4 zero, 8 tiny.
uint32_t class_of(guf_dtype dtype, const char *element);

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_LAUNCH_CASE_H

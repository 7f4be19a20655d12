// SPDX-License-Identifier: Apache-2.0
// Provides random launches over operands in every memory layout, and a simple evaluation of these
// launches.
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

// A buffer at the end of its allocation, so that sanitizers detect accesses beyond the buffer.
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

// One dimension of an array. A stretched dimension is a broadcast dimension with stride 0.
struct Extent {
  int64_t size;
  bool stretched;
};

// An array: the strides of all its dimensions, its memory, and the position of its first element.
struct ArrayLayout {
  std::vector<int64_t> step;
  Memory memory;
  int64_t first;  // byte offset of the first element in `memory`
  bool unaligned;
  uint64_t address() const { return reinterpret_cast<uint64_t>(memory.data() + first); }
};
enum class Order { kDense, kAny };
ArrayLayout lay_out_array(const std::vector<Extent> &extents, uint32_t bytes, uint32_t alignment,
                          Order order, bool unaligned, Random &random);

// Values::kPlain are finite values of moderate size, whose sum depends on the order of additions.
enum class Values { kPlain, kAny };
// Writes a random element of one of the fifteen number dtypes or of a datetime type, in native byte
// order.
void random_element(guf_dtype dtype, Values values, Random &random, char *to);
uint32_t bytes_of(guf_dtype dtype);
uint32_t unit_of(guf_dtype dtype);  // number of bytes that are swapped as one unit
void swap_element(guf_dtype dtype, char *element);
void fill_array(guf_dtype dtype, bool swapped, Values values, const std::vector<Extent> &extents,
                ArrayLayout &laid, Random &random);

// Converts an element as the library documents: between numbers as guf::cast does, between units of
// datetime types, and from numbers to datetime types.
void cast_plainly(guf_dtype from_dtype, const char *from, guf_dtype to_dtype, char *to);

struct LaunchCase {
  const SampleLoop *loop;
  guf_launch_block block;
  guf_fp_status fp_status;
  bool has_fp_status;
  std::vector<ArrayLayout> operand;
  int shares = -1;  // index of the input that shares memory with the first output, or -1
  ArrayLayout mask;
  std::string text;  // description for failure messages
};
LaunchCase make_case(const SampleLoop &loop, Random &random);

// Runs the case on copies of the operands' memory. Returns the expected status word.
uint32_t evaluate_case(const LaunchCase &launch, std::vector<Memory> *out);

// Returns the class of an element as in docs/fp-flags.md. Bits: 1 NaN, 2 infinite, 4 zero, 8 tiny.
uint32_t class_of(guf_dtype dtype, const char *element);

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_LAUNCH_CASE_H

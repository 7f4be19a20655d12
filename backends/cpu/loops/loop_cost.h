// SPDX-License-Identifier: Apache-2.0
// The run time of loops, measured while they run. The run time influences how many threads run a
// launch, but never the results.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_LOOP_COST_H
#define GUFUNC_BACKENDS_CPU_LOOPS_LOOP_COST_H

#include <cstdint>
#include <ctime>

namespace gufunc::cpu {

// The measured cost of one loop, which is identified by its function and its user pointer. The
// costs are in a table of fixed size. A loop whose table entry was overwritten by another loop is
// measured again.
//
// The cost of a launch is its weight: the number of elements that an ordinary loop computes in the
// same time. An ordinary loop takes 0.25 ns for each element.
class LoopCost {
 public:
  static constexpr uint64_t kElementsPerMicrosecond = 4000;

  LoopCost(const void *entry, const void *user);

  bool is_known() const { return factor_ != 0; }
  // Returns the weight of `work` elements of this loop, which is at least `work`, or UINT64_MAX on
  // overflow. If the loop has not been measured, returns `work`.
  uint64_t weigh(uint64_t work) const;
  // Records the cost of an ordinary loop, unless the loop has been measured. Called for the loops
  // of the standard library.
  void assume_ordinary() {
    if (!is_known()) record(kElementsPerMicrosecond, 1000);
  }
  // Records that `work` elements took `ns` nanoseconds.
  void record(uint64_t work, uint64_t ns);

 private:
  struct Entry;
  static Entry table[];

  const uint64_t key_;
  Entry &entry_;
  float factor_;  // weight of an element; 0: not measured
};

// Returns true for one in 16 calls on a thread. A launch for which the result is true is timed,
// even if it is so short that timing every such launch would be too expensive.
bool is_sample();

class Stopwatch {
 public:
  uint64_t ns() const { return now() - begun_; }

 private:
  static uint64_t now() {
    timespec at = {};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return static_cast<uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(at.tv_nsec);
  }
  const uint64_t begun_ = now();
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_LOOP_COST_H

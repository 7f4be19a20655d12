// SPDX-License-Identifier: Apache-2.0
// The run time of loops, measured while they run. It decides how many threads run a launch, never
// what the launch computes.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_LOOP_COST_H
#define GUFUNC_BACKENDS_CPU_LOOPS_LOOP_COST_H

#include <cstdint>
#include <ctime>

namespace gufunc::cpu {

// The measured cost of one loop, which is a function with a user pointer. A table of fixed size
// keeps the costs; if another loop has overwritten an entry, the loop is measured again.
//
// Work is counted in elements of an ordinary loop, which take 0.25 ns each: an element of a slower
// loop weighs more than one.
class LoopCost {
 public:
  static constexpr uint64_t kElementsPerMicrosecond = 4000;

  LoopCost(const void *entry, const void *user);

  bool is_known() const { return factor_ != 0; }
  // Returns at least `work`, saturated; `work` itself if the loop has not been measured.
  uint64_t weigh(uint64_t work) const;
  // For a loop of the standard library that has not been measured.
  void assume_ordinary() {
    if (!is_known()) record(kElementsPerMicrosecond, 1000);
  }
  // Records that `work` elements took `ns`.
  void record(uint64_t work, uint64_t ns);

 private:
  struct Place;
  static Place table[];

  const uint64_t key_;
  Place &place_;
  float factor_;  // weight of an element; 0: unknown
};

// Whether to time a launch that is too short to be timed each time: one in 16 of a thread's
// launches.
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

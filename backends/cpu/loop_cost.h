// SPDX-License-Identifier: Apache-2.0
// How long loops take, as measured while they run. It decides which threads run a launch, and never
// what the launch computes.
#ifndef GUFUNC_BACKENDS_CPU_LOOP_COST_H
#define GUFUNC_BACKENDS_CPU_LOOP_COST_H

#include <cstdint>
#include <ctime>

namespace gufunc::cpu {

// The measured cost of one loop: a function with the program's pointer. Costs are kept in a table
// of fixed size; a loop whose place another one has taken is measured again.
//
// Work is counted in elements of an ordinary loop, which take 0.25 ns: an element of a slower loop
// weighs more than one.
class LoopCost {
 public:
  static constexpr uint64_t kElementsPerMicrosecond = 4000;

  LoopCost(const void *entry, const void *user);

  bool is_known() const { return factor_ != 0; }
  // At least `work`, saturated. `work` where nothing has been measured.
  uint64_t weigh(uint64_t work) const;
  // Of a loop of the standard library that was never measured.
  void assume_ordinary() {
    if (!is_known()) record(kElementsPerMicrosecond, 1000);
  }
  // `work` elements took `ns`.
  void record(uint64_t work, uint64_t ns);

 private:
  struct Place;
  static Place table[];

  const uint64_t key_;
  Place &place_;
  float factor_;  // weight of an element; 0: not known
};

// Whether a launch that is too short to be timed each time is timed: one in 16 of a thread's.
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

#endif  // GUFUNC_BACKENDS_CPU_LOOP_COST_H

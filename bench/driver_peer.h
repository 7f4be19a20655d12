// SPDX-License-Identifier: Apache-2.0
// Calls a vendor's driver directly, for comparison: a copy of device memory, and the launch of an
// empty kernel.
#ifndef GUFUNC_BENCH_DRIVER_PEER_H
#define GUFUNC_BENCH_DRIVER_PEER_H

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gufunc::bench {

// The exception that every function of the benchmarks throws on failure. `text` is the reason.
struct Failure {
  std::string text;
};

// Reports an exception as the error of one benchmark, so that all other benchmarks still run.
template <class Body>
void guarded(benchmark::State &state, Body body) {
  try {
    body();
  } catch (const Failure &failure) {
    state.SkipWithError(failure.text.c_str());
  }
}

class DriverPeer {
 public:
  // Returns the driver of a device such as "cuda:0" or "roc:1". The first call opens the driver.
  static DriverPeer &of(const std::string &spec);

  // Loads the empty kernel of a module (empty.guf.cpp), which launch_empty() launches.
  void load_empty(const std::string &module);

  void copy(uint64_t to, uint64_t from, uint64_t bytes);  // queues a copy
  void launch_empty();                                    // queues one block of one thread
  void wait();

 private:
  using Code = int;
  explicit DriverPeer(const std::string &spec);
  void open_cuda(int index);
  void open_hip(int index);
  void load_image(const std::string &module);
  template <class Function>
  void find(const char *name, Function *out);
  static void check(const char *function, Code code);

  bool cuda_;
  void *library_ = nullptr;
  void *stream_ = nullptr;
  void *kernel_ = nullptr;
  char argument_[256] = {};
  size_t argument_bytes_ = 0;
  Code (*copy_)(uint64_t, uint64_t, size_t, void *) = nullptr;
  Code (*launch_)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **) = nullptr;
  Code (*wait_)(void *) = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_DRIVER_PEER_H

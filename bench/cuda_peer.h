// SPDX-License-Identifier: Apache-2.0
// The driver itself, for comparison: its copy of device memory, its bare launch.
#ifndef GUFUNC_BENCH_CUDA_PEER_H
#define GUFUNC_BENCH_CUDA_PEER_H

#include <cstdint>

namespace gufunc::bench {

class CudaPeer {
 public:
  // Ends the program when there is no driver or device.
  CudaPeer();

  void copy(uint64_t to, uint64_t from, uint64_t bytes);  // queues
  void launch_empty();                                    // queues a kernel of one thread
  void wait();

 private:
  void *library_ = nullptr;
  void *kernel_ = nullptr;
  void *stream_ = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_CUDA_PEER_H

// SPDX-License-Identifier: Apache-2.0
// Detects accesses of two threads to the same byte of shared memory without a barrier in between,
// of which at least one is a write. The order in which the interpreter runs the threads does not
// matter. The record of each byte has the last writer and two readers, so some hazards are missed,
// but every reported one exists.
#ifndef GUFUNC_TESTS_PTX_PTX_HAZARDS_H
#define GUFUNC_TESTS_PTX_PTX_HAZARDS_H

#include <cstdint>
#include <vector>

namespace ptx {

class Hazards {
 public:
  // `syncs` is the number of `bar.warp.sync` that the warp of the thread has executed. A strong
  // access is atomic or volatile. Two strong accesses are no hazard.
  struct Access {
    uint32_t thread = 0;
    uint32_t syncs = 0;
    uint32_t line = 0;
    uint32_t phase = 0;  // set by record(); 0 means no access
    bool is_strong = false;
  };

  void start_block(uint64_t bytes);
  // Separates earlier accesses of all threads from later ones.
  void pass_barrier() { ++phase_; }
  // Records an access. Returns an earlier access with which it conflicts, or null.
  const Access *record(uint64_t address, uint64_t bytes, Access access, bool writes);

 private:
  struct Byte {
    Access writer, reader, other_reader;
  };

  const Access *record_byte(Byte &byte, const Access &access, bool writes);
  bool conflict(const Access &earlier, const Access &access) const;

  std::vector<Byte> bytes_;
  uint32_t phase_ = 0;
  Access found_;
};

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_HAZARDS_H

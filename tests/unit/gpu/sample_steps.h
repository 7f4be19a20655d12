// SPDX-License-Identifier: Apache-2.0
// Steps that run on the host, one work-item after the other; those of entries that synchronise
// stand on contexts of their own.
#ifndef GUFUNC_TESTS_UNIT_GPU_SAMPLE_STEPS_H
#define GUFUNC_TESTS_UNIT_GPU_SAMPLE_STEPS_H

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backends/gpu/device_steps.h"
#include "tests/unit/gpu/sample_loops.h"

namespace gufunc::gpu::test {

class SampleSteps final : public Steps {
 public:
  explicit SampleSteps(const SampleLoop *loop) : loop_(loop) {}

  const DeviceTraits &traits() const override { return traits_; }
  bool has(Entry entry) const override;
  guf_status run(const Step &step, guf_error *error) override;
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override;
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override;
  guf_status status_word(uint64_t *out_address, guf_error *error) override;

  // What the steps did.
  uint32_t status = 0;
  uint32_t steps_run = 0;
  std::array<uint64_t, static_cast<size_t>(Entry::kEntries)> used = {};  // steps by entry
  uint64_t vectors = 0;                                                  // rows that had them

  DeviceTraits traits_ = {4, 2, 64 * 1024};
  bool no_scratch = false;          // scratch fails
  Entry missing = Entry::kEntries;  // an entry that the kernel lacks

 private:
  const SampleLoop *loop_;
  std::vector<std::unique_ptr<char[]>> memory_;
};

}  // namespace gufunc::gpu::test

#endif  // GUFUNC_TESTS_UNIT_GPU_SAMPLE_STEPS_H

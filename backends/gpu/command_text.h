// SPDX-License-Identifier: Apache-2.0
// Steps in words, taken down instead of run.
#ifndef GUFUNC_BACKENDS_GPU_WRITTEN_STEPS_H
#define GUFUNC_BACKENDS_GPU_WRITTEN_STEPS_H

#include <cstddef>

#include "backends/gpu/device_steps.h"

namespace gufunc::gpu {

// Lines "word: text" in the caller's room, NUL-terminated, cut off where that ends. Of `device`
// traits(), has() and local_bytes() are asked. Addresses that are given out stand for none.
class WrittenSteps final : public Steps {
 public:
  WrittenSteps(const Steps &device, char *text, size_t size);

  const DeviceTraits &traits() const override { return device_.traits(); }
  bool has(Entry entry) const override { return device_.has(entry); }
  uint32_t local_bytes(Entry entry) const override { return device_.local_bytes(entry); }
  guf_status run(const Step &step, guf_error *error) override;
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override;
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override;
  guf_status status_word(uint64_t *out_address, guf_error *error) override;

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);

 private:
  const Steps &device_;
  char *text_;
  size_t left_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_WRITTEN_STEPS_H

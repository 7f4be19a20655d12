// SPDX-License-Identifier: Apache-2.0
// A CommandSink that writes commands as text instead of running them.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_TEXT_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_TEXT_H

#include <cstddef>

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// Writes lines of the form "word: text" to the caller's buffer,
// NUL-terminated and truncated to its size. traits(), has() and local_bytes() forward to `device`.
// The addresses of scratch memory, of uploads and of the status word are placeholders.
class CommandText final : public CommandSink {
 public:
  CommandText(const CommandSink &device, char *text, size_t size);

  const DeviceTraits &traits() const override { return device_.traits(); }
  bool has(Entry entry) const override { return device_.has(entry); }
  uint32_t local_bytes(Entry entry) const override { return device_.local_bytes(entry); }
  guf_status run(const Command &command, guf_error *error) override;
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *error) override;
  guf_status upload(const void *source, uint64_t bytes, uint64_t *out_address,
                    guf_error *error) override;
  guf_status status_word(uint64_t *out_address, guf_error *error) override;

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...);

 private:
  const CommandSink &device_;
  char *text_;
  size_t left_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_COMMAND_TEXT_H

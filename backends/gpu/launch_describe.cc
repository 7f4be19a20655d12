// SPDX-License-Identifier: Apache-2.0
// The steps of a launch in words, taken down instead of run.
#include <cstdarg>
#include <cstdio>

#include "backends/gpu/gpu_host.h"
#include "backends/gpu/launch_queue.h"

namespace gufunc::gpu {
namespace {

const char *words_of(Entry entry) {
  switch (entry) {
    case Entry::kRow:
      return "rows of the inner dimension";
    case Entry::kNd:
      return "element by element";
    case Entry::kThread:
      return "a thread per item";
    case Entry::kStaged:
      return "a thread per item, rows through shared memory";
    case Entry::kLanes:
      return "32 threads per item";
    case Entry::kBlock:
      return "a block per item";
    case Entry::kConvert:
      return "converts an operand";
    case Entry::kTile1:
    case Entry::kTile2:
    case Entry::kTile4:
    case Entry::kTile8:
    case Entry::kTile16:
      return "turns an operand by tiles";
    default:
      return "copies an operand";
  }
}

class WrittenSteps final : public Steps {
 public:
  WrittenSteps(const Steps &device, char *text, size_t size)
      : device_(device), text_(text), left_(size) {
    if (left_ > 0) *text_ = 0;
  }

  const DeviceTraits &traits() const override { return device_.traits(); }
  bool has(Entry entry) const override { return device_.has(entry); }
  guf_status run(const Step &step, guf_error *) override {
    add("step: %s; %u blocks of %u threads", words_of(step.entry), step.blocks, step.threads);
    if (step.shared_bytes != 0) add(", %u bytes of shared memory each", step.shared_bytes);
    add("\n");
    return GUF_OK;
  }
  guf_status scratch(uint64_t bytes, uint64_t *out_address, guf_error *) override {
    add("scratch: %llu bytes\n", static_cast<unsigned long long>(bytes));
    *out_address = 256;  // as aligned as scratch is
    return GUF_OK;
  }
  guf_status upload(const void *, uint64_t bytes, uint64_t *out_address, guf_error *) override {
    add("upload: %llu bytes\n", static_cast<unsigned long long>(bytes));
    *out_address = 256;
    return GUF_OK;
  }
  guf_status status_word(uint64_t *out_address, guf_error *) override {
    add("status: looked at when the work is done\n");
    *out_address = 256;
    return GUF_OK;
  }

 private:
  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(text_, left_, format, arguments);
    va_end(arguments);
    if (wanted < 0 || left_ == 0) return;
    const size_t all = static_cast<size_t>(wanted);
    const size_t used = all < left_ ? all : left_ - 1;
    text_ += used;
    left_ -= used;
  }

  const Steps &device_;
  char *text_;
  size_t left_;
};

}  // namespace

guf_status describe_launch_steps(const guf_backend_launch &launch, const Steps &device,
                                 char *out_text, size_t text_size, guf_error *error) {
  static constexpr unsigned char kElement[16] = {};  // stands for immediate operands
  guf_launch_block block = *launch.block;
  for (int i = 0; i < block.noperands; ++i) {
    if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) == 0) continue;
    block.address[i] = reinterpret_cast<uint64_t>(&kElement);
  }
  guf_backend_launch described = launch;
  described.block = &block;
  WrittenSteps steps(device, out_text, text_size);
  return queue_launch(described, steps, error);
}

}  // namespace gufunc::gpu

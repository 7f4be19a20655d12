// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/command_text.h"

#include <cstdarg>
#include <cstdio>

namespace gufunc::gpu {
namespace {

constexpr uint64_t kNoAddress = 256;  // a placeholder with the alignment of scratch memory

const char *describe(Entry entry) {
  switch (entry) {
    case Entry::kRow:
      return "elementwise, by rows of the inner dimension";
    case Entry::kNd:
      return "elementwise, over all dimensions";
    case Entry::kThread:
      return "one thread per item";
    case Entry::kStaged:
      return "one thread per item, rows staged in shared memory";
    case Entry::kLanes:
      return "32 threads per item";
    case Entry::kBlock:
      return "one block per item";
    case Entry::kLeaves:
      return "base blocks of the reduction, combined within thread blocks";
    case Entry::kJoin:
      return "combines the results of thread blocks";
    case Entry::kFold:
      return "from the left, one thread per result";
    case Entry::kScan:
      return "partial results, one thread per tile";
    case Entry::kAt:
      return "one thread per element that changes";
    case Entry::kConvert:
      return "converts an operand";
    case Entry::kTile1:
    case Entry::kTile2:
    case Entry::kTile4:
    case Entry::kTile8:
    case Entry::kTile16:
      return "transposes an operand in tiles";
    default:
      return "copies an operand";
  }
}

}  // namespace

CommandText::CommandText(const CommandSink &device, char *text, size_t size)
    : device_(device), text_(text), left_(size) {
  if (left_ > 0) *text_ = 0;
}

guf_status CommandText::run(const Command &command, guf_error *) {
  add("step: %s; %u blocks of %u threads", describe(command.entry), command.blocks,
      command.threads);
  if (command.shared_bytes != 0) add(", %u bytes of shared memory each", command.shared_bytes);
  add("\n");
  return GUF_OK;
}

guf_status CommandText::scratch(uint64_t bytes, uint64_t *out_address, guf_error *) {
  add("scratch: %llu bytes\n", static_cast<unsigned long long>(bytes));
  *out_address = kNoAddress;
  return GUF_OK;
}

guf_status CommandText::upload(const void *, uint64_t bytes, uint64_t *out_address, guf_error *) {
  add("upload: %llu bytes\n", static_cast<unsigned long long>(bytes));
  *out_address = kNoAddress;
  return GUF_OK;
}

guf_status CommandText::status_word(uint64_t *out_address, guf_error *) {
  add("status: checked when the work is done\n");
  *out_address = kNoAddress;
  return GUF_OK;
}

void CommandText::add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int requested = std::vsnprintf(text_, left_, format, arguments);
  va_end(arguments);
  if (requested < 0 || left_ == 0) return;
  const size_t all = static_cast<size_t>(requested);
  const size_t used = all < left_ ? all : left_ - 1;
  text_ += used;
  left_ -= used;
}

}  // namespace gufunc::gpu

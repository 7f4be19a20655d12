// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/command_text.h"

#include <cstdarg>
#include <cstdio>

namespace gufunc::gpu {
namespace {

constexpr uint64_t kNoAddress = 256;  // a placeholder with the alignment of scratch memory

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
    case Entry::kLeaves:
      return "leaves of the tree, joined within blocks";
    case Entry::kJoin:
      return "joins of what blocks have made";
    case Entry::kFold:
      return "from the left, a thread per result";
    case Entry::kScan:
      return "running results, a thread per tile";
    case Entry::kAt:
      return "a thread per element that is changed";
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

}  // namespace

CommandText::CommandText(const CommandSink &device, char *text, size_t size)
    : device_(device), text_(text), left_(size) {
  if (left_ > 0) *text_ = 0;
}

guf_status CommandText::run(const Command &command, guf_error *) {
  add("step: %s; %u blocks of %u threads", words_of(command.entry), command.blocks,
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
  add("status: looked at when the work is done\n");
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

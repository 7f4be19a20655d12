// SPDX-License-Identifier: Apache-2.0
// A pattern whose size divides 16 is stored in words of 16 bytes.
// Other patterns are copied to each element.
#include "backends/gpu/geometry/copy_fill.h"

#include <algorithm>
#include <cstring>

#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

guf_status queue_words_of_pattern(uint64_t dst, const unsigned char *pattern,
                                  uint32_t pattern_bytes, uint64_t bytes, CommandSink &commands,
                                  guf_error *error) {
  constexpr uint64_t kBlockBytes = uint64_t{dev::kThreads} * dev::kCopyElements * 16;
  unsigned char word[16];
  for (uint64_t k = 0; k < sizeof word; ++k) word[k] = pattern[(k - dst) % pattern_bytes];
  for (const uint64_t end = dst + bytes; dst < end;) {
    const uint64_t start = dst & ~uint64_t{15};
    const uint64_t here = std::min(end - start, kMaxBlocks * kBlockBytes);
    dev::fill_block block;
    block.address = dst;
    block.bytes = start + here - dst;
    std::memcpy(block.pattern, word, sizeof word);
    const uint32_t blocks = static_cast<uint32_t>((here + kBlockBytes - 1) / kBlockBytes);
    GUF_BACKEND_TRY(
        commands.run({Entry::kFill, blocks, dev::kThreads, 0, &block, sizeof block}, error));
    dst = start + here;
  }
  return GUF_OK;
}

}  // namespace

guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      CommandSink &commands, guf_error *error) {
  if (count == 0 || pattern_bytes == 0) return GUF_OK;
  if (16 % pattern_bytes == 0) {
    return queue_words_of_pattern(dst, static_cast<const unsigned char *>(pattern), pattern_bytes,
                                  count * pattern_bytes, commands, error);
  }
  LaunchShape shape;
  shape.count = 2;
  shape.ndim = 0;
  shape.mask = 0;
  shape.items = count;
  shape.address[1] = dst;
  GUF_BACKEND_TRY(commands.upload(pattern, pattern_bytes, &shape.address[0], error));
  const int64_t step[2] = {0, pattern_bytes};
  add_dimension(&shape, static_cast<int64_t>(count), step, 0);
  return queue_copy(&shape, pattern_bytes, commands, error);
}

}  // namespace gufunc::gpu

// SPDX-License-Identifier: Apache-2.0
#include "chunked_run.h"

#include <charconv>

#include "call_parts.h"
#include "progress.h"

namespace gufunc::cli {
namespace {

int32_t show(void *progress, int64_t done, int64_t items) {
  static_cast<ProgressLine *>(progress)->set_done(done, items);
  return 0;
}

}  // namespace

uint64_t chunk_bytes_of(const std::string &text) {
  uint64_t value = 0;
  const char *const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const size_t power = unit.empty() ? 0 : std::string("KMG").find(unit) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power != 0);
  const bool fits = code == std::errc() && known && value <= (UINT64_MAX >> (10 * power));
  if (!fits || value == 0) {
    refuse_value("--chunk", "a number of bytes below 2^64, such as 65536, 64K, 8M or 1G", text);
  }
  return value << (10 * power);
}

void call_in_chunks(guf_ufunc ufunc, guf_call_args *args, uint64_t chunk_bytes,
                    ProgressLine *progress) {
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = chunk_bytes;
  options.progress = show;
  options.user = progress;
  Call call;
  call.check(guf_call_chunked(ufunc, args, &options, nullptr, call.error()));
}

}  // namespace gufunc::cli

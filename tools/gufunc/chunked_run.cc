// SPDX-License-Identifier: Apache-2.0
#include "chunked_run.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>

#include "call_parts.h"
#include "progress.h"

namespace gufunc::cli {
namespace {

struct Shown {
  const std::string &name;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool any = false;
};

// A second passes before the line appears, as with calls in one piece.
int32_t show(void *user, int64_t done, int64_t items) {
  Shown &shown = *static_cast<Shown *>(user);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - shown.start).count();
  if (seconds < 1.0) return 0;
  fmt::print(stderr, "\r{}: {:.0f} % of {} items, {:.1f} s ", shown.name,
             100.0 * static_cast<double>(done) / static_cast<double>(items), items, seconds);
  std::fflush(stderr);
  shown.any = true;
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
  if (code != std::errc() || !known || value == 0 || value > (UINT64_MAX >> (10 * power)))
    usage(fmt::format("--chunk {}: wanted a number of bytes, such as 65536, 64K, 8M or 1G", text));
  return value << (10 * power);
}

void call_in_chunks(guf_ufunc ufunc, guf_call_args *args, uint64_t chunk_bytes,
                    const std::string &name) {
  Shown shown{name};
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = chunk_bytes;
  if (shows_progress()) options.progress = show;
  options.user = &shown;
  Call call;
  const guf_status status = guf_call_chunked(ufunc, args, &options, nullptr, call.error());
  if (shown.any) fmt::print(stderr, "\r\x1b[K");
  call.check(status);
}

}  // namespace gufunc::cli

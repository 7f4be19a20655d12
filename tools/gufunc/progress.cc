// SPDX-License-Identifier: Apache-2.0
// The progress line.
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "outcome.h"

namespace gufunc::cli {

bool shows_progress() {
  return ::isatty(STDERR_FILENO) == 1;
}

void wait_with_progress(guf_stream stream, const std::string &name, uint64_t elements) {
  constexpr uint64_t kTick = 200'000'000;  // ns between two updates
  const auto start = std::chrono::steady_clock::now();
  bool shown = false;
  Call call;
  guf_status status = GUF_TIMEOUT;
  while (status == GUF_TIMEOUT) {
    status = guf_stream_synchronize(stream, kTick, call.error());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (status != GUF_TIMEOUT || seconds < 1.0) continue;
    fmt::print(stderr, "\r{}: {} elements, {:.1f} s ", name, elements, seconds);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) fmt::print(stderr, "\r\x1b[K");
  call.check(status);
}

}  // namespace gufunc::cli

// SPDX-License-Identifier: Apache-2.0
// A ring of log lines with a fixed size. A new line replaces the oldest line when the ring is full.
#include "core/base/log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "core/base/fork.h"
#include "core/base/utf8.h"

namespace gufunc::base {
namespace {

struct Line {
  LogLevel level;
  char text[kLogWidth];
};

struct Ring {
  ForkLock lock;
  uint64_t written = 0;
  uint64_t taken = 0;
  Line lines[kLogLines] = {};
};
constinit Ring ring;

}  // namespace

void log_text(LogLevel level, const char *message) {
  const std::lock_guard<ForkLock> hold(ring.lock);
  Line &line = ring.lines[ring.written % kLogLines];
  line.level = level;
  copy_harmless(line.text, sizeof line.text, message);
  ++ring.written;
  ring.taken = std::max(ring.taken, ring.written < kLogLines ? 0 : ring.written - kLogLines);
}

void log(LogLevel level, const char *format, ...) {
  // The buffer is 3 bytes longer than the line. If vsnprintf splits a UTF-8 character, the split
  // character is therefore beyond the end of the line.
  char text[kLogWidth + 3];
  va_list args;
  va_start(args, format);
  const int written = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (written >= 0) log_text(level, text);
}

bool log_take(char *text, size_t capacity, LogLevel *out_level) {
  const std::lock_guard<ForkLock> hold(ring.lock);
  if (ring.taken == ring.written) return false;
  const Line &line = ring.lines[ring.taken % kLogLines];
  *out_level = line.level;
  copy_harmless(text, capacity, line.text);
  ++ring.taken;
  return true;
}

}  // namespace gufunc::base
